import type { StoreFailure } from '../../ground/api/error-codes.js';
import type { RecordBatch } from './codec/record-batch.js';

/** What a read may be aborted by. */
export interface Abortable {
  readonly signal: AbortSignal;
}

/**
 * The store contract. Values are opaque bytes; all keys come from `keys.ts`. There are two engines: redis/ and embedded/.
 * Both must pass test/contract/store.ts.
 */
export interface Store {
  /**
   * Reads all keys in one round trip. Returns the values in the order of the keys; null for a missing record.
   * @throws MillraceError with a code of STORE_READ_FAILURES; the reason of the signal, or deadline_exceeded, when it is
   *   aborted
   */
  read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]>;

  /**
   * Like `read`, for many keys, without an object for each value. It puts the values into a batch, in the order of the
   * keys, starting at number `first`. The batch must already have entries for them. If it throws, these entries are
   * unspecified.
   * @param deadline its signal is only made if the store waits for something
   * @returns undefined if the values are there already
   */
  readInto(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    deadline?: Abortable,
  ): Promise<void> | undefined;

  /**
   * Replaces whole records. Each record is stored completely or not at all. After the acknowledgement, every later read of
   * this instance sees the record, and it survives a crash of this process.
   * The first record is stored before the others, and the others are confirmed only if the first is confirmed. Pass the
   * layout first, because readers of the other records need it.
   * @throws StoreWriteError if any write is not confirmed; it lists the confirmed writes
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
   * Replaces each record if it has not changed since it was read: an entity by all of its bytes, any other record by its
   * version. This is atomic for each key. A swap whose record is there already is stored, so that a swap may be sent
   * twice. An expired record may be removed. A record with an id in `unless` is left as it is; who has read the record before finds every id that was
   * remembered before the version that it read.
   * @throws StoreWriteError
   */
  swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]>;

  /**
   * Remembers ids until they expire. An id that is already remembered stays. Ids that share a key share one expiry.
   * @throws StoreWriteError
   */
  mark(marks: readonly Marks[]): Promise<void>;

  /**
   * Whether each id is remembered, by position in the sets and in their ids. It sees every `mark` that was acknowledged
   * before the call, by any process.
   * @throws StoreWriteError, because it asks the servers that take writes
   */
  marked(sets: readonly MarkedIds[]): Promise<boolean[][]>;

  /**
   * Returns some keys with a prefix, from anywhere in the store. It samples records; it does not find all keys.
   * @param start a key of `entityKey` or `featureKey` with an empty id
   * @param signal ends the search; the keys found so far are returned
   * @throws MillraceError with a code of STORE_READ_FAILURES
   */
  sampleKeys(start: string, most: number, signal: AbortSignal): Promise<string[]>;

  /**
   * Returns a page of the keys with a prefix. Pass the cursor of the previous page, or undefined for the first page. A
   * cursor stays valid when this process restarts.
   * A key that exists during the whole scan is returned at least once, possibly twice. A key that is written or deleted
   * during the scan may or may not be returned.
   * @param count approximate number of keys; a page may have more, fewer or none
   * @throws MillraceError store_unavailable; CursorError if the scan must start again
   */
  scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage>;

  /**
   * Removes the bytes of all records that were removed or replaced before the call from the files that this process owns.
   * @throws MillraceError store_unavailable
   */
  erase(): Promise<Erasure>;

  /**
   * Resolves if the store answers and accepts writes.
   * @throws MillraceError with a code of STORE_WRITE_FAILURES
   */
  ping(): Promise<void>;

  /** Releases connections and files. Acknowledged writes are kept. */
  close(): Promise<void>;
}

/** What `Store.erase` did with the files of the store. */
export interface Erasure {
  /** `server`: the files belong to a server, which this process does not control. */
  readonly files: 'rewritten' | 'server';
  /** Older copies of the files that the operator must delete, as paths. */
  readonly copies: readonly string[];
}

export interface KeyPage {
  readonly keys: readonly string[];
  /** The cursor of the next page; undefined if this is the last page. */
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
  /** The segment of the row that this row may replace, as it was read; null: there must be no row. Absent: any. */
  readonly replaces?: Buffer | null;
}

/**
 * `older`: the store held a row with a later event time, and kept it. `changed`: the store held another row than the one
 * that may be replaced, and kept it.
 */
export type SegmentOutcome = 'stored' | 'older' | 'changed';

export interface RecordSwap {
  /**
   * A key of versioned records (`historyKey`, `counterKey`, `servicesKey`, `instancesKey`, `eventCodesKey`, `curationKey`, `judgingKey`, `invitationsKey` or
   * `sessionKey`), or `entityKey`.
   */
  readonly key: string;
  /** The record that was read; null if there was none. */
  readonly before: Buffer | null;
  /** Not empty; created with `newVersioned` (versioned-record.ts), unless it is an entity. */
  readonly after: Buffer;
  /** Ids of which none may be remembered, only for keys with `hasMarksBeside`. */
  readonly unless?: readonly MarkedIds[];
}

/** Ids beside a record. */
export interface MarkedIds {
  /** A key of `markKey`. */
  readonly key: string;
  /** Ids of MARK_ID_BYTES bytes, one after another. */
  readonly ids: Buffer;
}

/** Ids that are remembered for a while. */
export interface Marks extends MarkedIds {
  /** When they may be forgotten, epoch milliseconds. */
  readonly expires: number;
}

/** Length of an id that is remembered. */
export const MARK_ID_BYTES = 8;

/** `changed`: another write happened after the read, so nothing was replaced. */
/** `marked`: an id in `unless` is remembered. */
export type SwapOutcome = 'stored' | 'changed' | 'marked';

/** A cursor does not belong to this store, or its position is lost. */
export class CursorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CursorError';
  }
}

/** Some writes of a batch are not confirmed. */
export class StoreWriteError extends Error {
  constructor(
    message: string,
    /** By position in the batch: true where the write is confirmed. */
    readonly confirmed: readonly boolean[],
    /** The reason for the first unconfirmed write. */
    readonly code: StoreFailure,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'StoreWriteError';
  }
}
