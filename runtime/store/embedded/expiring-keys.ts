import { recordForgetTime } from '../codec/feature-record.js';
import { isFeatureKey, isHistoryKey } from '../keys.js';
import { expiryOf } from '../codec/versioned-record.js';
import type { RecordMemory } from './record-memory.js';

/** How many records a write looks at. */
const LOOKS = 16;

/**
 * Finds records whose time is over, with no clock of its own: each write looks at the next few in turn, so that memory
 * and disk shrink as fast as others write.
 */
export class ExpiringKeys {
  readonly #records: RecordMemory;
  /** Those that will be looked at next come first. */
  readonly #keys: Set<string>;

  constructor(records: RecordMemory) {
    this.#records = records;
    this.#keys = new Set([...records.keys()].filter((key) => this.#expiry(key) < Infinity));
  }

  /** Call when a record was written or removed. */
  note(key: string): void {
    this.#keys.delete(key);
    if (this.#expiry(key) < Infinity) this.#keys.add(key);
  }

  /** Some records whose time is over. @param now epoch milliseconds */
  over(now: number): string[] {
    const over: string[] = [];
    let looks = Math.min(LOOKS, this.#keys.size);
    for (const key of this.#keys) {
      if (looks-- === 0) break;
      if (this.#expiry(key) <= now) over.push(key);
      this.#keys.delete(key);
      this.#keys.add(key);
    }
    return over;
  }

  /** When the record may be forgotten, epoch milliseconds; Infinity where there is none, or it never is. */
  #expiry(key: string): number {
    const record = this.#records.get(key);
    if (record === undefined) return Infinity;
    if (isHistoryKey(key)) return expiryOf(record);
    return isFeatureKey(key) ? recordForgetTime(record) : Infinity;
  }
}
