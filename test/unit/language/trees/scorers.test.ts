import { expect } from 'chai';
import fc from 'fast-check';
import {
  NodeRule,
  type TreeEnsemble,
  type TreeScorer,
} from '../../../../runtime/ground/api/tree-ensemble.js';
import { ColumnScorer } from '../../../../runtime/language/trees/columns/column-scorer.js';
import { checkEnsemble } from '../../../../runtime/language/trees/check-ensemble.js';
import { FlatScorer } from '../../../../runtime/language/trees/flat-scorer.js';
import { interpret } from '../../../../runtime/language/trees/interpreter.js';
import { treeEngine } from '../../../../runtime/language/trees/tree-engine.js';
import { randomColumns, randomEnsemble, type EnsembleShape } from '../../../support/random-ensemble.js';
import { draws } from '../../../support/draws.js';

const LEFT = NodeRule.defaultLeft;
const RULES = [NodeRule.none, NodeRule.zero, NodeRule.zero | LEFT, NodeRule.nan, NodeRule.nan | LEFT];

const PRECISE = { precision: 'float64', comparison: 'less_or_equal', rules: RULES } as const;

const shapes = fc.record({
  seed: fc.nat(),
  rows: fc.constantFrom(0, 1, 2, 15, 16, 17, 127, 128, 129, 1000),
  shape: fc
    .record({
      trees: fc.integer({ min: 1, max: 6 }),
      leaves: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 200, max: 700 })),
      features: fc.integer({ min: 1, max: 8 }),
      outputs: fc.integer({ min: 1, max: 3 }),
      thresholds: fc.integer({ min: 1, max: 300 }),
      precision: fc.constantFrom('float32', 'float64'),
      comparison: fc.constantFrom('less', 'less_or_equal'),
      rules: fc.subarray(RULES, { minLength: 1 }),
      categoricalFrom: fc.integer({ min: 0, max: 9 }),
      linear: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
    })
    .map(({ linear, ...shape }) =>
      linear === undefined || shape.precision === 'float32' ? shape : { ...shape, linear },
    ),
});

/** The results of a scorer, by output, for some of the rows of the columns. */
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
  it('all give the same bits as the reference', async () => {
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
      { numRuns: draws(40) },
    );
  }).timeout(60_000);

  const large: readonly (readonly [what: string, shape: EnsembleShape])[] = [
    [
      'more leaves than a code of 13 bits',
      { ...PRECISE, trees: 1, leaves: 8193, features: 3, thresholds: 9 },
    ],
    [
      'as many leaves as codes',
      { ...PRECISE, trees: 2, leaves: 8192, features: 3, thresholds: 9, balanced: true },
    ],
    [
      'more tests than a run of many blocks has room for',
      { ...PRECISE, trees: 40, leaves: 900, features: 9, thresholds: 50_000 },
    ],
    [
      'thousands of categories',
      { ...PRECISE, trees: 30, leaves: 90, features: 2, thresholds: 9, categoricalFrom: 1, categories: 3000 },
    ],
  ];
  for (const [what, shape] of large) {
    it(`give the same bits as the reference for ${what}`, async () => {
      const ensemble = randomEnsemble(3, shape);
      checkEnsemble(ensemble);
      const columns = randomColumns(4, ensemble, 600);
      const rows = Int32Array.from({ length: 600 }, (_, row) => row);
      const expected = new Float64Array(600);
      for (const row of rows) {
        const [sum = NaN] = interpret(
          ensemble,
          columns.map((values, i) => values[i === 0 ? 0 : row] ?? NaN),
        );
        expected[row] = sum;
      }
      const scorer = await treeEngine.compile(ensemble);
      expect(scorer.form).to.equal(shape.leaves > 8192 ? 'scalar' : 'columns');
      expect(scoresOf(scorer, ensemble, columns, rows)).to.deep.equal([expected]);
    });
  }
});
