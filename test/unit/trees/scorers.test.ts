import { expect } from 'chai';
import fc from 'fast-check';
import { NodeRule, type TreeEnsemble, type TreeScorer } from '../../../runtime/api/tree-ensemble.js';
import { ColumnScorer } from '../../../runtime/trees/columns/column-scorer.js';
import { checkEnsemble } from '../../../runtime/trees/check-ensemble.js';
import { FlatScorer } from '../../../runtime/trees/flat-scorer.js';
import { interpret } from '../../../runtime/trees/interpreter.js';
import { treeEngine } from '../../../runtime/trees/tree-engine.js';
import { randomColumns, randomEnsemble } from '../../support/random-ensemble.js';

const LEFT = NodeRule.defaultLeft;
const RULES = [NodeRule.none, NodeRule.zero, NodeRule.zero | LEFT, NodeRule.nan, NodeRule.nan | LEFT];

const shapes = fc.record({
  seed: fc.nat(),
  rows: fc.constantFrom(0, 1, 2, 15, 16, 17, 127, 128, 129, 1000),
  shape: fc.record({
    trees: fc.integer({ min: 1, max: 6 }),
    leaves: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 200, max: 700 })),
    features: fc.integer({ min: 1, max: 8 }),
    outputs: fc.integer({ min: 1, max: 3 }),
    thresholds: fc.integer({ min: 1, max: 300 }),
    precision: fc.constantFrom('float32', 'float64'),
    comparison: fc.constantFrom('less', 'less_or_equal'),
    rules: fc.subarray(RULES, { minLength: 1 }),
    categoricalFrom: fc.integer({ min: 0, max: 9 }),
  }),
});

/** What a scorer gives, by output, for rows that are a part of the columns. */
function scoresOf(
  scorer: TreeScorer,
  ensemble: TreeEnsemble,
  columns: readonly Float64Array[],
  rows: Int32Array,
): Float64Array[] {
  const count = columns[0]?.length ?? 0;
  const outputs = ensemble.base.map(() => new Float64Array(count).fill(NaN));
  scorer.score(
    rows,
    columns.map((values, i) => ({ values, stride: i === 0 && values.length > 0 ? 0 : 1 })),
    outputs,
  );
  return outputs;
}

describe('scorers of trees', () => {
  it('all give the bits of the reference', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async ({ seed, rows: count, shape }) => {
        const ensemble = randomEnsemble(seed, shape);
        checkEnsemble(ensemble);
        const columns = randomColumns(seed + 1, ensemble, count);
        const rows = Int32Array.from(columns[0]?.keys() ?? []).filter((row) => (row + seed) % 7 !== 0);
        const expected = ensemble.base.map(() => new Float64Array(count).fill(NaN));
        for (const row of rows) {
          const sums = interpret(
            ensemble,
            columns.map((values, i) => values[i === 0 ? 0 : row] ?? NaN),
          );
          for (const [output, sum] of sums.entries()) (expected[output] ?? [])[row] = sum;
        }
        const scorer = await ColumnScorer.compile(ensemble);
        expect(scorer?.form).to.equal('columns');
        for (const one of [new FlatScorer(ensemble), scorer, await treeEngine.compile(ensemble)]) {
          if (one !== undefined) expect(scoresOf(one, ensemble, columns, rows)).to.deep.equal(expected);
        }
      }),
      { numRuns: 120 },
    );
  }).timeout(60_000);
});
