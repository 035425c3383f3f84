import { expect } from 'chai';
import { Random } from '../../../../runtime/ground/core/random.js';
import { climb, rounded, type Point } from '../../../../runtime/learn/tuning/coordinate-ascent.js';
import { tune, type TuneResult } from '../../../../runtime/learn/tuning/tune.js';

const PARAMS = [
  { name: 'a', min: 0, max: 3 },
  { name: 'b', min: -1, max: 1 },
];
const at = (point: Point, index: number): number => point[index] ?? NaN;

describe('coordinate ascent', () => {
  it('finds the top of a hill, and the middle of a flat top', async () => {
    const hill = (point: Point): Promise<number> =>
      Promise.resolve(-Math.floor(Math.abs(at(point, 0) - 2.2) * 10) - Math.abs(at(point, 1) + 0.4));
    const { point, value } = await climb(PARAMS, hill, [0, 0]);
    expect(at(point, 0)).to.be.within(2.11, 2.29);
    expect(at(point, 1)).to.be.closeTo(-0.4, 0.01);
    expect(value).to.be.closeTo(0, 0.01);
  });

  it('keeps a value if no other is better', async () => {
    const { point } = await climb(PARAMS, () => Promise.resolve(1), [1.23456, 0.5]);
    expect(point).to.deep.equal([1.23456, 0.5]);
  });

  it('stays where values are possible, and within the ranges', async () => {
    const seen: Point[] = [];
    const slope = (point: Point): Promise<number> => {
      seen.push(point);
      return Promise.resolve(at(point, 0) > 2 ? -Infinity : at(point, 0) + at(point, 1));
    };
    const { point } = await climb(PARAMS, slope, [0, 0]);
    expect(at(point, 0)).to.be.within(1.9, 2);
    expect(at(point, 1)).to.equal(1);
    expect(seen.every(([a = NaN, b = NaN]) => a >= 0 && a <= 3 && b >= -1 && b <= 1)).to.equal(true);
  });

  it('rounds to a thousandth of the range', () => {
    expect(rounded(1.23456789, { name: 'a', min: 0, max: 3 })).to.equal(1.235);
    expect(rounded(123.456, { name: 'a', min: 0, max: 5000 })).to.equal(123);
    expect(rounded(0.000123456, { name: 'a', min: 0, max: 0.001 })).to.equal(0.000123);
    expect(rounded(9, { name: 'a', min: 0, max: 3 })).to.equal(3);
  });
});

