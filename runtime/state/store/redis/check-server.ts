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

/** What a server reports of its memory. */
export interface MemoryState {
  /** Undefined if it evicts no keys or does not report the policy. */
  readonly policy: string | undefined;
  /** The share of its maxmemory that it uses; undefined without a maxmemory. */
  readonly used: number | undefined;
}

export async function memoryState(connection: RedisConnection): Promise<MemoryState> {
  const info = await connection.run(1, 0, (redis) => redis.info('memory')).catch(() => '');
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
  const most = Number(/^maxmemory:(\d+)/m.exec(info)?.[1]);
  return { policy: policy === 'noeviction' ? undefined : policy, used: most > 0 ? used / most : undefined };
}
