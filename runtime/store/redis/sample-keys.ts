import type { RedisConnection } from './connection.js';

/** Keys that the server looks at in one call: far less than a millisecond of its time. */
const LOOKS = 500;

/**
 * Some keys of each server that start with a text, in the order of the server's hash table, which is as good as random.
 * @param most of all servers together
 * @param signal ends the search with what was found; a server may hold millions of other keys
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
