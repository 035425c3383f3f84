import { expect } from 'chai';
import fc from 'fast-check';
import { crc32, crc32ByTable } from '../../../../runtime/state/store/embedded/crc32.js';

describe('CRC-32', () => {
  it('has the check value of IEEE 802.3', () => {
    expect(crc32ByTable(Buffer.from('123456789'))).to.equal(0xcbf43926);
    expect(crc32(Buffer.from('123456789'))).to.equal(0xcbf43926);
  });

  it('continues from the CRC of preceding data, and both implementations agree', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        const [first, second] = [Buffer.from(a), Buffer.from(b)];
        const whole = crc32ByTable(Buffer.concat([first, second]));
        expect(crc32ByTable(second, crc32ByTable(first))).to.equal(whole);
        expect(crc32(second, crc32(first))).to.equal(whole);
      }),
    );
  });

  it('of a text equals that of its UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const expected = crc32ByTable(Buffer.from(text));
        expect(crc32ByTable(text)).to.equal(expected);
        expect(crc32(text)).to.equal(expected);
      }),
    );
  });
});
