import { inBackground } from '../core/background.js';
import { type Pieces } from '../core/pieces.js';
import { StoreWriteError } from '../store/store.js';

/** Bounds of what is handed to the store in one go: it takes a millisecond or two, and other requests wait meanwhile. */
const PORTION_COUNT = 128;
const PORTION_BYTES = 256 * 1024;

/**
 * Writes a long list to the store a portion at a time, in order.
 * @param lead results of each portion's write that come before those of its elements
 * @returns what the writes returned, one after another
 * @throws StoreWriteError as `write` does, by position in the whole list; what comes after the portion that failed is
 *   not written
 */
export async function writePortions<T, U>(
  list: readonly T[],
  sizeOf: (element: T) => number,
  write: (portion: readonly T[]) => Promise<readonly U[] | undefined>,
  lead = 0,
): Promise<U[]> {
  const results: U[] = [];
  for (let start = 0; start < list.length;) {
    let end = start;
    for (let bytes = 0; end < list.length && end - start < PORTION_COUNT && bytes < PORTION_BYTES; end++)
      bytes += sizeOf(list[end] as T);
    try {
      const portion = list.slice(start, end);
      for (const result of (await inBackground(started(() => write(portion)))) ?? []) results.push(result);
    } catch (error) {
      if (!(error instanceof StoreWriteError)) throw error;
      const first = start;
      const confirmed = list.map(
        (_, i) => i < first || (i < end && error.confirmed[lead + i - first] === true),
      );
      throw new StoreWriteError(error.message, confirmed, { cause: error.cause });
    }
    start = end;
  }
  return results;
}

/** Begins some work when it is its turn. Others have theirs before the next portion, and before this one's result. */
// eslint-disable-next-line require-yield
function* started<T>(begin: () => T): Pieces<T> {
  return begin();
}
