import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject, JsonValue, ValueType } from '../../../../runtime/ground/api/types.js';
import {
  decodeEntity,
  encodeEntity,
  layoutIdOf,
} from '../../../../runtime/state/store/codec/entity-record.js';
import { RecordLayout } from '../../../../runtime/state/store/codec/record-layout.js';

const types: [string, ValueType][] = [
  ['title', { kind: 'string' }],
  ['subtitle', { kind: 'string' }],
  ['stock', { kind: 'int' }],
  ['price', { kind: 'float' }],
  ['is_new', { kind: 'bool' }],
  ['added', { kind: 'timestamp' }],
  ['embedding', { kind: 'vector', size: 3 }],
  ['brand', { kind: 'ref', entity: 'brand' }],
  ['categories', { kind: 'list', of: { kind: 'string' } }],
  ['scores', { kind: 'list', of: { kind: 'float' } }],
  ['sellers', { kind: 'list', of: { kind: 'ref', entity: 'seller' } }],
  ['size', { kind: 'record', fields: new Map<string, ValueType>([['width', { kind: 'float' }]]) }],
];
const layout = new RecordLayout(types, 'product_id');

/** Compares JSON text, which is what a client receives. */
function expectSameJson(actual: JsonObject, expected: JsonObject): void {
  expect(sorted(JSON.parse(JSON.stringify(actual)))).to.deep.equal(
    sorted(JSON.parse(JSON.stringify(expected))),
  );
}

/** As entries, so a name like __proto__ is compared like any other. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return [
    'object',
    ...Object.entries(value)
      .map(([name, inner]) => [name, sorted(inner)])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  ];
}

function roundTrip(json: JsonObject, id = 'p1', as = layout): JsonObject {
  return decodeEntity(encodeEntity(as, json, id), as, id);
}

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 5e-324, 1.7976931348623157e308, 2 ** 53 + 2, 0.1, Math.fround(0.1)),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\ud800', 'a\udfff', '😀', 'Größe', '\0'),
);
const id = fc.oneof(text, fc.constantFrom<JsonValue>('b', '7', 7), fc.maxSafeInteger());
const anyJson = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    number,
    text,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constant('__proto__')), tie('json'), {
      maxKeys: 4,
      noNullPrototype: false,
    }),
  ),
})).json;
const fitting = new Map<string, fc.Arbitrary<JsonValue>>(
  Object.entries({
    title: text,
    subtitle: text,
    stock: fc.maxSafeInteger(),
    price: number,
    is_new: fc.boolean(),
    added: fc.oneof(
      fc.integer(),
      fc.constantFrom('2026-01-31', '2026-01-31T10:00:00+02:00', '1999-12-31 23:59:59.123456'),
    ),
    embedding: fc.oneof(
      fc.tuple(number, number, number),
      fc.tuple(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.constant(1), fc.constant(-0)),
    ) as fc.Arbitrary<JsonValue>,
    brand: id,
    brand_id: id,
    categories: fc.array(text),
    scores: fc.oneof(fc.array(number), fc.array(fc.integer({ min: -9, max: 9 }))),
    sellers: fc.array(fc.oneof(fc.string({ minLength: 1 }), fc.maxSafeInteger())),
    size: fc.record({ width: number, note: anyJson }, { requiredKeys: [] }) as fc.Arbitrary<JsonValue>,
    product_id: fc.constantFrom('p1', 'other', 7),
  }),
);
const names = fc.oneof(
  fc.constantFrom(...fitting.keys(), '__proto__', 'constructor', '', 'brand_id_id'),
  text,
);
/** Objects with any mixture of valid, invalid, null, absent and undeclared attributes. */
const entity: fc.Arbitrary<JsonObject> = fc
  .array(
    names.chain((name) =>
      fc.tuple(
        fc.constant(name),
        fc.oneof(fitting.get(name) ?? anyJson, fitting.get(name) ?? anyJson, anyJson, fc.constant(null)),
      ),
    ),
    { maxLength: 14 },
  )
  .map((entries) => {
    const json = Object.create(null) as Record<string, JsonValue>;
    for (const [name, value] of entries) json[name] = value;
    return json;
  });

describe('entity records', () => {
  it('return any JSON object unchanged, with or without declared attributes', () => {
    fc.assert(
      fc.property(entity, (json) => expectSameJson(roundTrip(json), json)),
      { numRuns: 2000 },
    );
  });

  it('return any JSON object unchanged if no attribute is declared', () => {
    const empty = new RecordLayout([], 'id');
    fc.assert(fc.property(entity, (json) => expectSameJson(roundTrip(json, 'p1', empty), json)));
  });

  it('preserve every bit of a number, and negative zero in a declared attribute', () => {
    fc.assert(fc.property(number, (price) => Object.is(roundTrip({ price }).price, price)));
  });

  it('preserve an attribute named __proto__ as an attribute', () => {
    const json = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": "x"}') as JsonObject;
    const back = roundTrip(json);
    expect(Object.keys(back).sort()).to.deep.equal(['__proto__', 'constructor']);
    expect(({} as { polluted?: number }).polluted).to.equal(undefined);
    expect((back as { polluted?: number }).polluted).to.equal(undefined);
  });

  it('return a reference in the spelling that was sent', () => {
    for (const json of [
      { brand: 'b1' },
      { brand_id: 'b1' },
      { brand: 'b1', brand_id: 'b1' },
      { brand: null },
      { brand_id: null },
      { brand: null, brand_id: null },
      { brand: null, brand_id: 'b1' },
      { brand: 'b1', brand_id: null },
      { brand: 'b1', brand_id: 'b2' },
      { brand: { brand_id: 'b1' }, brand_id: 'b1' },
      { brand: '' },
      {},
    ] as JsonObject[]) {
      expectSameJson(roundTrip(json), json);
    }
  });

  it('contain the id field only if it was sent, under the same name', () => {
    expectSameJson(roundTrip({ product_id: 'p1', title: 'x' }), { product_id: 'p1', title: 'x' });
    expectSameJson(roundTrip({ id: 'p1' }), { id: 'p1' });
    expectSameJson(roundTrip({ id: 'p1', product_id: 'p2' }), { id: 'p1', product_id: 'p2' });
  });

  it('use no bytes for the id, and four for each vector element that fits float32', () => {
    const size = (json: JsonObject, id = 'p1'): number => encodeEntity(layout, json, id).length;
    const long = 'p'.repeat(500);
    expect(size({ product_id: long }, long)).to.equal(size({}));
    expect(size({ embedding: [1, 0.5, -2] }) - size({})).to.equal(12);
    expect(size({ embedding: [1, 0.1, -2] }) - size({})).to.equal(24);
  });

  it('name the layout that they were written with', () => {
    expect(layoutIdOf(encodeEntity(layout, {}, 'p1'))).to.equal(layout.hex);
    expect(layoutIdOf(Buffer.alloc(3))).to.equal(undefined);
  });

  it('do not change when the next record is encoded', () => {
    const first = encodeEntity(layout, { title: 'first' }, 'p1');
    const copy = Buffer.from(first);
    encodeEntity(layout, { title: 'x'.repeat(100_000) }, 'p2');
    encodeEntity(layout, { title: 'third' }, 'p3');
    expect(first).to.deep.equal(copy);
  });

  it('never decode to another object when they are cut short', () => {
    const whole = encodeEntity(
      layout,
      { title: 'a title', categories: ['a', 'b'], price: 2, added: '2026-01-31', colour: 'red' },
      'p1',
    );
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeEntity(whole.subarray(0, length), layout, 'p1'), String(length)).to.throw();
    }
  });
});
