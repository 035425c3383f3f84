import { expect } from 'chai';
import fc from 'fast-check';
import type { Column } from '../../../../runtime/ground/api/columns.js';
import { Status, statusName } from '../../../../runtime/ground/api/status.js';
import type { JsonObject, JsonValue, ValueType } from '../../../../runtime/ground/api/types.js';
import { columnKindOf } from '../../../../runtime/language/frame/cells.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import { EntityDecoder } from '../../../../runtime/state/store/codec/entity-decoder.js';
import { encodeEntity } from '../../../../runtime/state/store/codec/entity-record.js';
import { KnownLayouts } from '../../../../runtime/state/store/codec/known-layouts.js';
import { RecordLayout } from '../../../../runtime/state/store/codec/record-layout.js';
import { placed } from '../../../support/placed-record.js';

const INT: ValueType = { kind: 'int' };
const FLOAT: ValueType = { kind: 'float' };
const BOOL: ValueType = { kind: 'bool' };
const STRING: ValueType = { kind: 'string' };
const TIME: ValueType = { kind: 'timestamp' };
const REF: ValueType = { kind: 'ref', entity: 'brand' };
const STRINGS: ValueType = { kind: 'list', of: { kind: 'string' } };
const FLOATS: ValueType = { kind: 'list', of: { kind: 'float' } };
const REFS: ValueType = { kind: 'list', of: { kind: 'ref', entity: 'brand' } };
const VECTOR: ValueType = { kind: 'vector', size: 2 };
const VARIANTS: ValueType = {
  kind: 'list',
  of: {
    kind: 'record',
    fields: new Map<string, ValueType>([
      ['sku', STRING],
      ['seller', REF],
      ['price', FLOAT],
      ['tags', STRINGS],
    ]),
  },
};
const SIZE: ValueType = {
  kind: 'record',
  fields: new Map<string, ValueType>([
    ['width', FLOAT],
    ['box', { kind: 'record', fields: new Map([['depth', INT]]) }],
    ['maker', REF],
  ]),
};

interface Want {
  readonly path: string;
  readonly type: ValueType;
  readonly list?: boolean;
}

/** The value of a cell, or the name of its status if it has none. */
function cell(column: Column, row: number): JsonValue {
  const status = column.status[row] ?? Status.absent;
  if (status !== Status.present) return statusName(status);
  switch (column.kind) {
    case 'number':
      return column.values[row] ?? null;
    case 'text':
      return column.values[row] ?? null;
    case 'texts':
      return column.values.slice(column.offsets[row], column.offsets[row + 1]);
    case 'numbers':
      return Array.from(column.values.slice(column.offsets[row], column.offsets[row + 1]), (n) =>
        Number.isNaN(n) ? null : n,
      );
    case 'vector':
      return [...column.values.slice(row * column.size, (row + 1) * column.size)];
  }
}

function columnsOf(wants: readonly Want[], rows: number): Column[] {
  return wants.map(({ type, list = false }) => {
    const kind = columnKindOf(type, list);
    if (kind === undefined) throw new Error('no column');
    if (kind !== 'vector') return looseColumn({ kind, scope: 'candidate' }, rows);
    return looseColumn({ kind, scope: 'candidate', size: type.kind === 'vector' ? type.size : 0 }, rows);
  });
}

function decoderOf(wants: readonly Want[], known: KnownLayouts): EntityDecoder {
  return new EntityDecoder(
    wants.map(({ path, type, list = false }) => ({ path: path.split('.'), type, list })),
    known,
  );
}

/** Decodes entities of one layout, one in each row. */
function decode(
  declared: readonly (readonly [string, ValueType])[],
  wants: readonly Want[],
  entities: readonly (JsonObject | null)[],
): JsonValue[][] {
  const known = new KnownLayouts();
  const layout = known.add(new RecordLayout(declared, 'product_id'));
  const decoder = decoderOf(wants, known);
  const columns = columnsOf(wants, entities.length);
  entities.forEach((json, row) =>
    decoder.decode(...placed(json && encodeEntity(layout, json, 'p')), columns, row),
  );
  return entities.map((_, row) => columns.map((column) => cell(column, row)));
}

