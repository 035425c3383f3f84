import type { RedisConnection } from './connection.js';
import { storeFailureOf } from './failure.js';

/**
 * Whether a server can be read and written to.
 * @param key of a record that is never there: SET with XX is refused as any write would be, and writes nothing
 * @throws MillraceError with a code of STORE_WRITE_FAILURES
 */
export async function checkServer(
  reads: RedisConnection,
  writes: RedisConnection,
  key: string,
): Promise<void> {
  try {
    await reads.ping();
  } catch (error) {
    throw reads.unavailable(error);
  }
  try {
    await writes.run(1, 0, (redis) => redis.set(key, '', 'XX'));
  } catch (error) {
    // A user who may only read is no fault of the server.
    if (storeFailureOf(error) !== 'store_refused') throw writes.unavailable(error);
  }
}

/** By which policy a server evicts keys; undefined where it does not, or does not say. */
export async function evictionPolicy(connection: RedisConnection): Promise<string | undefined> {
  const info = await connection.run(1, 0, (redis) => redis.info('memory')).catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  return policy === 'noeviction' ? undefined : policy;
}
