import { expect } from 'chai';
import fc from 'fast-check';
import { COUNTER_ROWS } from './live/counter-rows.js';
import { LiveProject } from './live/live-project.js';
import { type LiveRow, seenBy } from './live/live-row.js';
import { calmShops, liveShops, type LiveShop } from './live/live-shop.js';

const TOLERANCE = 1e-9;

describe("the values of Metarank's counters", function () {
  // Each shop is a project of its own.
  this.timeout(60_000);

  /**
   * Compares the values of all rows for a shop, and notes in `values` those that both have.
   * @param check of a row, a number of Millrace, and that of Metarank
   */
  async function compare(
    shop: LiveShop,
    values: Map<LiveRow, Set<number>>,
    check: (row: LiveRow, ours: number, theirs: number | undefined, what: string) => void,
  ): Promise<void> {
    const seen = seenBy(shop);
    const project = await LiveProject.start(COUNTER_ROWS, shop.ranking.timestamp);
    try {
      await project.send(shop.arrivals);
      for (const row of COUNTER_ROWS) {
        const found = await project.values(row, shop);
        for (const item of shop.ranking.items) {
          const theirs = row.metarank(item, seen);
          const expected = row.differs(theirs, item, seen);
          const value = found.get(item);
          const what = `${row.name}: ${row.value} of ${item}`;
          if (expected === undefined || value === undefined) expect(value, what).to.equal(expected);
          else {
            expect(value, what).to.be.closeTo(expected, TOLERANCE);
            check(row, value, theirs, what);
            values.set(row, (values.get(row) ?? new Set()).add(value));
          }
        }
      }
    } finally {
      await project.close();
    }
  }

  /** The rows for which the events gave too few different values to prove anything. */
  const unproved = (values: ReadonlyMap<LiveRow, ReadonlySet<number>>): string[] =>
    COUNTER_ROWS.filter((row) => (values.get(row)?.size ?? 0) < 3).map(({ value }) => value);

  it('differ only as docs/features.md says, on random events of any age, in any order, sent again', async () => {
    const values = new Map<LiveRow, Set<number>>();
    await fc.assert(
      fc.asyncProperty(liveShops, (shop) => compare(shop, values, () => undefined)),
      { numRuns: 10, seed: 20261122 },
    );
    expect(unproved(values)).to.deep.equal([]);
  });

  it('are the same where events are younger than the window, and arrive once', async () => {
    const values = new Map<LiveRow, Set<number>>();
    const same = (row: LiveRow, ours: number, theirs: number | undefined, what: string): void => {
      // The weight of `prior` counts other events than Metarank's.
      if (!row.value.endsWith('ctr_prior')) expect(ours, what).to.be.closeTo(theirs ?? NaN, TOLERANCE);
    };
    await fc.assert(
      fc.asyncProperty(calmShops, (shop) => compare(shop, values, same)),
      { numRuns: 8, seed: 20261123 },
    );
    expect(unproved(values)).to.deep.equal([]);
  });
});
