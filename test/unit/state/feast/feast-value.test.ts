import { expect } from 'chai';
import fc from 'fast-check';
import { decodeTime, decodeValue } from '../../../../runtime/state/feast/feast-value.js';
import { feastTime, feastValue } from '../../../support/feast-writer.js';

const hex = (bytes: string): Buffer => Buffer.from(bytes.replaceAll(' ', ''), 'hex');

describe("Feast's values", () => {
  // A tag is the field number times eight plus the wire type: 0 varint, 1 and 5 fixed, 2 length-delimited.
  it('are decoded by their field', () => {
    const cases: readonly (readonly [bytes: string, type: string | null, value: unknown])[] = [
      ['', null, null],
      ['12 02 6f6b', 'string_val', 'ok'],
      ['12 00', 'string_val', ''],
      ['18 07', 'int32_val', 7],
      ['18 ffffffffffffffffff01', 'int32_val', -1],
      ['20 07', 'int64_val', 7n],
      ['20 ffffffffffffffff7f', 'int64_val', 2n ** 63n - 1n],
      ['29 000000000000e03f', 'double_val', 0.5],
      ['35 0000003f', 'float_val', 0.5],
      ['38 01', 'bool_val', true],
      ['40 3c', 'unix_timestamp_val', 60n],
      ['62 06 0a0161 0a0162', 'string_list_val', ['a', 'b']],
      ['6a 04 0a02 0105', 'int32_list_val', [1, 5]],
      ['6a 04 08 01 08 05', 'int32_list_val', [1, 5]],
      ['8201 06 0a04 0000003f', 'float_list_val', [0.5]],
      ['9801 00', 'null_val', null],
      ['18 01 12 01 61', 'string_val', 'a'],
      ['f03f 01 18 02', 'int32_val', 2],
    ];
    for (const [bytes, type, value] of cases)
      expect(decodeValue(hex(bytes)), bytes).to.deep.equal({ type, value });
  });

  it('of a map are decoded by name, and never become a prototype', () => {
    const { value } = decodeValue(
      hex(`a201 11 0a0f 0a09 ${Buffer.from('__proto__').toString('hex')} 12 02 1801`),
    );
    expect(value).to.be.instanceOf(Map);
    expect(value).to.deep.equal(new Map([['__proto__', { type: 'int32_val', value: 1 }]]));
  });

  it('are rejected if they are cut short or too deeply nested, and any bytes terminate', () => {
    for (const bytes of ['12', '12 05 61', '29 0000', '62 7f 0a', '20 ff', '0b']) {
      expect(() => decodeValue(hex(bytes)), bytes).to.throw();
    }
    let nested = Buffer.from('1801', 'hex');
    for (let i = 0; i < 40; i++)
      nested = Buffer.concat([
        Buffer.from('d202', 'hex'),
        Buffer.from([nested.length + 2]),
        Buffer.from([0x0a, nested.length]),
        nested,
      ]);
    expect(() => decodeValue(nested)).to.throw();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeValue(bytes);
        } catch (error) {
          expect(error).to.be.instanceOf(Error);
        }
      }),
    );
  });

  it('decode to the values that protobuf encoded', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true })),
        fc.maxSafeInteger(),
        fc.string({ unit: 'binary' }),
        (list, int, string) => {
          expect(decodeValue(feastValue('double_list_val', list)).value).to.deep.equal(list);
          expect(decodeValue(feastValue('int64_val', int)).value).to.equal(BigInt(int));
          expect(decodeValue(feastValue('string_val', string)).value).to.equal(string);
        },
      ),
    );
  });

  it('include times in seconds and nanoseconds', () => {
    expect(decodeTime(hex(''))).to.equal(0);
    expect(decodeTime(hex('08 3c 10 8087a70e'))).to.equal(60_030);
    expect(decodeTime(hex('08 ffffffffffffffffff01'))).to.equal(-1000);
    expect(decodeTime(feastTime(1_772_323_200_123))).to.equal(1_772_323_200_123);
  });
});
