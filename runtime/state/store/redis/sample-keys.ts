import type { RedisConnection } from './connection.js';

/** Keys that the server scans in one call, which takes far less than a millisecond. */
const LOOKS = 500;

/**
 * Returns some keys with a prefix from each server. They come in the order of the server's hash table, which is
 * effectively random.
 * @param most limit for all servers together
 * @param signal ends the search, because a server may hold millions of other keys; the keys found so far are returned
 */
export async function sampleKeys(
  connections: readonly RedisConnection[],
  start: string,
  most: number,
  signal: AbortSignal,
): Promise<string[]> {
  const share = Math.ceil(most / Math.max(1, connections.length));
  const found = await Promise.all(
    connections.map(async (connection) => {
      const keys = new Set<string>();
      let cursor = '0';
      do {
        const at = cursor;
        const [next, page] = await connection.run(1, 0, (redis) =>
          redis.scan(at, 'MATCH', `${start}*`, 'COUNT', LOOKS),
        );
        for (const key of page) keys.add(key);
        cursor = next;
      } while (cursor !== '0' && keys.size < share && !signal.aborted);
      return [...keys].slice(0, share);
    }),
  );
  return found.flat().slice(0, most);
}
