import { recordForgetTime } from '../codec/feature-record.js';
import { isFeatureKey, isVersionedKey } from '../keys.js';
import { expiryOf } from '../codec/versioned-record.js';
import type { RecordMemory } from './record-memory.js';

/** The number of records that each write checks. */
const LOOKS = 16;

/**
 * Finds expired records without a timer: each write checks the next few records in turn, so expired records leave
 * memory and disk as fast as others are written.
 */
export class ExpiringKeys {
  readonly #records: RecordMemory;
  /** In the order of the next checks. */
  readonly #keys: Set<string>;

  constructor(records: RecordMemory) {
    this.#records = records;
    this.#keys = new Set([...records.keys()].filter((key) => this.#expiry(key) < Infinity));
  }

  /** Call after a record was written or removed. */
  note(key: string): void {
    this.#keys.delete(key);
    if (this.#expiry(key) < Infinity) this.#keys.add(key);
  }

  /** Returns the keys of some expired records. @param now epoch milliseconds @param most records to check */
  over(now: number, most = LOOKS): string[] {
    const over: string[] = [];
    let looks = Math.min(most, this.#keys.size);
    for (const key of this.#keys) {
      if (looks-- === 0) break;
      if (this.#expiry(key) <= now) over.push(key);
      this.#keys.delete(key);
      this.#keys.add(key);
    }
    return over;
  }

  /** When the record may be dropped, epoch milliseconds; Infinity if it does not exist or never expires. */
  #expiry(key: string): number {
    const record = this.#records.get(key);
    if (record === undefined) return Infinity;
    if (isVersionedKey(key)) return expiryOf(record);
    return isFeatureKey(key) ? recordForgetTime(record) : Infinity;
  }
}
