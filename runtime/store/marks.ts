import { newVersioned, expiryOf, VERSIONED_HEAD } from './codec/versioned-record.js';
import { MARK_ID_BYTES, type MarkedIds, type Marks, type StoreRecord } from './store.js';

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

/** Whether a record still remembers its id. @param now epoch milliseconds */
export function remembers(record: Buffer | null | undefined, now: number): boolean {
  return record !== null && record !== undefined && expiryOf(record) > now;
}
