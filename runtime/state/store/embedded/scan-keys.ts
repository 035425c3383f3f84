import type { Database } from './data-folder.js';

/**
 * Lists keys with a prefix, in the byte order of LevelDB. LevelDB reads them in another thread.
 * @param after the last key of the previous page
 */
export async function scanKeys(
  database: Database,
  start: string,
  after: string | undefined,
  count: number,
): Promise<string[]> {
  const from = after === undefined ? { gte: start } : { gt: after };
  const keys: string[] = [];
  const iterator = database.keys({ ...from, limit: count, fillCache: false });
  try {
    for (;;) {
      const some = await iterator.nextv(count);
      for (const key of some) {
        // Keys with the same prefix are adjacent, so no later key matches.
        if (!key.startsWith(start)) return keys;
        keys.push(key);
      }
      if (some.length === 0) return keys;
    }
  } finally {
    await iterator.close();
  }
}
