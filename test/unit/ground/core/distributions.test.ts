import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  chiSquaredShareAbove,
  logGamma,
  normalQuantile,
  normalShare,
  studentQuantile,
} from '../../../../runtime/ground/core/distributions.js';
import { repositoryPath } from '../../../support/repository.js';

describe('the normal distribution', () => {
  it('has the shares of its table', () => {
    expect(normalShare(-1.959964)).to.be.closeTo(0.025, 2e-7);
    expect(normalShare(0)).to.be.closeTo(0.5, 2e-7);
    expect(normalShare(3)).to.be.closeTo(0.998650102, 2e-7);
    expect(normalShare(-40)).to.be.below(1e-300);
  });

  it('is exact in its tails', () => {
    // As scipy.stats.norm.cdf computes them.
    expect(normalShare(-5) / 2.866515718791939e-7).to.be.closeTo(1, 1e-11);
    expect(normalShare(-10) / 7.61985302416052e-24).to.be.closeTo(1, 1e-11);
    expect(normalShare(0.3)).to.be.closeTo(0.6179114221889526, 1e-13);
  });

  it('has the quantiles of its table', () => {
    expect(normalQuantile(0.025)).to.be.closeTo(-1.959963984540054, 1e-10);
    expect(normalQuantile(0.2)).to.be.closeTo(-0.8416212335729143, 1e-10);
  });
});

describe("Student's t distribution", () => {
  it('has the quantiles of its table', () => {
    // The table is of scipy.stats.t.ppf. The Python package has the same formula, and its tests read the same file.
    const table = readFileSync(repositoryPath('clients/python/tests/student-t.tsv'), 'utf8').trim();
    for (const [degrees = NaN, value = NaN] of table.split('\n').map((line) => line.split('\t').map(Number)))
      expect(-studentQuantile(0.025, degrees), `${degrees} degrees`).to.be.closeTo(value, 1e-13 * value);
    expect(-studentQuantile(0.025, 100_000)).to.be.closeTo(1.95998770753461, 1e-9);
  });
});

describe('the chi-squared distribution', () => {
  it('has the shares of its table', () => {
    // Value, degrees of freedom → the share above, as scipy.stats.chi2.sf computes it.
    const table: readonly (readonly [number, number, number])[] = [
      [3.841458820694124, 1, 0.05],
      [10.827566170662733, 1, 0.001],
      [5.991464547107979, 2, 0.05],
      [0.5, 3, 0.9188914116546215],
      [30, 10, 0.0008566412107300943],
      [200, 1, 2.08848758376254e-45],
    ];
    for (const [value, degrees, share] of table)
      expect(chiSquaredShareAbove(value, degrees) / share, `${value}, ${degrees}`).to.be.closeTo(1, 1e-9);
    expect(chiSquaredShareAbove(0, 4)).to.equal(1);
  });

  it('comes from the gamma function', () => {
    expect(Math.exp(logGamma(0.5))).to.be.closeTo(Math.sqrt(Math.PI), 1e-13);
    expect(Math.exp(logGamma(6))).to.be.closeTo(120, 1e-10);
  });
});
