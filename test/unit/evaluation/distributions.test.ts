import { expect } from 'chai';
import { normalShare, studentQuantile } from '../../../runtime/evaluation/distributions.js';

describe('the normal distribution', () => {
  it('has the shares of its table', () => {
    expect(normalShare(-1.959964)).to.be.closeTo(0.025, 2e-7);
    expect(normalShare(0)).to.be.closeTo(0.5, 2e-7);
    expect(normalShare(3)).to.be.closeTo(0.998650102, 2e-7);
    expect(normalShare(-40)).to.equal(0);
  });
});

describe("Student's t distribution", () => {
  it('has the quantiles of its table', () => {
    // Degrees of freedom → the quantile of 0.975, as scipy.stats.t.ppf computes it.
    const table: readonly (readonly [number, number])[] = [
      [1, 12.706204736],
      [2, 4.30265273],
      [3, 3.182446305],
      [4, 2.776445105],
      [5, 2.570581836],
      [9, 2.262157163],
      [30, 2.042272456],
      [199, 1.971956544],
      [100_000, 1.95998768],
    ];
    for (const [degrees, value] of table)
      expect(-studentQuantile(0.025, degrees), `${degrees} degrees`).to.be.closeTo(value, 1e-4 * value);
  });
});
