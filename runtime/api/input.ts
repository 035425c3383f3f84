import type { ColumnKind } from './columns.js';

/** A column that a component reads; bound when the pipeline is compiled. */
export interface Input<K extends ColumnKind = ColumnKind> {
  readonly kind: K;
  /** Slot of the column in the frame. */
  readonly slot: number;
  /** The expression as it was written. */
  readonly text: string;
  /** Of vectors: how many elements each has. */
  readonly size?: number;
  /** Of `request`, the column has one row for all candidates. */
  readonly scope?: 'request' | 'candidate';
}
