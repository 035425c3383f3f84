import { expect } from 'chai';
import fc from 'fast-check';
import { GroupsBySize } from '../../../../../runtime/request/ordering/places/groups-by-size.js';

describe('groups by size', () => {
  it('are those with at least so many rows, while groups lose rows (property)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(5), { maxLength: 12 }),
        fc.array(fc.nat(11), { maxLength: 30 }),
        (sizes, losses) => {
          const kept = Int32Array.from(sizes);
          const groups = new GroupsBySize(kept);
          const left = [...sizes];
          for (const group of [-1, ...losses]) {
            if ((left[group] ?? 0) > 0) {
              groups.lose(group);
              left[group] = (left[group] ?? 0) - 1;
            }
            expect([...kept]).to.deep.equal(left);
            for (let size = 1; size <= 6; size++)
              expect([...groups.withAtLeast(size)].sort((a, b) => a - b)).to.deep.equal(
                [...left.keys()].filter((one) => (left[one] ?? 0) >= size),
              );
          }
        },
      ),
    );
  });
});
