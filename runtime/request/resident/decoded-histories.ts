import { LruCache } from '../../ground/core/lru-cache.js';
import { HistoryEvents } from '../../state/store/codec/history-record.js';
import { versionOf } from '../../state/store/codec/versioned-record.js';

const MOST_HISTORIES = 256;
/** A longer record takes much memory, and its user is rarely one of many. */
const LONGEST_RECORD = 1 << 16;
/** Requests of one user mostly follow within it. */
const KEPT_MS = 60_000;

/**
 * What was decoded of the last histories. Each request still reads the record from the store: only equal bytes are not decoded
 * again.
 */
export class DecodedHistories {
  readonly #kept: LruCache<HistoryEvents>;
  readonly #numbers: Uint8Array | undefined;

  /** @param numbers by code: the number of the kind for components; by default the code */
  constructor(numbers: Uint8Array | undefined, now: () => number) {
    this.#numbers = numbers;
    this.#kept = new LruCache(MOST_HISTORIES, KEPT_MS, now);
  }

  of(record: Buffer): HistoryEvents {
    if (record.length > LONGEST_RECORD) return new HistoryEvents(record, this.#numbers);
    const version = versionOf(record).toString('latin1');
    const kept = this.#kept.get(version);
    if (kept?.isOf(record) === true) return kept;
    // The record may lie in a buffer of the store that is used again.
    const decoded = new HistoryEvents(Buffer.from(record), this.#numbers);
    this.#kept.set(version, decoded);
    return decoded;
  }
}
