import { expect } from 'chai';
import { sampleIndex } from '../../../../runtime/cli/input/sample-index.js';
import type { ScannedPage } from '../../../../runtime/cli/load/target.js';

/** An index of `count` products that answers in pages of 10. */
function indexOf(count: number): { scanEntities: (type: string, cursor?: string) => Promise<ScannedPage> } {
  return {
    scanEntities(type, cursor) {
      const from = Number(cursor ?? 0);
      const to = Math.min(count, from + 10);
      const records = Array.from({ length: to - from }, (_, i) => ({ [`${type}_id`]: from + i }));
      const page = { records, unreadable: [], changed: 0, cursor: to < count ? `${to}` : undefined };
      return Promise.resolve(page);
    },
  };
}

describe('a sample of the index', () => {
  const ignore = (): void => undefined;

  it('has every entity if there are no more than wanted', async () => {
    const { rows, of } = await sampleIndex(indexOf(25), 'product', 25, ignore);
    expect(of).to.equal(25);
    expect(rows.map((row) => row['product_id'])).to.deep.equal(Array.from({ length: 25 }, (_, i) => i));
  });

  it('has as many distinct entities as wanted, from the whole index', async () => {
    const seen: number[] = [];
    const { rows, of } = await sampleIndex(indexOf(10_000), 'product', 1000, (count) => seen.push(count));
    const ids = rows.map((row) => Number(row['product_id']));
    expect(of).to.equal(10_000);
    expect(new Set(ids).size).to.equal(1000);
    expect(seen.at(-1)).to.equal(10_000);
    // Each tenth of the index has about 100 of them; the standard deviation is 9.
    for (let tenth = 0; tenth < 10; tenth++)
      expect(ids.filter((id) => Math.floor(id / 1000) === tenth).length).to.be.within(60, 140);
  });

  it('is empty if the index is', async () => {
    expect(await sampleIndex(indexOf(0), 'product', 10, ignore)).to.deep.equal({ rows: [], of: 0 });
  });
});