/** Decodes one attribute of the type `declared` (or undeclared) into a column of the type `wanted`. */
function read(json: JsonObject, declared: ValueType | undefined, wanted: ValueType, name = 'a'): JsonValue {
  const fields: [string, ValueType][] = declared === undefined ? [] : [[name, declared]];
  return decode(fields, [{ path: name, type: wanted }], [json])[0]?.[0] ?? null;
}

describe('the entity decoder', () => {
  it('reads lists of numbers of any length, without rounding', () => {
    const lists = [[], [1], [0.5, -2, 3], [0.1], [1e300, -0], Array.from({ length: 5000 }, (_, i) => i / 7)];
    const wants = [{ path: 'n', type: FLOATS }];
    const rows = decode([['n', FLOATS]], wants, [
      ...lists.map((n) => ({ n })),
      {},
      { n: null },
      { n: ['x'] },
    ]);
    expect(rows).to.deep.equal([...lists, 'absent', 'null', 'failed'].map((one) => [one]));
  });

  it('reads a list of numbers whose declaration is new or another one', () => {
    expect(read({ a: [1, 2.5] }, undefined, FLOATS)).to.deep.equal([1, 2.5]);
    expect(read({ a: [1, 2] }, VECTOR, FLOATS)).to.deep.equal([1, 2]);
    expect(read({ a: [1, 2] }, FLOATS, VECTOR)).to.deep.equal([1, 2]);
    expect(read({ a: [1, 2, 3] }, FLOATS, VECTOR)).to.equal('failed');
    expect(read({ a: [1, 2] }, FLOATS, STRINGS)).to.equal('failed');
    expect(read({ a: ['1'] }, STRINGS, FLOATS)).to.equal('failed');
  });

  it('refuses damaged bytes of a list of numbers', () => {
    const known = new KnownLayouts();
    const layout = known.add(new RecordLayout([['n', FLOATS]], 'product_id'));
    const decoder = decoderOf([{ path: 'n', type: FLOATS }], known);
    const record = encodeEntity(layout, { n: [0.1, 0.2] }, 'p');
    const at = record.indexOf(8, record.length - 18);
    for (const width of [0, 3, 5, 255]) {
      const damaged = Buffer.from(record);
      damaged[at] = width;
      const columns = columnsOf([{ path: 'n', type: FLOATS }], 1);
      decoder.decode(...placed(damaged), columns, 0);
      expect(
        columns.map((column) => cell(column, 0)),
        `width ${width}`,
      ).to.deep.equal(['failed']);
    }
  });

  it('reads every type into its column', () => {
    const declared: [string, ValueType][] = [
      ['i', INT],
      ['f', FLOAT],
      ['b', BOOL],
      ['s', STRING],
      ['t', TIME],
      ['r', REF],
      ['l', STRINGS],
      ['v', VECTOR],
    ];
    const wants = declared.map(([path, type]) => ({ path, type }));
    const rows = decode(declared, wants, [
      {
        i: -3,
        f: 0.1,
        b: true,
        s: 'Größe',
        t: '1970-01-01T00:00:01Z',
        r: 'b1',
        l: ['x', '', 'é'],
        v: [1, 0.5],
      },
      null,
      {},
      { i: null, f: null, b: null, s: null, t: null, r: null, l: null, v: null },
      { i: 0, f: -0, b: false, s: '', t: 0, r_id: '0', l: [], v: [0.1, 2] },
    ]);
    expect(rows).to.deep.equal([
      [-3, 0.1, 1, 'Größe', 1000, 'b1', ['x', '', 'é'], [1, 0.5]],
      Array(8).fill('missing_entity'),
      Array(8).fill('absent'),
      Array(8).fill('null'),
      [0, -0, 0, '', 0, '0', [], [0.1, 2]],
    ]);
  });

  it('writes only wanted columns, and does not change other rows', () => {
    const rows = decode(
      [
        ['a', INT],
        ['b', INT],
        ['c', STRINGS],
      ],
      [
        { path: 'c', type: STRINGS },
        { path: 'b', type: INT },
      ],
      [
        { a: 1, b: 2, c: ['x'] },
        { a: 1, c: ['y', 'z'] },
        { a: 1, b: 4 },
      ],
    );
    expect(rows).to.deep.equal([
      [['x'], 2],
      [['y', 'z'], 'absent'],
      ['absent', 4],
    ]);
  });

  it('can write the latest row of a list column again', () => {
    const known = new KnownLayouts();
    const layout = known.add(new RecordLayout([['l', STRINGS]], 'id'));
    const wants = [{ path: 'l', type: STRINGS }];
    const decoder = decoderOf(wants, known);
    const columns = columnsOf(wants, 2);
    decoder.decode(...placed(encodeEntity(layout, { l: ['a', 'b'] }, 'p')), columns, 0);
    decoder.decode(...placed(encodeEntity(layout, { l: ['c'] }, 'p')), columns, 0);
    decoder.decode(...placed(encodeEntity(layout, { l: ['d'] }, 'p')), columns, 1);
    expect([0, 1].map((row) => cell(columns[0] as Column, row))).to.deep.equal([['c'], ['d']]);
  });

  it('reads fields of inline records', () => {
    const wants = [
      { path: 'size.width', type: FLOAT },
      { path: 'size.box.depth', type: INT },
      { path: 'size.maker', type: REF },
    ];
    expect(
      decode([['size', SIZE]], wants, [
        { size: { width: 2, box: { depth: 3 }, maker_id: 'm' } },
        { size: { width: null, box: null, maker: 'n' } },
        { size: {} },
        { size: null },
        {},
      ]),
    ).to.deep.equal([
      [2, 3, 'm'],
      ['null', 'null', 'n'],
      ['absent', 'absent', 'absent'],
      ['null', 'null', 'null'],
      ['absent', 'absent', 'absent'],
    ]);
  });

  it('reads a path through a list as one element for each record, so columns of the list are aligned', () => {
    const wants = [
      { path: 'variants.seller', type: REF, list: true },
      { path: 'variants.price', type: FLOAT, list: true },
      { path: 'variants.tags', type: STRINGS, list: true },
    ];
    expect(
      decode([['variants', VARIANTS]], wants, [
        {
          variants: [
            { seller: 's1', price: 1, tags: ['a', 'b'] },
            { seller_id: 's2' },
            { price: null, tags: [] },
          ],
        },
        { variants: [] },
        { variants: null },
        {},
        { variants: [{ seller: 's3', price: 4, tags: ['c'] }] },
      ]),
    ).to.deep.equal([
      [
        ['s1', 's2', ''],
        [1, null, null],
        ['a', 'b', ''],
      ],
      [[], [], []],
      ['null', 'null', 'null'],
      ['absent', 'absent', 'absent'],
      [['s3'], [4], ['c']],
    ]);
  });

  it('reads an attribute that was stored before it was declared', () => {
    expect(read({ a: 7 }, undefined, INT)).to.equal(7);
    expect(read({ a: 'x' }, undefined, STRING)).to.equal('x');
    expect(read({ a: true }, undefined, BOOL)).to.equal(1);
    expect(read({ a: '2026-01-31' }, undefined, TIME)).to.equal(Date.UTC(2026, 0, 31));
    expect(read({ a: ['x'] }, undefined, STRINGS)).to.deep.equal(['x']);
    expect(read({ a: [1, 2] }, undefined, VECTOR)).to.deep.equal([1, 2]);
    expect(read({ brand: 'b' }, undefined, REF, 'brand')).to.equal('b');
    expect(read({ brand_id: 'b' }, undefined, REF, 'brand')).to.equal('b');
    expect(read({ a: null }, undefined, INT)).to.equal('null');
    expect(read({ b: 1 }, undefined, INT)).to.equal('absent');
  });

  it('marks stored values that do not fit as failed', () => {
    expect(read({ a: 'x' }, undefined, INT)).to.equal('failed');
    expect(read({ a: 1.5 }, undefined, INT)).to.equal('failed');
    expect(read({ a: 1 }, undefined, BOOL)).to.equal('failed');
    expect(read({ a: [1] }, undefined, VECTOR)).to.equal('failed');
    expect(read({ a: ['x', 1] }, undefined, STRINGS)).to.equal('failed');
    expect(read({ a: 5.5 }, undefined, REF)).to.equal('failed');
    expect(read({ a: 5 }, undefined, STRING)).to.equal('failed');
    expect(read({ a: {} }, undefined, STRING)).to.equal('failed');
    expect(read({ a: 'x' }, INT, INT)).to.equal('failed');
    expect(read({ a: 'x' }, BOOL, BOOL)).to.equal('failed');
    expect(read({ a: 1 }, STRING, STRING)).to.equal('failed');
    expect(read({ a: 'never' }, TIME, TIME)).to.equal('failed');
    expect(read({ a: [1, 2, 3] }, VECTOR, VECTOR)).to.equal('failed');
    expect(read({ a: [1, 1e300] }, VECTOR, VECTOR)).to.equal('failed');
    expect(read({ a: 'x' }, STRINGS, STRINGS)).to.equal('failed');
    expect(read({ brand: 'b1', brand_id: 'b2' }, REF, REF, 'brand')).to.equal('failed');
    expect(
      decode([['size', SIZE]], [{ path: 'size.width', type: FLOAT }], [{ size: { width: 'x' } }]),
    ).to.deep.equal([['failed']]);
    expect(decode([], [{ path: 'size.width', type: FLOAT }], [{ size: 3 }])).to.deep.equal([['failed']]);
    expect(
      decode([], [{ path: 'v.price', type: FLOAT, list: true }], [{ v: [{ price: 'x' }] }, { v: 4 }]),
    ).to.deep.equal([['failed'], ['failed']]);
  });

  it('converts between types if no information is lost', () => {
    expect(read({ a: 3 }, INT, FLOAT)).to.equal(3);
    expect(read({ a: 3 }, FLOAT, INT)).to.equal(3);
    expect(read({ a: 3.5 }, FLOAT, INT)).to.equal('failed');
    expect(read({ a: 'b' }, STRING, REF)).to.equal('b');
    expect(read({ a: '' }, STRING, REF)).to.equal('failed');
    expect(read({ a: 'b' }, REF, STRING)).to.equal('b');
    expect(read({ a: 5 }, INT, REF)).to.equal('5');
    expect(read({ a: 5 }, REF, REF)).to.equal('5');
    expect(read({ a: 5 }, REF, STRING)).to.equal('5');
    expect(read({ a: ['b', 5] }, REFS, REFS)).to.deep.equal(['b', '5']);
    expect(read({ a: ['b', 5] }, undefined, REFS)).to.deep.equal(['b', '5']);
    expect(read({ a: ['b'] }, REFS, STRINGS)).to.deep.equal(['b']);
    expect(read({ a: ['b'] }, STRINGS, REFS)).to.deep.equal(['b']);
    expect(read({ a: [''] }, STRINGS, REFS)).to.equal('failed');
    expect(read({ a: 1000 }, INT, TIME)).to.equal(1000);
    expect(read({ a: '2026-01-31' }, STRING, TIME)).to.equal(Date.UTC(2026, 0, 31));
    expect(read({ a: '2026-01-31' }, TIME, STRING)).to.equal('2026-01-31');
    expect(read({ a: 5 }, TIME, INT)).to.equal(5);
    expect(read({ a: true }, BOOL, INT)).to.equal('failed');
    expect(read({ a: [1, 2] }, VECTOR, { kind: 'vector', size: 3 })).to.equal('failed');
    expect(read({ a: null }, INT, STRING)).to.equal('null');
    expect(read({}, INT, STRING)).to.equal('absent');
  });

  it('reads a reference that is declared with its other spelling', () => {
    const wants = [{ path: 'brand', type: REF }];
    expect(decode([['brand_id', STRING]], wants, [{ brand_id: 'b1' }, {}])).to.deep.equal([
      ['b1'],
      ['absent'],
    ]);
    expect(
      decode([['brand', REF]], [{ path: 'brand_id', type: STRING }], [{ brand_id: 'b1' }]),
    ).to.deep.equal([['b1']]);
  });

  it('reads a text with a lone surrogate as U+FFFD', () => {
    expect(read({ a: 'x\ud800' }, STRING, STRING)).to.equal('x\ufffd');
  });

  it('reads records of older and newer layouts together, and requests unknown layouts', () => {
    const known = new KnownLayouts();
    const old = new RecordLayout([['price', INT]], 'id');
    const now = known.add(
      new RecordLayout(
        [
          ['price', FLOAT],
          ['title', STRING],
        ],
        'id',
      ),
    );
    const later = new RecordLayout(
      [
        ['price', FLOAT],
        ['title', STRING],
        ['colour', STRING],
      ],
      'id',
    );
    const wants = [
      { path: 'price', type: FLOAT },
      { path: 'title', type: STRING },
    ];
    const decoder = decoderOf(wants, known);
    const records = [
      encodeEntity(old, { price: 1, title: 'old' }, 'p'),
      encodeEntity(now, { price: 2.5, title: 'now' }, 'p'),
      encodeEntity(later, { price: 3.5, title: 'later', colour: 'red' }, 'p'),
      encodeEntity(old, { price: 4 }, 'p'),
    ];
    const missing = new Set<string>();
    for (const record of records) decoder.missingLayouts(...placed(record), missing);
    expect(missing).to.deep.equal(new Set([old.hex, later.hex]));
    const columns = columnsOf(wants, records.length);
    decoder.decode(...placed(records[0] ?? null), columns, 0);
    expect(columns.map((column) => cell(column, 0))).to.deep.equal(['failed', 'failed']);
    known.add(old);
    known.add(later);
    records.forEach((record, row) => decoder.decode(...placed(record), columns, row));
    expect(records.map((_, row) => columns.map((column) => cell(column, row)))).to.deep.equal([
      [1, 'old'],
      [2.5, 'now'],
      [3.5, 'later'],
      [4, 'absent'],
    ]);
    const after = new Set<string>();
    for (const record of records) decoder.missingLayouts(...placed(record), after);
    expect(after.size).to.equal(0);
  });

  it('marks the row of a damaged record as failed, and never throws', () => {
    const known = new KnownLayouts();
    const declared: [string, ValueType][] = [
      ['s', STRING],
      ['l', STRINGS],
      ['v', VECTOR],
      ['n', FLOAT],
      ['size', SIZE],
    ];
    const layout = known.add(new RecordLayout(declared, 'id'));
    const wants = [
      ...declared.slice(0, 4).map(([path, type]) => ({ path, type })),
      { path: 'size.width', type: FLOAT },
      { path: 'colour', type: STRING },
    ];
    const decoder = decoderOf(wants, known);
    const json = { s: 'text', l: ['a', 'b'], v: [1, 2], n: 3, size: { width: 4 }, colour: 'red' };
    const whole = encodeEntity(layout, json, 'p');
    const columns = columnsOf(wants, 1);
    for (let length = 0; length < whole.length; length++) {
      decoder.missingLayouts(...placed(whole.subarray(0, length)), new Set());
      decoder.decode(...placed(whole.subarray(0, length)), columns, 0);
      expect(
        columns.some((column) => cell(column, 0) === 'failed'),
        String(length),
      ).to.equal(true);
    }
    fc.assert(
      fc.property(fc.nat(whole.length - 9), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const damaged = Buffer.from(whole);
        damaged[at + 8] = byte;
        decoder.decode(...placed(damaged), columns, 0);
      }),
      { numRuns: 500 },
    );
  });
});
