import { expect } from 'chai';
import fc from 'fast-check';
import { NUMBER_BYTES, writeNumber } from '../../../../runtime/ground/core/json-number.js';
import { draws } from '../../../support/draws.js';

function written(value: number): string {
  const bytes = Buffer.alloc(NUMBER_BYTES + 3, 0x23);
  const end = writeNumber(bytes, 3, value);
  return bytes.toString('latin1', 3, end);
}

describe('numbers as JSON', () => {
  it('are written as JSON.stringify writes them', () => {
    const odd = [
      0,
      -0,
      1e-6,
      9.9e-7,
      -1e-7,
      1e7,
      9_999_999.99999999,
      0.1 + 0.2,
      5e-324,
      1.7976931348623157e308,
    ];
    for (const value of [...odd, NaN, Infinity, -Infinity, 1e21, -1.234567890123456e-300])
      expect(written(value), String(value)).to.equal(JSON.stringify(value));
    const decimal = fc
      .tuple(fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }), fc.nat({ max: 10 }))
      .map(([digits, decimals]) => digits / 10 ** decimals);
    const double = fc.double();
    const near = decimal.chain((value) =>
      fc.constantFrom(value, value * (1 + Number.EPSILON), value * (1 - Number.EPSILON / 2)),
    );
    fc.assert(
      fc.property(fc.oneof(decimal, near, double), (value) => {
        expect(written(value)).to.equal(JSON.stringify(value));
      }),
      { numRuns: draws(2000) },
    );
  });
});
