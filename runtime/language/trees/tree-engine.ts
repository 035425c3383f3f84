import { inTurns } from '../../ground/core/pieces.js';
import type {
  FeatureColumn,
  SumExplainer,
  TreeCompiler,
  TreeEnsemble,
  TreeScorer,
} from '../../ground/api/tree-ensemble.js';
import { checkEnsemble } from './check-ensemble.js';
import { ColumnScorer } from './columns/column-scorer.js';
import { FlatScorer } from './flat-scorer.js';
import { PairContributions } from './pair-contributions.js';
import { PathContributions } from './path-contributions.js';

/** How many operations on planes take as long as one step of the scalar form: `npm run bench -- models`. */
const OPERATIONS_PER_STEP = 2;

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
  explain(ensemble: TreeEnsemble): SumExplainer {
    const paths = new PathContributions(ensemble);
    return {
      method: 'tree_shap',
      precision: ensemble.precision,
      contributions: whyPairsOnly(ensemble) ?? ((rows, output, to) => paths.add(rows, output, to)),
      difference: (row, reference, output, to) =>
        new PairContributions(ensemble, row, reference, output, to).add(),
    };
  },
};

/** Why the sums of an ensemble cannot be divided, if they cannot. */
function whyPairsOnly({ trees }: TreeEnsemble): string | undefined {
  if (trees.some(({ linear }) => linear !== undefined)) return 'its leaves are linear functions';
  const isCovered = trees.every(
    ({ cover, feature, leaves }) =>
      cover?.nodes.length === feature.length &&
      cover.leaves.length === leaves.length &&
      cover.nodes.every((one) => one >= 0 && Number.isFinite(one)) &&
      cover.leaves.every((one) => one >= 0 && Number.isFinite(one)),
  );
  if (!isCovered) return 'its file does not say how many training rows reached each node';
  // The share of such a node that goes left is not known.
  return trees.some(({ cover }) => cover?.nodes.includes(0) === true)
    ? 'no training row reached one of its nodes'
    : undefined;
}

/** Uses the scalar form for few rows and the column form for many. Both give the same bits. */
class EitherScorer implements TreeScorer {
  readonly form = 'columns';
  /** From this number of rows on the column form is faster. */
  readonly #columnsFrom: number;

  constructor(
    readonly scalar: FlatScorer,
    readonly columns: ColumnScorer,
  ) {
    this.#columnsFrom = columns.operations / (OPERATIONS_PER_STEP * scalar.steps);
  }

  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void {
    (rows.length < this.#columnsFrom ? this.scalar : this.columns).score(rows, columns, outputs);
  }
}
