import { expect } from 'chai';
import fc from 'fast-check';
import { Reservoir } from '../../../../runtime/learn/evaluation/reservoir.js';
import { mean, quantile } from '../../../../runtime/ground/core/statistics.js';

describe('Reservoir', () => {
  it('has no mean and no quantiles without numbers', () => {
    const empty = new Reservoir();
    expect([empty.count, empty.mean(), empty.quantiles(0.5)]).to.deep.equal([0, undefined, undefined]);
  });

  it('is exact while all numbers fit', () => {
    const values = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1 });
    fc.assert(
      fc.property(values, (numbers) => {
        const reservoir = new Reservoir();
        for (const number of numbers) reservoir.add(number);
        const sorted = Float64Array.from(numbers).sort();
        expect(reservoir.mean()).to.equal(mean(numbers));
        expect(reservoir.quantiles(0, 0.5, 1)).to.deep.equal(
          [0, 0.5, 1].map((share) => quantile(sorted, share)),
        );
      }),
    );
  });

  it('samples a long stream evenly, and its mean stays exact', () => {
    const reservoir = new Reservoir();
    const length = 30 * Reservoir.SIZE;
    // The numbers rise, so a sample that prefers old or new ones is found.
    for (let i = 0; i < length; i++) reservoir.add(i);
    expect(reservoir.count).to.equal(length);
    expect(reservoir.mean()).to.equal((length - 1) / 2);
    const [p01 = NaN, p50 = NaN, p99 = NaN] = reservoir.quantiles(0.01, 0.5, 0.99) ?? [];
    expect(p01 / length).to.be.closeTo(0.01, 0.003);
    expect(p50 / length).to.be.closeTo(0.5, 0.015);
    expect(p99 / length).to.be.closeTo(0.99, 0.003);
  });
});
