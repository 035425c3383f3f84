import { expect } from 'chai';
import { keyedRandom } from '../../../../runtime/ground/core/keyed-random.js';

describe('keyed random', () => {
  const firstOf = (salt: string, text: string): number[] =>
    Array.from({ length: 9 }, keyedRandom(salt, text));

  it('repeats its numbers for the same text and salt alone', () => {
    expect(firstOf('secret', 'r1')).to.deep.equal(firstOf('secret', 'r1'));
    expect(
      new Set([...firstOf('secret', 'r1'), ...firstOf('other', 'r1'), ...firstOf('secret', 'r2')]).size,
    ).to.equal(27);
  });

  it('is uniform over texts', () => {
    const bins = new Array<number>(20).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const bin = Math.floor(keyedRandom('secret', `request-${i}`)() * 20);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    const chi = bins.reduce((sum, seen) => sum + (seen - 500) ** 2 / 500, 0);
    expect(chi).to.be.below(50.8); // the 0.9999 quantile for 19 degrees of freedom
  });
});
