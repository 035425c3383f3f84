import { callInBackground } from '../../ground/core/background.js';
import { StoreWriteError } from '../store/store.js';

/** Limits of one portion. Writing it blocks the event loop for one or two milliseconds, and other requests wait. */
const PORTION_COUNT = 128;
const PORTION_BYTES = 256 * 1024;

/**
 * Writes a long list to the store in portions, in order.
 * @param lead number of results of each write that precede the results of its elements
 * @returns the concatenated results of the writes
 * @throws StoreWriteError with positions in the whole list; the portions after the failed one are not written
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
      for (const result of (await callInBackground(() => write(portion))) ?? []) results.push(result);
    } catch (error) {
      if (!(error instanceof StoreWriteError)) throw error;
      const first = start;
      const confirmed = list.map(
        (_, i) => i < first || (i < end && error.confirmed[lead + i - first] === true),
      );
      throw new StoreWriteError(error.message, confirmed, error.code, { cause: error.cause });
    }
    start = end;
  }
  return results;
}
