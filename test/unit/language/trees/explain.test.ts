import { expect } from 'chai';
import fc from 'fast-check';
import type { TreeEnsemble } from '../../../../runtime/ground/api/tree-ensemble.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { treeEngine } from '../../../../runtime/language/trees/tree-engine.js';
import { gaussLegendre } from '../../../../runtime/language/trees/quadrature.js';
import { draws } from '../../../support/draws.js';
import { randomColumns, randomEnsemble, randomNumbers } from '../../../support/random-ensemble.js';
import { exactSum, knownMean, mixedSum, RULES, shapleyValues, withCovers } from '../../../support/shapley.js';

const shapes = fc.record({
  seed: fc.nat(),
  shape: fc
    .record({
      trees: fc.integer({ min: 1, max: 4 }),
      leaves: fc.integer({ min: 1, max: 40 }),
      features: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 1, max: 8 }) },
        { weight: 1, arbitrary: fc.constant(12) },
      ),
      outputs: fc.integer({ min: 1, max: 2 }),
      thresholds: fc.integer({ min: 1, max: 20 }),
      precision: fc.constantFrom('float32', 'float64'),
      comparison: fc.constantFrom('less', 'less_or_equal'),
      rules: fc.constant(RULES),
      categoricalFrom: fc.integer({ min: 0, max: 9 }),
      linear: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    })
    .map(({ linear, ...shape }) =>
      linear === undefined || shape.precision === 'float32' ? shape : { ...shape, linear },
    ),
});

/** Random rows. Infinity is left out: a linear function of it has no difference. */
function rowsOf(seed: number, ensemble: TreeEnsemble, count: number): Float64Array[] {
  const columns = randomColumns(seed, ensemble, count);
  const round = ensemble.precision === 'float32' ? Math.fround : (value: number): number => value;
  return Array.from({ length: count }, (_, row) =>
    Float64Array.from(columns, (values) => {
      const value = round(values[row] ?? NaN);
      return Math.abs(value) === Infinity ? Math.sign(value) * 9 : value;
    }),
  );
}

const sumOf = (values: Iterable<number>): number => Array.from(values).reduce((sum, one) => sum + one, 0);

function expectClose(found: Iterable<number>, expected: readonly number[]): void {
  for (const [i, value] of Array.from(found).entries())
    expect(value, String(i)).to.be.closeTo(expected[i] ?? NaN, 1e-10);
}

describe('explanations of trees', () => {
  it('divide a sum as all 2^n sets of known features do', () => {
    fc.assert(
      fc.property(shapes, ({ seed, shape }) => {
        const plain = { ...shape, linear: undefined };
        const ensemble = withCovers(randomEnsemble(seed, plain), randomNumbers(seed));
        const rows = rowsOf(seed + 1, ensemble, 3);
        const explainer = treeEngine.explain(ensemble);
        if (typeof explainer.contributions === 'string') expect.fail(explainer.contributions);
        for (const output of ensemble.base.keys()) {
          const found = rows.map(() => new Float64Array(ensemble.features));
          const base = atOnce(explainer.contributions(rows, output, found));
          const trees = ensemble.trees.filter((tree) => tree.output === output);
          for (const [i, row] of rows.entries()) {
            const worth = (set: number): number =>
              sumOf(trees.map((tree) => knownMean(tree, ensemble, row, set)));
            expectClose(found[i] ?? [], shapleyValues(ensemble.features, worth));
            expect(base + sumOf(found[i] ?? [])).to.be.closeTo(exactSum(ensemble, row, output), 1e-10);
          }
        }
      }),
      { numRuns: draws(60) },
    );
  });

  it('pause within a tree, if there are many rows', () => {
    const shape = { trees: 1, leaves: 60, features: 6, outputs: 1, thresholds: 20, categoricalFrom: 9 };
    const ensemble = withCovers(
      randomEnsemble(1, { ...shape, precision: 'float64', comparison: 'less', rules: RULES }),
      randomNumbers(1),
    );
    const rows = rowsOf(2, ensemble, 2000);
    const { contributions } = treeEngine.explain(ensemble);
    if (typeof contributions === 'string') expect.fail(contributions);
    const pauses = [
      ...contributions(
        rows,
        0,
        rows.map(() => new Float64Array(ensemble.features)),
      ),
    ];
    expect(pauses.length).to.be.greaterThan(5);
  });

  it('say that no training row reached a node, and not that the file lacks the numbers', () => {
    const shape = { trees: 2, leaves: 4, features: 3, outputs: 1, thresholds: 9, categoricalFrom: 9 };
    const ensemble = withCovers(
      randomEnsemble(1, { ...shape, precision: 'float64', comparison: 'less', rules: RULES }),
      randomNumbers(1),
    );
    ensemble.trees[1]?.cover?.nodes.fill(0, 1);
    expect(treeEngine.explain(ensemble).contributions).to.equal('no training row reached one of its nodes');
  });

  it('divide the difference of two rows as all 2^n mixtures of them do, also with linear leaves', () => {
    fc.assert(
      fc.property(shapes, ({ seed, shape }) => {
        const ensemble = randomEnsemble(seed, shape);
        const [row = new Float64Array(), reference = new Float64Array()] = rowsOf(seed + 1, ensemble, 2);
        for (const output of ensemble.base.keys()) {
          const found = new Float64Array(ensemble.features);
          const pauses = [...treeEngine.explain(ensemble).difference(row, reference, output, found)];
          expect(pauses.length).to.equal(ensemble.trees.filter((tree) => tree.output === output).length);
          const worth = (set: number): number => mixedSum(ensemble, row, reference, output, set);
          expectClose(found, shapleyValues(ensemble.features, worth));
        }
      }),
      { numRuns: draws(200) },
    );
  });

  it('say why a sum cannot be divided, and still divide differences', () => {
    const sizes = { trees: 2, leaves: 5, features: 3, thresholds: 4, rules: RULES };
    const shape = { ...sizes, precision: 'float64', comparison: 'less_or_equal' } as const;
    const whyOf = (ensemble: TreeEnsemble): unknown => treeEngine.explain(ensemble).contributions;
    expect(whyOf(randomEnsemble(1, shape))).to.match(/does not say how many training rows/);
    expect(whyOf(withCovers(randomEnsemble(1, { ...shape, linear: 2 }), Math.random))).to.match(/linear/);
    expect(whyOf(withCovers(randomEnsemble(1, shape), () => -1))).to.match(/does not say/);
  });

  it('sum over the points of a quadrature that is exact up to its degree', () => {
    for (const count of [1, 2, 3, 8, 20, 64]) {
      const { points, weights } = gaussLegendre(count);
      for (const degree of [0, 1, 2 * count - 1]) {
        const sum = sumOf(points.map((t, q) => (weights[q] ?? NaN) * t ** degree));
        expect(sum, `${count} ${degree}`).to.be.closeTo(1 / (degree + 1), 1e-14);
      }
    }
  });
});
