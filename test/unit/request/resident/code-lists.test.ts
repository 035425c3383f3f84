import { expect } from 'chai';
import fc from 'fast-check';
import { CodeLists, spanOf } from '../../../../runtime/request/resident/code-lists.js';
import { draws } from '../../../support/draws.js';

const CELLS = 40;

describe('CodeLists', () => {
  const lengths = fc.oneof(
    { weight: 20, arbitrary: fc.nat(12) },
    { weight: 2, arbitrary: fc.nat(9_000) },
    fc.constantFrom(65_533, 65_534, 65_535, 65_536, 70_000),
  );
  const change = fc.tuple(fc.nat(CELLS - 1), lengths);

  it('gives what was put last, and what was taken stays as it was', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 120 }), (changes) => {
        const lists = new CodeLists();
        lists.grow(CELLS / 2);
        lists.grow(CELLS);
        const expected = Array.from({ length: CELLS }, (): number[] => []);
        const rows = Int32Array.from({ length: CELLS + 1 }, (_, i) => (i === CELLS ? -1 : i));
        const earlier: { taken: ReturnType<CodeLists['take']>; wanted: number[][] }[] = [];
        for (const [i, [cell, length]] of changes.entries()) {
          const list = Array.from({ length }, (_, k) => i * 1000 + k - 1);
          lists.put(cell, list);
          expected[cell] = list;
          lists.tidy();
          if (i % 10 === 0) earlier.push({ taken: lists.take(rows, 0, 1), wanted: [...expected] });
        }
        earlier.push({ taken: lists.take(rows, 0, 1), wanted: expected });
        for (const { taken, wanted } of earlier)
          for (const [row, list] of [...wanted, []].entries()) {
            const { page, start, end } = spanOf(taken, row);
            // Comparing long lists by deep equality takes seconds.
            expect(end - start).to.equal(list.length);
            expect(list.every((number, k) => page[start + k] === number)).to.equal(true);
          }
        const sizes = expected.map(({ length }) => (length === 0 ? 0 : 8 * (length + 2)));
        expect(lists.bytes).to.equal(sizes.reduce((sum, size) => sum + size, 0));
      }),
      { numRuns: draws(60) },
    );
  });

  it('keeps no more garbage than lists and a few pages', () => {
    for (const [length, often] of [
      [3, 20],
      [300, 1_000],
    ] as const) {
      const lists = new CodeLists();
      lists.grow(1_000);
      for (let i = 0; i < 200_000; i++) {
        lists.put(i % 1_000, new Int32Array(length).fill(i));
        if (i % often === often - 1) lists.tidy();
      }
      const { pages } = lists.take(new Int32Array(1), 0, 1);
      const numbers = pages.reduce((sum, page) => sum + page.length, 0);
      expect(numbers).to.be.below(1_000 * (length + 2) * 2 + 4 * 65_536);
      expect(lists.bytes).to.equal(8 * 1_000 * (length + 2));
    }
  });
});
