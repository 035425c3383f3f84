import type { ColumnKind } from './columns.js';

/** A column that a component reads. It is bound when the pipeline is compiled. */
export interface Input<K extends ColumnKind = ColumnKind> {
  readonly kind: K;
  /** Slot of the column in the frame. */
  readonly slot: number;
  /** The expression as the user wrote it. */
  readonly text: string;
  /** The number of elements of each vector. */
  readonly size?: number;
  /** A column of `request` has one row for all candidates. */
  readonly scope?: 'request' | 'candidate';
}
