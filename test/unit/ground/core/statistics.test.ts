import { expect } from 'chai';
import fc from 'fast-check';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { Random } from '../../../../runtime/ground/core/random.js';
import {
  bootstrapInterval,
  holm,
  mean,
  quantile,
  randomisationTest,
  type Interval,
} from '../../../../runtime/ground/core/statistics.js';

const interval = (values: readonly number[], seed: number): Interval =>
  atOnce(bootstrapInterval(values, seed));
const pOf = (differences: readonly number[], seed: number): number =>
  atOnce(randomisationTest(differences, seed));

/** Values with a roughly normal distribution. */
function normal(count: number, middle: number, seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => {
    let sum = 0;
    for (let i = 0; i < 12; i++) sum += random.next();
    return middle + (sum - 6) * 0.2;
  });
}

describe('the bootstrap interval', () => {
  it('depends on the values and the seed alone', () => {
    const values = normal(50, 0.5, 1);
    expect(interval(values, 7)).to.deep.equal(interval(values, 7));
    expect(interval(values, 7)).not.to.deep.equal(interval(values, 8));
  });

  it('is about the mean plus and minus 1.96 standard errors', () => {
    const values = normal(400, 0.5, 2);
    const centre = mean(values);
    const error = Math.sqrt(mean(values.map((one) => (one - centre) ** 2)) / values.length);
    const { lower, upper } = interval(values, 0);
    expect(lower).to.be.closeTo(centre - 1.96 * error, 0.1 * error);
    expect(upper).to.be.closeTo(centre + 1.96 * error, 0.1 * error);
  });

  it('covers the true mean in about 95 of 100 samples', () => {
    let covered = 0;
    for (let sample = 0; sample < 200; sample++) {
      const { lower, upper } = interval(normal(60, 0.3, 1000 + sample), sample);
      if (lower <= 0.3 && upper >= 0.3) covered += 1;
    }
    expect(covered).to.be.within(180, 199);
  });

  it('is above the true mean in at most 5 of 100 samples of few values', () => {
    const random = new Random(5);
    for (const count of [5, 8, 12]) {
      let above = 0;
      for (let sample = 0; sample < 600; sample++) {
        const values = Array.from({ length: count }, () => random.next() - 0.5);
        if (interval(values, sample).lower > 0) above += 1;
      }
      expect(above / 600, `${count} values`).to.be.below(0.05);
    }
  });

  it('is a point for one value, and not known for none', () => {
    expect(interval([0.4], 0)).to.deep.equal({ lower: 0.4, upper: 0.4 });
    expect(interval([], 0)).to.deep.equal({ lower: NaN, upper: NaN });
  });
});

describe('the randomisation test', () => {
  it('counts all sign changes of a few differences', () => {
    // The signs give 8 sums, ±1 ±2 ±3. Two of them, 6 and −6, are as large as the observed sum.
    expect(pOf([1, 2, 3], 0)).to.equal(2 / 8);
    // Of ±1 ±2 ±3 ±(−3), 12 of 16 sums are at least 3 away from 0.
    const sums = [1, -1].flatMap((a) =>
      [2, -2].flatMap((b) => [3, -3].flatMap((c) => [3, -3].map((d) => a + b + c + d))),
    );
    const expected = sums.filter((sum) => Math.abs(sum) >= 3).length / 16;
    expect(pOf([1, 2, 3, -3], 0)).to.equal(expected);
  });

  it('agrees with all sign changes if it samples', () => {
    const few = normal(13, 0.1, 3);
    const exact = pOf(few, 0);
    // Zeros change no sum; a tiny difference more makes the test sample.
    expect(pOf([...few, 1e-15], 0)).to.be.closeTo(exact, 0.015);
  });

  it('finds nothing between equal systems, and a clear difference', () => {
    expect(pOf([0, 0, 0], 0)).to.equal(1);
    expect(pOf([], 0)).to.equal(1);
    expect(pOf(new Array<number>(40).fill(0.1), 0)).to.be.below(0.001);
  });

  it('is wrong in about 5 of 100 neutral changes', () => {
    let found = 0;
    for (let sample = 0; sample < 200; sample++)
      if (pOf(normal(40, 0, 5000 + sample), sample) < 0.05) found += 1;
    expect(found).to.be.within(2, 20);
  });
});

describe("Holm's correction", () => {
  it('multiplies the smallest p value by the number of tests, the next by one less', () => {
    const corrected = holm([0.01, 0.04, 0.03, 0.005]);
    [0.03, 0.06, 0.06, 0.02].forEach((p, at) => expect(corrected[at]).to.be.closeTo(p, 1e-12));
  });

  it('keeps the order of the p values, and stays between them and 1', () => {
    const p = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(p), (pValues) => {
        const corrected = holm(pValues);
        pValues.forEach((one, i) => {
          expect(corrected[i]).to.be.within(one, 1);
          pValues.forEach((other, j) => {
            if (one < other) expect(corrected[i] ?? NaN).to.be.at.most(corrected[j] ?? NaN);
          });
        });
      }),
    );
  });
});

describe('a quantile', () => {
  it('interpolates between the neighbours', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).to.equal(2.5);
    expect(quantile([5], 0.975)).to.equal(5);
  });
});
