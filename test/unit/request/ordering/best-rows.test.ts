import { expect } from 'chai';
import fc from 'fast-check';
import { bestRows } from '../../../../runtime/request/ordering/best-rows.js';

describe('bestRows', () => {
  it('is the head of a sort by tier, score and input order', () => {
    const candidate = fc.record({
      score: fc.integer({ min: -3, max: 3 }),
      tier: fc.integer({ min: 0, max: 2 }),
    });
    fc.assert(
      fc.property(
        fc.array(candidate, { maxLength: 40 }),
        fc.nat(45),
        fc.array(fc.boolean()),
        (all, most, kept) => {
          const rows = Int32Array.from(all.keys()).filter((row) => kept[row] ?? true);
          const expected = [...rows]
            .sort((a, b) => {
              const [x, y] = [all[a], all[b]];
              if (x === undefined || y === undefined) throw new Error('rows are candidates');
              return x.tier - y.tier || y.score - x.score || a - b;
            })
            .slice(0, most);
          const scores = Float64Array.from(all, ({ score }) => score);
          const tiers = Int32Array.from(all, ({ tier }) => tier);
          expect([...bestRows(rows, scores, tiers, most)]).to.deep.equal(expected);
        },
      ),
    );
  });
});
