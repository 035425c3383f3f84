import { expect } from 'chai';
import { SeenIds } from '../../../../runtime/project/rows/seen-ids.js';

describe('ids that were seen before', () => {
  it('are recognized, in any number, whether or not they are similar', () => {
    const seen = new SeenIds();
    const ids = [
      '',
      ...Array.from({ length: 200_000 }, (_, i) => String(i)),
      ...Array.from({ length: 50_000 }, (_, i) => `product-${String(i).padStart(12, '0')}`),
      ...Array.from({ length: 5_000 }, (_, i) => 'x'.repeat(i + 1)),
    ];
    expect(ids.filter((id) => !seen.add(id))).to.deep.equal([]);
    expect(ids.filter((id) => seen.add(id))).to.deep.equal([]);
  });
});
