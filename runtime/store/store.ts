import type { RecordBatch } from './codec/record-batch.js';

/**
 * The store contract. Values are opaque bytes; keys come from `keys.ts` alone. Two engines: redis/ and embedded/;
 * test/contract/store.ts says, executably, what both must do.
 */
export interface Store {
  /**
   * Reads all keys in one round trip. The answer has the keys' order; null where there is no record.
   * @throws MillraceError store_unavailable, also when the deadline passes.
   */
  read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]>;

  /**
   * The same for many keys, without an object for each: puts their values into a batch, in the keys' order from the
   * number `first` on, where there is room for them. If it throws, what is there is not to be looked at.
   */
  readInto(keys: readonly string[], batch: RecordBatch, first: number, signal?: AbortSignal): Promise<void>;

  /**
   * Replaces records whole. Each record is stored or not, never half; an acknowledged one is what any later read
   * on this instance sees, and survives a crash of this process.
   * The first record leads: the others are confirmed only if it is, and no reader finds one of them before it. What
   * they need to be read (their layout) goes there.
   * @throws StoreWriteError if any write is not confirmed; it tells which were.
   */
  write(records: readonly StoreRecord[]): Promise<void>;

  /** Deletes; a key without a record is no error. @throws StoreWriteError */
  remove(keys: readonly string[]): Promise<void>;

  /**
   * For each segment, in order: replaces the segment of the same view in the record at `key`, or adds it, unless the
   * one there has a later event time. Decided atomically in the store, per key. `mergeSegment` says what becomes of
   * tombstones; a record of tombstones alone may be gone once their time is over.
   * @throws StoreWriteError
   */
  mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]>;

  /**
   * Replaces each record if it is still the one that was read. Decided atomically in the store, per key. A record whose
   * expiry is over may be gone.
   * @throws StoreWriteError
   */
  swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]>;

  /**
   * A page of the keys that start with a text. Pass the cursor of the page before, or undefined for the first page. A
   * cursor stays valid when this process restarts.
   * A key that exists from the first page to the last is returned at least once, perhaps twice. A key that is written or
   * deleted meanwhile may be returned or not.
   * @param count about how many keys; a page may have more, fewer or none
   * @throws MillraceError store_unavailable; CursorError if the scan has to start again
   */
  scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage>;

  /** Resolves if the store answers. @throws MillraceError store_unavailable */
  ping(): Promise<void>;

  /** Releases connections and files; what was acknowledged stays. */
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
  /** Of `historyKey`: records of other keys have no version. */
  readonly key: string;
  /** The record that was read; null where there was none. */
  readonly before: Buffer | null;
  /** Made with `newVersioned` (versioned-record.ts). */
  readonly after: Buffer;
}

/** `changed`: another write came between the read and this one; nothing was replaced. */
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
  ) {
    super(message, options);
    this.name = 'StoreWriteError';
  }
}
