import type { StoreFailure } from '../api/error-codes.js';
import type { RecordBatch } from './codec/record-batch.js';

/**
 * The store contract. Values are opaque bytes; all keys come from `keys.ts`. There are two engines: redis/ and embedded/.
 * Both must pass test/contract/store.ts.
 */
export interface Store {
  /**
   * Reads all keys in one round trip. The answer has the keys' order; null where there is no record.
   * @throws MillraceError with a code of STORE_READ_FAILURES; the reason of the signal, or deadline_exceeded, when it is
   *   aborted
   */
  read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]>;

  /**
   * The same for many keys, without an object for each value. Puts the values into a batch, in the order of the keys, at
   * the numbers from `first` on; the batch must have room for them. If it throws, these values are undefined.
   */
  readInto(keys: readonly string[], batch: RecordBatch, first: number, signal?: AbortSignal): Promise<void>;

  /**
   * Replaces whole records. Each record is stored completely or not at all. After the acknowledgement, every later read of
   * this instance sees the record, and it survives a crash of this process.
   * The first record is stored before the others, and the others are confirmed only if it is. It holds what readers of the
   * others need: their layout.
   * @throws StoreWriteError if any write is not confirmed; it says which ones are.
   */
  write(records: readonly StoreRecord[]): Promise<void>;

  /** Deletes records; a missing record is not an error. @throws StoreWriteError */
  remove(keys: readonly string[]): Promise<void>;

  /**
   * For each segment, in order: replaces the segment of the same view in the record at `key`, or adds it, unless the stored
   * one has a later event time. This is atomic for each key. `mergeSegment` defines the handling of tombstones; a record
   * that has only tombstones may be removed when they expire.
   * @throws StoreWriteError
   */
  mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]>;

  /**
   * Replaces each record if it has not changed since it was read. This is atomic for each key. An expired record may be
   * removed.
   * @throws StoreWriteError
   */
  swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]>;

  /**
   * Some keys that start with a text, from anywhere in the store; for looking at a few records, not for finding all.
   * @param start as `entityKey` and `featureKey` make it with an empty id
   * @param signal ends the search with what was found
   * @throws MillraceError with a code of STORE_READ_FAILURES
   */
  sampleKeys(start: string, most: number, signal: AbortSignal): Promise<string[]>;

  /**
   * A page of the keys that start with a text. Pass the cursor of the page before, or undefined for the first page. A
   * cursor stays valid when this process restarts.
   * A key that exists from the first page to the last is returned at least once, perhaps twice. A key that is written or
   * deleted meanwhile may be returned or not.
   * @param count about how many keys; a page may have more, fewer or none
   * @throws MillraceError store_unavailable; CursorError if the scan has to start again
   */
  scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage>;

  /**
   * Resolves if the store answers and accepts writes.
   * @throws MillraceError with a code of STORE_WRITE_FAILURES
   */
  ping(): Promise<void>;

  /** Releases connections and files. Acknowledged writes stay. */
  close(): Promise<void>;
}

export interface KeyPage {
  readonly keys: readonly string[];
  /** Of the next page; undefined if this is the last one. */
  readonly cursor: string | undefined;
}

export interface StoreRecord {
  readonly key: string;
  readonly value: Buffer;
}

export interface SegmentWrite {
  readonly key: string;
  /** One whole segment, header included, of a row or a tombstone (see feature-record.ts). */
  readonly segment: Buffer;
}

/** `older`: the store held a row with a later event time, and kept it. */
export type SegmentOutcome = 'stored' | 'older';

export interface RecordSwap {
  /** A key of versioned records: `historyKey` or `servicesKey`. */
  readonly key: string;
  /** The record that was read; null if there was none. */
  readonly before: Buffer | null;
  /** Made with `newVersioned` (versioned-record.ts). */
  readonly after: Buffer;
}

/** `changed`: another write happened after the read, so nothing was replaced. */
export type SwapOutcome = 'stored' | 'changed';

/** A cursor is not of this store, or its place is lost. */
export class CursorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CursorError';
  }
}

/** Some of a batch of writes could not be confirmed. */
export class StoreWriteError extends Error {
  constructor(
    message: string,
    /** By position in the batch: true where the write is confirmed. */
    readonly confirmed: readonly boolean[],
    options?: ErrorOptions,
    /** Why the first write that is not confirmed is not. */
    readonly code: StoreFailure = 'store_unavailable',
  ) {
    super(message, options);
    this.name = 'StoreWriteError';
  }
}
