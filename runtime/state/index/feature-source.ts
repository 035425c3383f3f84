import type { Column } from '../../ground/api/columns.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type { WantedFeature } from '../store/codec/feature-decoder.js';

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
  read(keys: readonly (readonly string[])[], signal?: AbortSignal): Promise<SourceRows>;
  /** Writes one row that has no key to read; `cause` is the reason. */
  decodeMissing(cause: number, columns: readonly Column[], row: number): void;
}

/** The rows that were read, by position in the keys. */
export interface SourceRows {
  /**
   * Writes one row, each cell with its status, in the same way as FeatureDecoder.decode does for views of the store.
   * @param now epoch milliseconds; decides which rows have expired
   */
  decode(index: number, columns: readonly Column[], row: number, now: number): void;
  /** Epoch milliseconds; undefined if the view has no row for the key. */
  eventTime(index: number, view: string): number | undefined;
}

/** Equal for views whose rows are read together; undefined for views in the store. */
export function sourceKey({ source, of }: FeatureView): string | undefined {
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
