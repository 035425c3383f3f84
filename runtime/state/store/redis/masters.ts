import type { Redis } from 'ioredis';
import type { MasterAddress } from '../../../project/settings/redis-address.js';

/**
 * The servers that own the keys of the store: one server, or each master of a cluster. It is for work that needs its own
 * connection, mainly CLIENT TRACKING.
 *
 *     const { masters } = store;                        // of connectRedisStore
 *     const stop = masters.on('change', rearm);         // a failover, a resharding, a new master
 *     const redis = masters.connect(address, 'track');  // then redis.connect(); 'close' when it is lost
 *
 * Guaranteed order: `change` is emitted synchronously before the store sends its first command to a new master. A read that
 * is in flight at that moment may be answered by the old or the new master.
 */
export interface RedisMasters {
  /** The masters as known now, without duplicates, in no particular order. */
  current(): readonly MasterAddress[];
  /** Calls back whenever `current()` has changed. Returns a function that removes the listener. */
  on(event: 'change', listener: (masters: readonly MasterAddress[]) => void): () => void;
  /**
   * A RESP2 connection with the store's user, password, database and TLS. Call `connect()` to open it. It never reconnects:
   * after 'close', request a new one. It has no offline queue. The caller handles 'error' and disconnects it.
   */
  connect(address: MasterAddress, purpose: string): Redis;
}

/** `host:port`, with IPv6 in brackets. */
export function addressText({ host, port }: MasterAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
