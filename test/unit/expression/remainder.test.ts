import { expect } from 'chai';
import fc from 'fast-check';
import { remainder } from '../../../runtime/expression/kernels/number-loops.js';

describe('the remainder of two numbers', () => {
  it('is exactly that of JavaScript, also of extreme numbers', () => {
    const extreme = fc.constantFrom(0, -0, 5e-324, -5e-310, 2.3e-308, 1e308, Number.MAX_VALUE, 2 ** 53, 0.1);
    const number = fc.oneof(fc.double(), extreme);
    fc.assert(
      fc.property(number, number, (x, y) => {
        const out = new Float64Array(1);
        remainder(out, 0, Float64Array.of(x), 0, 1, Float64Array.of(y), 0, 1, 1);
        expect(Object.is(out[0], x % y), `${x} % ${y} is ${x % y}, found ${out[0]}`).to.equal(true);
      }),
      { numRuns: 2000 },
    );
  });
});
