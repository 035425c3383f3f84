import type { Column } from '../api/columns.js';
import type { FeatureView } from '../config/project/model.js';
import type { WantedFeature } from '../store/codec/feature-decoder.js';

/**
 * Feature views that are kept outside the store, read where they are. Views of one `sourceKey` share rows: they are of the
 * same entities, and one read of a key brings all of them.
 */
export interface FeatureSources {
  /**
   * Prepares to read some features; done once, when a pipeline is mounted.
   * @param wanted of views with one `sourceKey`, in the order of the columns
   */
  readerOf(wanted: readonly WantedFeature[]): SourceReader;
  /** Resolves if every source answers. @throws MillraceError store_unavailable */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface SourceReader {
  /**
   * Reads the rows of some keys in one round trip.
   * @param keys of each, the ids of its entities in the views' order
   * @throws MillraceError store_unavailable, also when the signal aborts
   */
  read(keys: readonly (readonly string[])[], signal?: AbortSignal): Promise<SourceRows>;
  /** Writes one row for which there is no key to read; `cause` says why. */
  decodeMissing(cause: number, columns: readonly Column[], row: number): void;
}

/** What was read, by position in the keys. */
export interface SourceRows {
  /**
   * Writes one row, each cell with its status; as FeatureDecoder.decode does for the store's own views.
   * @param now epoch milliseconds, by which rows expire
   */
  decode(index: number, columns: readonly Column[], row: number, now: number): void;
  /** Epoch milliseconds; undefined where the view has no row of the key. */
  eventTime(index: number, view: string): number | undefined;
}

/** Equal for views whose rows are read together; undefined for views of the store. */
export function sourceKey({ source, of }: FeatureView): string | undefined {
  if (source === undefined) return undefined;
  return JSON.stringify([source.url, source.project, source.keyVersion, source.joinKeys, of]);
}

/** Where every view is in the store. */
export const NO_SOURCES: FeatureSources = {
  readerOf: () => {
    throw new Error('no view is kept outside the store');
  },
  ping: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
