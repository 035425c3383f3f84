import type { Database } from './data-folder.js';

/**
 * Keys that start with a text, in LevelDB's order, which is that of their bytes. LevelDB reads them in another thread.
 * @param after the last key of the page before
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
        // The keys with one start lie beside each other.
        if (!key.startsWith(start)) return keys;
        keys.push(key);
      }
      if (some.length === 0) return keys;
    }
  } finally {
    await iterator.close();
  }
}
