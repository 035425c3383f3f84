import { expect } from 'chai';
import { stepTests } from '../../../../runtime/cli/testing/step-tests.js';
import type { Input } from '../../../../runtime/ground/api/input.js';
import { columnsOfRows } from '../../../../runtime/ground/sdk/columns-of-rows.js';
import { optionsSchema } from '../../../../runtime/ground/sdk/options-schema.js';
import { definePolicy, drawBeta, winWeights } from '../../../../runtime/ground/sdk/policy.js';

/** Mulberry32, so that each run has the same draws. */
function seeded(seed: number): { random: () => number } {
  let state = seed;
  return {
    random: () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    },
  };
}

describe('what the SDK has for policies and readers', () => {
  it('draws from beta distributions with their mean and variance', () => {
    for (const [a, b] of [
      [1, 1],
      [3, 4],
      [0.2, 0.5],
      [0.5, 30],
      [2e6, 1e6],
    ] as const) {
      const source = seeded(7);
      const draws = Float64Array.from({ length: 40_000 }, () => drawBeta(a, b, source));
      const mean = draws.reduce((sum, one) => sum + one, 0) / draws.length;
      const variance = draws.reduce((sum, one) => sum + (one - mean) ** 2, 0) / draws.length;
      const expected = (a * b) / ((a + b) ** 2 * (a + b + 1));
      expect(Math.abs(mean - a / (a + b)), `mean of ${a}, ${b}`).to.be.below(
        4 * Math.sqrt(expected / 40_000),
      );
      expect(variance / expected, `variance of ${a}, ${b}`).to.be.within(0.95, 1.05);
      expect(draws.every((one) => one >= 0 && one <= 1)).to.equal(true);
    }
  });

  it('draws a bound where one shape is tiny, and nothing from what is no distribution', () => {
    const source = seeded(3);
    const draws = Array.from({ length: 1000 }, () => drawBeta(1e-6, 1e-6, source));
    expect(draws.every((one) => one === 0 || one === 1 || (one > 0 && one < 1))).to.equal(true);
    for (const [a, b] of [
      [0, 1],
      [1, -1],
      [NaN, 1],
      [1, Infinity],
    ] as const)
      expect(drawBeta(a, b, source)).to.be.NaN;
  });

  it('weighs candidates by how often their draw is the largest', () => {
    const rows = Int32Array.of(1, 2, 4);
    const weights = winWeights({ count: 5, rows }, 10, (row) => (row === 1 ? NaN : row));
    expect([...weights]).to.deep.equal([0.5, 0.5, 0.5, 0.5, 10.5]);
    expect([...winWeights({ count: 2, rows: Int32Array.of(0, 1) }, 3, () => NaN)]).to.deep.equal([0.5, 0.5]);
  });

  const number = { description: 'A count.', millrace: 'number' };
  const thompson = definePolicy<{ readonly clicks: Input<'number'>; readonly views: Input<'number'> }>({
    name: 'thompson',
    summary: 'Draws places.',
    options: optionsSchema({ clicks: number, views: number }),
    create: ({ clicks, views }) => ({
      top: 3,
      weigh(input) {
        const [seen, clicked] = [views, clicks].map((one) => input.column(one).values);
        const countOf = (counts: ArrayLike<number> | undefined, row: number): number => counts?.[row] ?? 0;
        return winWeights(input, 5, (row) =>
          drawBeta(1 + countOf(clicked, row), 1 + countOf(seen, row) - countOf(clicked, row), input),
        );
      },
    }),
  });
  for (const { name, run } of stepTests(thompson, [
    { with: { clicks: 'product.clicks', views: 'product.views' } },
  ]))
    it(`makes a rule of a policy that passes the suite: ${name}`, run);

  it('arranges rows by their keys', () => {
    const view = { keys: ['a', 'b'], features: new Map([['n', { kind: 'int' } as const]]) };
    const rows = [
      { a: 1, b: 'x', n: 7 },
      { a: 2, b: 'y' },
      { a: 9, b: 'z', n: 1 },
    ];
    const input = {
      keys: [
        ['2', 'y'],
        ['3', 'z'],
        ['1', 'x'],
      ],
    };
    expect(columnsOfRows(rows, input, view)).to.deep.equal({ columns: { n: [null, undefined, 7] } });
  });

  it('requires the options without a default', () => {
    const properties = { a: { type: 'string' }, b: { type: 'number', default: 0 } };
    expect(optionsSchema(properties)).to.deep.equal({
      ...{ type: 'object', additionalProperties: false, required: ['a'], properties },
    });
  });
});
