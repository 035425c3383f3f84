import { newVersioned, expiryOf, VERSIONED_HEAD } from './codec/versioned-record.js';
import {
  MARK_ID_BYTES,
  type MarkedIds,
  type Marks,
  type RecordSwap,
  type Store,
  type StoreRecord,
  type SwapOutcome,
} from './store.js';

/** Remembered ids as records, one for each id, for engines that have records only. */
export function recordsOfMarks(marks: readonly Marks[]): StoreRecord[] {
  return marks.flatMap((set) => {
    return recordKeysOf(set).map((key) => ({ key, value: newVersioned(VERSIONED_HEAD, set.expires) }));
  });
}

/** The keys of such records, by position in the ids. */
export function recordKeysOf({ key, ids }: MarkedIds): string[] {
  const keys: string[] = [];
  for (let at = 0; at < ids.length; at += MARK_ID_BYTES)
    keys.push(`${key}:${ids.toString('base64url', at, at + MARK_ID_BYTES)}`);
  return keys;
}

/** `Store.swap` for engines that compare versions only. @param swap does not look at `unless` */
export async function swapUnmarked(
  swaps: readonly RecordSwap[],
  store: Pick<Store, 'marked'>,
  swap: (free: readonly RecordSwap[]) => Promise<SwapOutcome[]>,
): Promise<SwapOutcome[]> {
  const guards = swaps.flatMap(({ unless }, at) => (unless ?? []).map((set) => ({ at, set })));
  if (guards.length === 0) return swap(swaps);
  const found = await store.marked(guards.map(({ set }) => set));
  const taken = new Set(guards.flatMap(({ at }, i) => (found[i]?.includes(true) === true ? [at] : [])));
  const free = swaps.filter((_, at) => !taken.has(at));
  const outcomes = free.length === 0 ? [] : await swap(free);
  let next = 0;
  return swaps.map((_, at) => (taken.has(at) ? 'marked' : (outcomes[next++] ?? 'changed')));
}

/** Whether a record still remembers its id. @param now epoch milliseconds */
export function remembers(record: Buffer | null | undefined, now: number): boolean {
  return record !== null && record !== undefined && expiryOf(record) > now;
}
