/** Is told what happens to the connections to Redis, and what its servers say of themselves. */
export interface RedisObserver {
  /**
   * A connection that was ready is lost.
   * @param server for messages: an address, or the name of a master
   * @param reason why it is still lost, as known when this is called
   */
  lost(connection: object, server: string, reason: () => string): void;
  /** A connection may be used, for the first time or again. */
  ready(connection: object): void;
  /** A connection is closed for good. */
  closed(connection: object): void;
  /** A read is sent once more, because its connection broke. */
  retried(): void;
  /** Other servers own the keys than before. @param masters as `host:port` */
  newMasters(masters: readonly string[]): void;
  /** The servers evict keys when their memory is full, by this policy; undefined if none of them does. */
  evicts(policy: string | undefined): void;
}
