import { expect } from 'chai';
import fc from 'fast-check';
import { ndcg } from '../../support/ndcg.js';
import { shuffled } from '../../../runtime/ground/core/shuffle.js';

describe('NDCG, as the relevance acceptance computes it', () => {
  it('agrees with a sum made by hand', () => {
    // (0 + 7/log2(3) + 1/2) / (7 + 1/log2(3))
    const expected = (7 / Math.log2(3) + 0.5) / (7 + 1 / Math.log2(3));
    expect(ndcg([0, 3, 1], 10)).to.be.closeTo(expected, 1e-12);
  });

  it('looks at the first k alone, against the best that k places can hold', () => {
    expect(ndcg([0, 0, 3], 2)).to.equal(0);
    expect(ndcg([3, 0, 3], 1)).to.equal(1);
    expect(ndcg([0, 0], 10)).to.be.NaN;
  });
});

describe('a seeded shuffle', () => {
  it('keeps the items and depends on the seed alone', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.nat(), (items, seed) => {
        const order = shuffled(items, seed);
        expect(order).to.have.members(items).and.to.have.length(items.length);
        expect(shuffled(items, seed)).to.deep.equal(order);
      }),
    );
    const items = Array.from({ length: 50 }, (_, i) => i);
    expect(shuffled(items, 1)).not.to.deep.equal(shuffled(items, 2));
  });
});
