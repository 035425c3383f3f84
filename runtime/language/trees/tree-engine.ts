import { inTurns } from '../../ground/core/pieces.js';
import type {
  FeatureColumn,
  TreeCompiler,
  TreeEnsemble,
  TreeScorer,
} from '../../ground/api/tree-ensemble.js';
import { checkEnsemble } from './check-ensemble.js';
import { ColumnScorer } from './columns/column-scorer.js';
import { FlatScorer } from './flat-scorer.js';

/** Below this number of rows the scalar form is faster for every size of ensemble: `npm run bench -- models`. */
const COLUMNS_FROM = 8;

/** Compiles ensembles to their fastest form. */
export const treeEngine: TreeCompiler = {
  async compile(ensemble: TreeEnsemble): Promise<TreeScorer> {
    const scalar = await inTurns(
      (function* () {
        checkEnsemble(ensemble);
        yield;
        return new FlatScorer(ensemble);
      })(),
    );
    const columns = await ColumnScorer.compile(ensemble);
    return columns === undefined ? scalar : new EitherScorer(scalar, columns);
  },
};

/** Uses the scalar form for few rows and the column form for many. Both give the same bits. */
class EitherScorer implements TreeScorer {
  readonly form = 'columns';

  constructor(
    readonly scalar: FlatScorer,
    readonly columns: ColumnScorer,
  ) {}

  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void {
    (rows.length < COLUMNS_FROM ? this.scalar : this.columns).score(rows, columns, outputs);
  }
}
