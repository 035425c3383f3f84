import { expect } from 'chai';
import { Random } from '../../../../runtime/ground/core/random.js';
import type { FeatureSummary } from '../../../../runtime/learn/dataset/manifest.js';
import { chiSquared95, ShiftCounter, type Shift } from '../../../../runtime/learn/dataset/stats/psi.js';

const DECILES = 10;

function summaryOf(values: readonly number[], missing = 0): FeatureSummary {
  const sorted = [...values].sort((a, b) => a - b);
  const quantiles = Array.from(
    { length: DECILES + 1 },
    (_, at) => sorted[Math.round((at / DECILES) * (sorted.length - 1))] ?? NaN,
  );
  return { name: 'product.price', type: 'number', scope: 'candidate', statuses: {}, missing, quantiles };
}

function shiftOf(
  summary: FeatureSummary,
  values: readonly (number | string | undefined)[],
  sampled: number,
): Shift {
  const counter = new ShiftCounter(summary);
  for (const value of values) counter.add(value);
  return counter.shift(sampled);
}

describe('the population stability index', () => {
  const N = 4000;

  it('exceeds its 95 % bound in about 5 of 100 comparisons if nothing has moved', () => {
    const random = new Random(7);
    let above = 0;
    for (let run = 0; run < 400; run++) {
      const draw = (): number[] => Array.from({ length: N }, () => random.next());
      const { psi, noise95 } = shiftOf(summaryOf(draw()), draw(), N);
      if (psi > noise95) above += 1;
    }
    expect(above / 400).to.be.within(0.02, 0.09);
  });

  for (const [what, draw] of [
    ['a bool', (u: number) => (u < 0.85 ? 0 : 1)],
    ['a rating with one decimal', (u: number) => Math.round(10 + 40 * u) / 10],
    ['a constant', () => 7],
    ['a count with many zeros', (u: number) => Math.floor(Math.max(0, u * 10 - 4))],
  ] as const)
    it(`is within its noise for ${what} that has not moved`, () => {
      const random = new Random(3);
      const values = (): number[] => Array.from({ length: N }, () => draw(random.next()));
      const { psi, noise95, moved } = shiftOf(summaryOf(values()), values(), N);
      expect(psi).to.be.at.most(noise95);
      expect(moved).to.equal(false);
    });

  it('tells a shift of a tenth of the range, and values that went missing', () => {
    const random = new Random(5);
    const draw = (): number[] => Array.from({ length: N }, () => random.next());
    const summary = summaryOf(draw());
    expect(
      shiftOf(
        summary,
        draw().map((value) => value + 0.1),
        N,
      ).moved,
    ).to.equal(true);
    const gone = shiftOf(
      summary,
      draw().map((value, at) => (at % 5 === 0 ? undefined : value)),
      N,
    );
    expect(gone.missing).to.deep.equal([0.2, 0]);
    expect(gone.moved).to.equal(true);
  });

  it('is the sum over the values of a text', () => {
    const summary: FeatureSummary = {
      name: 'product.brand',
      type: 'text',
      scope: 'candidate',
      statuses: {},
      missing: 0,
      values: [
        { value: 'a', share: 0.5 },
        { value: 'b', share: 0.3 },
      ],
    };
    const values = [
      ...Array<string>(40).fill('a'),
      ...Array<string>(40).fill('b'),
      ...Array<string>(20).fill('c'),
    ];
    const expected = (0.4 - 0.5) * Math.log(0.4 / 0.5) + (0.4 - 0.3) * Math.log(0.4 / 0.3);
    expect(shiftOf(summary, values, 100).psi).to.be.closeTo(expected, 1e-12);
  });

  it('knows the quantiles of the chi-squared distribution', () => {
    // Tables: 3.841, 9.488, 16.919.
    for (const [degrees, table] of [
      [1, 3.841],
      [4, 9.488],
      [9, 16.919],
    ] as const)
      expect(chiSquared95(degrees)).to.be.closeTo(table, 0.1);
  });
});
