import type { FileNotice, ModelColumns, Transform, TreeEnsemble } from 'millrace/api';
import type { LinearScorer } from './linear-scorer.js';

/** A model file after reading: trees to compile, or the scorer of the booster gblinear. */
export interface Booster {
  readonly scored: { readonly ensemble: TreeEnsemble } | { readonly linear: LinearScorer };
  readonly outputs: number;
  readonly columns: ModelColumns;
  readonly transform: Transform | undefined;
  /** Whether the file is a dump. A dump names only the columns that its trees use, in no particular order. */
  readonly isDump: boolean;
  readonly notices: readonly FileNotice[];
}
