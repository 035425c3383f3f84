import { expect } from 'chai';
import fc from 'fast-check';
import type { JoinKeyType } from '../../../../runtime/project/config/model/feast.js';
import { EntityKeyFormat } from '../../../../runtime/state/feast/entity-key.js';

type Key = readonly [name: string, type: JoinKeyType, id: string];

function encode(version: 2 | 3, keys: readonly Key[], project = 'p'): string | undefined {
  const format = new EntityKeyFormat(
    version,
    keys.map(([name, type]) => ({ name, type })),
    project,
  );
  return format.encode(keys.map(([, , id]) => id))?.toString('hex');
}

const text = (letters: string): string => Buffer.from(letters).toString('hex');

describe("Feast's entity keys", () => {
  // The expected bytes are written by hand from the published format, field by field.
  it('encode one text, in both versions', () => {
    const value = `02000000 03000000 ${text('x-1')}`;
    expect(encode(3, [['pid', 'string', 'x-1']])).to.equal(
      `01000000 02000000 03000000 ${text('pid')} ${value} ${text('p')}`.replaceAll(' ', ''),
    );
    expect(encode(2, [['pid', 'string', 'x-1']])).to.equal(
      `02000000 ${text('pid')} ${value} ${text('p')}`.replaceAll(' ', ''),
    );
  });

  it('encode numbers, times and bytes', () => {
    const ids: readonly (readonly [JoinKeyType, string, string])[] = [
      ['int64', '258', '04000000 08000000 0201000000000000'],
      ['int64', '-2', '04000000 08000000 feffffffffffffff'],
      ['int64', '-4294967297', '04000000 08000000 fffffffffeffffff'],
      ['int64', '9007199254740993', '04000000 08000000 0100000000002000'],
      ['int64', '-9223372036854775808', '04000000 08000000 0000000000000080'],
      ['int32', '-2', '03000000 04000000 feffffff'],
      ['timestamp', '1', '08000000 08000000 0100000000000000'],
      ['bytes', '00ff', '01000000 02000000 00ff'],
    ];
    for (const [type, id, value] of ids)
      expect(encode(2, [['k', type, id]], '')).to.equal(`02000000 6b ${value}`.replaceAll(' ', ''));
  });

  it('sort several join keys by code point, whatever their order', () => {
    const expected = [
      '02000000',
      `02000000 01000000 ${text('a')}`,
      `02000000 01000000 ${text('b')}`,
      `04000000 08000000 0700000000000000`,
      `02000000 01000000 ${text('z')}`,
      text('p'),
    ];
    const keys: readonly Key[] = [
      ['b', 'string', 'z'],
      ['a', 'int64', '7'],
    ];
    expect(encode(3, keys)).to.equal(expected.join('').replaceAll(' ', ''));
    expect(encode(3, [...keys].reverse())).to.equal(encode(3, keys));
    // U+FF5E sorts before U+1F600 by code point, after it by UTF-16 code unit.
    const mixed = encode(2, [
      ['😀', 'string', '1'],
      ['～', 'string', '2'],
    ]);
    expect(mixed).to.match(new RegExp(`^02000000${text('～')}02000000${text('😀')}`));
  });

  it('exist for a view without entities', () => {
    expect(new EntityKeyFormat(2, [], 'p').encode([])?.toString('hex')).to.equal(
      `02000000${text('__dummy_id')}0200000000000000${text('p')}`,
    );
  });

  it('do not exist for ids that do not fit the type of the join key', () => {
    for (const id of [
      '',
      '1.5',
      '01',
      '+1',
      '-0',
      '1e3',
      ' 1',
      'x',
      '9223372036854775808',
      '-9223372036854775809',
    ])
      expect(encode(3, [['k', 'int64', id]]), id).to.equal(undefined);
    for (const id of ['2147483648', '-2147483649'])
      expect(encode(3, [['k', 'int32', id]]), id).to.equal(undefined);
    expect(encode(3, [['k', 'bytes', '0F']])).to.equal(undefined);
    expect(encode(3, [['k', 'string', '\ud800']])).to.equal(undefined);
  });

  it('encode every 64-bit integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        const bytes = Buffer.from(encode(2, [['k', 'int64', String(id)]], '') ?? '', 'hex');
        expect(bytes.readBigInt64LE(bytes.length - 8)).to.equal(id);
      }),
    );
  });
});
