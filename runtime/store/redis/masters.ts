import type { Redis } from 'ioredis';
import type { MasterAddress } from '../../settings/redis-address.js';

/**
 * The servers that own the store's keys: one, or each master of a cluster. For work that belongs on a connection of its
 * own beside the store's reads and writes, CLIENT TRACKING above all.
 *
 *     const { masters } = store;                        // of connectRedisStore
 *     const stop = masters.on('change', rearm);         // a failover, a resharding, a new master
 *     const redis = masters.connect(address, 'track');  // then redis.connect(); 'close' when it is lost
 *
 * Order that coherence can rely on: `change` is emitted synchronously before the store sends its first command to a
 * master that was not in `current()` until then. A read that is under way at that moment may be answered by either the
 * old or the new master.
 */
export interface RedisMasters {
  /** The masters as known now, each once; without a duplicate, in no particular order. */
  current(): readonly MasterAddress[];
  /** Calls back whenever `current()` has changed; returns what ends that. */
  on(event: 'change', listener: (masters: readonly MasterAddress[]) => void): () => void;
  /**
   * A connection with the store's user, password, database and TLS, speaking RESP2. It is not opened yet (`connect()`
   * does) and never opens itself again: after 'close', ask for another. It has no offline queue. Whoever asked for it
   * listens to 'error' and disconnects it.
   */
  connect(address: MasterAddress, purpose: string): Redis;
}

/** Two addresses of one server as text are equal: `host:port`, IPv6 in brackets. */
export function addressText({ host, port }: MasterAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
