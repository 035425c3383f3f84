import { newVersioned, expiryOf, VERSIONED_HEAD } from './codec/versioned-record.js';
import type { Mark, StoreRecord } from './store.js';

/** Remembered ids as records, one for each id, for engines that have records only. */
export function recordOfMark(mark: Mark): StoreRecord {
  return { key: recordKeyOf(mark), value: newVersioned(VERSIONED_HEAD, mark.expires) };
}

/** The key of such a record. */
export function recordKeyOf({ key, id }: Mark): string {
  return `${key}:${id}`;
}

/** Whether a record still remembers its id. @param now epoch milliseconds */
export function remembers(record: Buffer | null | undefined, now: number): boolean {
  return record !== null && record !== undefined && expiryOf(record) > now;
}