describe('tune', () => {
  /** Each query has a best value of `a` near 2, and `b` changes nothing. */
  const queries = (count: number, spread: number): ((point: Point) => Promise<Float64Array>) => {
    const random = new Random(3);
    const best = Array.from({ length: count }, () => 2 + random.around(-spread, spread));
    return (point) =>
      Promise.resolve(Float64Array.from(best, (one) => 1 - Math.min(1, Math.abs(one - at(point, 0)))));
  };
  const run = (measure: (point: Point) => Promise<Float64Array | undefined>, seed = 0): Promise<TuneResult> =>
    tune(PARAMS, measure, { seed, start: [0.5, 0] });

  it('finds the gain, and estimates it on queries that were not tuned on', async () => {
    const { point, fitted, outOfFold } = await run(queries(50, 0.3));
    expect(at(point, 0)).to.be.closeTo(2, 0.1);
    expect(at(point, 1)).to.equal(0);
    expect(fitted.before).to.be.below(0.1);
    expect(outOfFold.delta).to.be.closeTo(fitted.after - fitted.before, 0.02);
    expect(outOfFold.after - outOfFold.before).to.be.closeTo(outOfFold.delta, 1e-12);
    expect(outOfFold.interval.lower).to.be.above(0.5);
    expect(outOfFold.interval.lower).to.be.below(outOfFold.delta);
    expect(outOfFold.interval.upper).to.be.above(outOfFold.delta);
  });

  it('does not report noise as a gain', async () => {
    const noise = (point: Point): Promise<Float64Array> => {
      const random = new Random(Math.round(1000 * (at(point, 0) + 7 * at(point, 1))));
      return Promise.resolve(Float64Array.from({ length: 40 }, () => random.next()));
    };
    let covered = 0;
    for (let seed = 0; seed < 10; seed++) {
      const { fitted, outOfFold } = await run(noise, seed);
      expect(fitted.after - fitted.before).to.be.above(0.05);
      expect(Math.abs(outOfFold.delta)).to.be.below(0.25);
      if (outOfFold.interval.lower <= 0 && outOfFold.interval.upper >= 0) covered += 1;
    }
    expect(covered).to.be.at.least(7);
  });

  it('ends within its budget with the best values so far, and says so', async () => {
    const seen: number[] = [];
    let time = 0;
    const slow = (point: Point): Promise<Float64Array> => {
      time += 2;
      return queries(20, 0.3)(point);
    };
    const { point, fitted, outOfFold, isStopped } = await tune(PARAMS, slow, {
      ...{ seed: 0, start: [0.5, 0], budgetMs: 240, now: () => time },
      onProgress: (done) => seen.push(done),
    });
    expect(isStopped).to.equal(true);
    expect(at(point, 0)).to.be.above(1);
    expect(fitted.after).to.be.above(fitted.before);
    expect(outOfFold.folds).to.equal(5);
    expect(seen.every((done, index) => done <= 1 && done >= (seen[index - 1] ?? 0))).to.equal(true);
  });

  it('keeps the best values so far when it is interrupted, without a figure that it did not measure', async () => {
    const stop = new AbortController();
    let measured = 0;
    const measure = (point: Point): Promise<Float64Array> => {
      if (++measured === 30) stop.abort();
      return queries(20, 0.3)(point);
    };
    const { point, outOfFold, isStopped, evaluations } = await tune(PARAMS, measure, {
      ...{ seed: 0, start: [0.5, 0], signal: stop.signal },
    });
    // The first of the 30 gives the figures of today.
    expect([isStopped, outOfFold.folds, evaluations]).to.deep.equal([true, 0, 29]);
    expect(at(point, 0)).to.be.above(1);
    expect(outOfFold.delta).to.be.NaN;
  });

  it('takes the printed figures from the exact measure, before and after', async () => {
    const exact = queries(20, 0.3);
    const measure = async (point: Point): Promise<Float64Array> => (await exact(point)).map((one) => one / 2);
    const { fitted, outOfFold, point } = await tune(PARAMS, measure, { seed: 0, start: [1.5, 0], exact });
    const mean = (values: Float64Array): number => values.reduce((sum, one) => sum + one, 0) / values.length;
    expect(fitted.before).to.be.closeTo(mean(await exact([1.5, 0])), 1e-12);
    expect(fitted.after).to.be.closeTo(mean(await exact(point)), 1e-12);
    expect(outOfFold.before).to.be.closeTo(fitted.before, 1e-12);
  });

  it('climbs on a sample of many queries first, and measures all of them', async () => {
    const asked: number[] = [];
    const measure = async (point: Point, on?: readonly number[]): Promise<Float64Array> => {
      asked.push(on?.length ?? 2000);
      return queries(2000, 0.3)(point);
    };
    const { point, fitted } = await tune(PARAMS, measure, { seed: 0, start: [0.5, 0] });
    expect(at(point, 0)).to.be.closeTo(2, 0.1);
    expect(fitted.after).to.be.above(0.8);
    expect(asked.filter((count) => count > 300).length).to.be.below(asked.length / 3);
  });

  it('gives the same result for the same seed', async () => {
    const [one, two] = [await run(queries(30, 1), 5), await run(queries(30, 1), 5)];
    expect(one).to.deep.equal(two);
  });

  it('leaves out queries without a measure, and needs five with one', async () => {
    const some = (count: number) => async (point: Point) => {
      const values = await queries(20, 0.3)(point);
      return values.fill(NaN, count);
    };
    expect((await run(some(8))).queries).to.equal(8);
    const error = await run(some(4)).catch((failed: unknown) => failed);
    expect(error).to.be.instanceOf(RangeError);
    expect((error as Error).message).to.equal(
      'tuning needs at least 5 queries with a relevant candidate, found 4',
    );
  });
});
