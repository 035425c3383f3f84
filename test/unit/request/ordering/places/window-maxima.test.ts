import { expect } from 'chai';
import fc from 'fast-check';
import { WindowMaxima } from '../../../../../runtime/request/ordering/places/window-maxima.js';

describe('maxima of the last rows', () => {
  it('are those of the rows in the window, while elements leave', () => {
    const rows = fc.array(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 6, maxLength: 6 }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), rows, fc.array(fc.nat(30)), (window, all, ends) => {
        const recent = new WindowMaxima(window, 6);
        const maxima = new Float64Array(6);
        for (const [at, numbers] of all.entries()) {
          const elements = [0, 1, 2, 3, 4, 5].filter((element) => at < (ends[element] ?? 30));
          const own = Float64Array.from(elements, (element) => numbers[element] ?? 0);
          recent.add(Int32Array.from(elements), elements.length, own, maxima);
          const last = all.slice(Math.max(0, at + 1 - window), at + 1);
          for (const element of elements)
            expect(maxima[element]).to.equal(Math.max(...last.map((row) => row[element] ?? 0)));
        }
      }),
      { numRuns: 300 },
    );
  });
});
