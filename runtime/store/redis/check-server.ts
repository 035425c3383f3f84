import type { RedisConnection } from './connection.js';
import { storeFailureOf } from './failure.js';

/**
 * Checks that a server accepts reads and writes.
 * @param key a key that never exists: SET with XX needs write permission but changes nothing
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
    // Missing write permission is not a server failure.
    if (storeFailureOf(error) !== 'store_refused') throw writes.unavailable(error);
  }
}

/** The eviction policy of a server; undefined if it evicts no keys or does not report the policy. */
export async function evictionPolicy(connection: RedisConnection): Promise<string | undefined> {
  const info = await connection.run(1, 0, (redis) => redis.info('memory')).catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  return policy === 'noeviction' ? undefined : policy;
}
