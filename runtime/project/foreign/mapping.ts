import type { ReadyMap } from '../config/project/ready-maps.js';
import type { RowShape } from './row-shape.js';

/** A column, or keys of nested objects with dots between them. In a list of candidates, `.` is the item itself. */
export type Path = string;

/** Rows that hold one entity each. */
export interface EntitySource extends Pick<RowShape, 'decimal_comma'> {
  readonly files: readonly string[];
  readonly into: 'entities';
  /** One entity type and the column of its id. */
  readonly map: Readonly<Record<string, Path>>;
}

/** Only rows whose columns have one of the values are read. */
export type Where = Readonly<Record<Path, readonly string[]>>;

/** Rows that hold a candidate that was shown, or a list of them. */
export interface RankingSource extends RowShape {
  readonly files: readonly string[];
  readonly into: 'rankings';
  readonly where?: Where;
  /** `request`, `time`, `position`, `score`, `propensity`, `items`, and entity types. */
  readonly map: Readonly<Record<string, Path | readonly Path[]>>;
  /** The first position, 0 or 1. */
  readonly positions_from?: number;
  /** By kind of feedback: the column that says whether it happened, how often, or when; or the list of ids. */
  readonly feedback?: Readonly<Record<string, Path>>;
  /** By kind of feedback: the column of the position, or of the list of positions, that it happened at. */
  readonly feedback_at?: Readonly<Record<string, Path>>;
  /** Fields of the request, and where their values are. */
  readonly send?: Readonly<Record<string, Path>>;
  /** Attributes that candidates carry, and where their values are. */
  readonly carry?: Readonly<Record<string, Path>>;
  /** Rows without a request are put together into lists of this length. */
  readonly pool?: number;
}

/** Rows that hold one act of a user each. */
export interface FeedbackSource extends Pick<RowShape, 'decimal_comma'> {
  readonly files: readonly string[];
  readonly into: 'feedback';
  readonly where?: Where;
  /** `request`, `time`, `items`, `position`, `quantity`, `type`, and entity types. */
  readonly map: Readonly<Record<string, Path | readonly Path[]>>;
  /** The first position, 0 or 1. */
  readonly positions_from?: number;
  /** The kind of all rows; or, by the value of the column `type`, the kind of a row. */
  readonly event: string | Readonly<Record<string, string | null>>;
  /** Declared values of the event, and where they are. */
  readonly values?: Readonly<Record<string, Path>>;
}

export interface ReadySource {
  readonly files: readonly string[];
  readonly map: ReadyMap;
}

export type ImportSource = EntitySource | RankingSource | FeedbackSource | ReadySource;

/** How the files of another system become records of the ledger. */
export interface ImportMapping {
  readonly import: string;
  readonly sources: readonly ImportSource[];
}

export function isReady(source: ImportSource): source is ReadySource {
  return typeof source.map === 'string';
}
