/** Observes the connections to Redis, and the state that its servers report. */
export interface RedisObserver {
  /**
   * A connection that was ready is lost.
   * @param server for messages: an address, or the name of a master
   * @param reason why it is still lost, as known when this is called
   */
  lost(connection: object, server: string, reason: () => string): void;
  /** A connection can be used, for the first time or again. */
  ready(connection: object): void;
  /** A connection is closed for good. */
  closed(connection: object): void;
  /** A read is sent once more, because its connection broke. */
  retried(): void;
  /** The keys have moved to other servers. @param masters as `host:port` */
  newMasters(masters: readonly string[]): void;
  /** The eviction policy of the servers when their memory is full; undefined if none of them evicts keys. */
  evicts(policy: string | undefined): void;
  /** The share of its maxmemory that the fullest server uses; undefined if no server has a maxmemory. */
  memoryUse(share: number | undefined): void;
}
