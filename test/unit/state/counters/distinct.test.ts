import { expect } from 'chai';
import fc from 'fast-check';
import {
  BUCKETS,
  bucketWidth,
  epochOf,
  oldestEpoch,
  sumFrom,
} from '../../../../runtime/state/counters/buckets.js';
import { addValues, hashOfValue, MOST_EXACT } from '../../../../runtime/state/counters/distinct.js';
import { DistinctOracle } from './distinct-oracle.js';

const START = Date.UTC(2026, 0, 31);
const HOUR = 3_600_000;

/** Values that are added together: the hours since the last write, and each value with its age in windows. */
const batch = fc.record({
  later: fc.double({ min: 0, max: 1.2, noNaN: true }),
  values: fc.array(fc.record({ value: fc.nat(2000), age: fc.double({ min: -0.1, max: 1.1, noNaN: true }) }), {
    maxLength: 120,
    size: 'max',
  }),
});

describe('distinct values', () => {
  it('are as many as in a walk through all values, in every window', () => {
    fc.assert(
      fc.property(
        fc.array(batch, { minLength: 1, maxLength: 12, size: 'max' }),
        fc.integer({ min: 2 * HOUR, max: 30 * 24 * HOUR }),
        fc.boolean(),
        (batches, window, isDense) => {
          const width = bucketWidth(window);
          const oracle = new DistinctOracle();
          let stored: ReturnType<typeof addValues> | undefined;
          let now = START;
          for (const { later, values } of batches) {
            // Close writes fill a sketch; distant ones empty it.
            now += (isDense ? 0.1 : 1) * later * window;
            const times = values.map(({ age }) => now - age * window);
            const amounts = values.map(({ value }) => hashOfValue(String(value)));
            const oldest = oldestEpoch(now, window);
            stored = addValues(stored?.body ?? null, stored?.width ?? 0, { times, amounts }, width, oldest);
            oracle.add(
              amounts.map((hash, i) => ({ hash, epoch: epochOf(times[i] ?? 0, width) })),
              oldest,
            );
            for (let epoch = oldest; epoch < oldest + 2 * BUCKETS; epoch++)
              expect(sumFrom(stored.body, 0, 4, epoch)).to.equal(oracle.count(epoch));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are exact up to a number, and estimated by a body that stays small beyond', () => {
    const width = bucketWidth(HOUR);
    const add = (before: ReturnType<typeof addValues> | undefined, from: number, to: number) => {
      const amounts = Array.from({ length: to - from }, (_, i) => hashOfValue(String(from + i)));
      const times = amounts.map((_, i) => START - (i % 60) * 60_000);
      const oldest = oldestEpoch(START, HOUR);
      return addValues(before?.body ?? null, before?.width ?? 0, { times, amounts }, width, oldest);
    };
    const exact = add(undefined, 0, MOST_EXACT);
    expect(exact.width).to.equal(0);
    expect(sumFrom(exact.body, 0, 4, oldestEpoch(START, HOUR))).to.equal(MOST_EXACT);
    const sketch = add(exact, MOST_EXACT, 100_000);
    expect(sketch.width).to.equal(1);
    expect(sketch.body.length).to.be.lessThan(8192);
    // Three standard errors of 6.5 %.
    expect(sumFrom(sketch.body, 0, 4, oldestEpoch(START, HOUR))).to.be.within(80_500, 119_500);
  });
});
