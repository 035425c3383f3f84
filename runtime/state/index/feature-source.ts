import type { Column } from '../../ground/api/columns.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type { WantedFeature } from '../store/codec/feature-decoder.js';
import type { TraceContext } from '../../ground/api/trace-context.js';

/**
 * Feature views that are stored outside Millrace's store and read there. Views with the same `sourceKey` are of the
 * same entities and share rows: one read of a key returns all of them.
 */
export interface FeatureSources {
  /**
   * Prepares reads of some features. It runs once, when a pipeline is mounted.
   * @param wanted features of views with the same `sourceKey`, in the order of the columns
   */
  readerOf(wanted: readonly WantedFeature[]): SourceReader;
  /** Resolves if every source answers. @throws MillraceError store_unavailable */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface SourceReader {
  /**
   * Reads the rows of some keys in one round trip.
   * @param keys for each key, the ids of its entities in the order of the views
   * @throws MillraceError store_unavailable, also if the signal aborts
   */
  read(keys: readonly (readonly string[])[], signal?: AbortSignal, ask?: SourceAsk): Promise<SourceRows>;
  /** The view of a reader, for spans; undefined for Feast. */
  readonly view?: string;
  /** Writes one row that has no key to read; `cause` is the reason. */
  decodeMissing(cause: number, columns: readonly Column[], row: number): void;
}

/** What a reader is told of the request. */
export interface SourceAsk {
  /** Epoch milliseconds. */
  readonly now: number;
  /** The time that the request has left, in milliseconds. */
  readonly leftMs: number;
  readonly trace: TraceContext | undefined;
}

/** The rows that were read, by position in the keys. */
export interface SourceRows {
  /** Of a reader: what became of the read. */
  readonly report?: ReadReport;
  /**
   * Writes one row, each cell with its status, in the same way as FeatureDecoder.decode does for views of the store.
   * @param now epoch milliseconds; decides which rows have expired
   */
  decode(index: number, columns: readonly Column[], row: number, now: number): void;
  /** Epoch milliseconds; undefined if the view has no row for the key. */
  eventTime(index: number, view: string): number | undefined;
}

/** What can become of the read of a view by a reader. */
export const READ_OUTCOMES = {
  read: 'it answered, perhaps without some rows',
  kept: 'it was not asked, because fresh rows of all keys are kept',
  partial: 'it answered, and some rows or values could not be used',
  late: 'it did not answer in time',
  failed: 'it failed',
} as const;

/** One read of a view by a reader, for the metrics, the log and the explanation. */
export interface ReadReport {
  readonly view: string;
  readonly outcome: keyof typeof READ_OUTCOMES;
  /** Different keys of the request. */
  readonly keys: number;
  /** Those of them that the reader was asked for; fresh rows of the others are kept. */
  readonly asked: number;
  /** Asked keys for which a row that is no longer fresh was used. */
  readonly stale: number;
  readonly ms: number;
  /** Why it is partial, late or failed. */
  readonly reason?: string;
}

/** Equal for views whose rows are read together; undefined for views in the store. */
export function sourceKey({ name, source, reader, of }: FeatureView): string | undefined {
  if (reader !== undefined) return JSON.stringify([name]);
  if (source === undefined) return undefined;
  return JSON.stringify([source.url, source.project, source.keyVersion, source.joinKeys, of]);
}

/** For projects whose views are all in the store. */
export const NO_SOURCES: FeatureSources = {
  readerOf: () => {
    throw new Error('the project has no view outside the store');
  },
  ping: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
