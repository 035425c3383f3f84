import { expect } from 'chai';
import type { ValueType } from '../../../../runtime/ground/api/types.js';
import { RecordLayout, parseLayout } from '../../../../runtime/state/store/codec/record-layout.js';

const variant: ValueType = {
  kind: 'record',
  fields: new Map<string, ValueType>([
    ['sku', { kind: 'string' }],
    ['seller', { kind: 'ref', entity: 'seller' }],
    ['size', { kind: 'record', fields: new Map<string, ValueType>([['width', { kind: 'float' }]]) }],
  ]),
};

const fields: [string, ValueType][] = [
  ['title', { kind: 'string' }],
  ['stock', { kind: 'int' }],
  ['price', { kind: 'float' }],
  ['is_new', { kind: 'bool' }],
  ['added', { kind: 'timestamp' }],
  ['embedding', { kind: 'vector', size: 3 }],
  ['brand', { kind: 'ref', entity: 'brand' }],
  ['categories', { kind: 'list', of: { kind: 'string' } }],
  ['sellers', { kind: 'list', of: { kind: 'ref', entity: 'seller' } }],
  ['dimensions', variant],
  ['variants', { kind: 'list', of: variant }],
];

describe('layouts', () => {
  it('survive a round trip through their text, with every type', () => {
    const layout = new RecordLayout(fields, 'product_id');
    const again = parseLayout(layout.text);
    expect(again.hex).to.equal(layout.hex);
    expect(again.fields).to.deep.equal(layout.fields);
    expect(again.key).to.equal('product_id');
    expect(again.fixedSize).to.equal(layout.fixedSize);
  });

  it('do not depend on the order of the attributes', () => {
    expect(new RecordLayout([...fields].reverse(), 'product_id').hex).to.equal(
      new RecordLayout(fields, 'product_id').hex,
    );
  });

  it('differ if a name, a type, an argument of a type or the key differs', () => {
    const of = (type: ValueType, key: string | undefined = 'id', name = 'a'): string =>
      new RecordLayout([[name, type]], key).hex;
    const ids = [
      of({ kind: 'int' }),
      of({ kind: 'float' }),
      of({ kind: 'vector', size: 2 }),
      of({ kind: 'vector', size: 3 }),
      of({ kind: 'ref', entity: 'brand' }),
      of({ kind: 'ref', entity: 'user' }),
      of({ kind: 'list', of: { kind: 'string' } }),
      of({ kind: 'int' }, 'other'),
      of({ kind: 'int' }, 'id', 'b'),
      new RecordLayout([['a', { kind: 'int' }]], undefined).hex,
    ];
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('have stable ids across versions', () => {
    // Stored records contain this id: a change makes stored data unreadable.
    expect(new RecordLayout([['price', { kind: 'float' }]], 'product_id').text).to.equal(
      '{"format":1,"key":"product_id","fields":[["price","float"]]}',
    );
    expect(new RecordLayout([['price', { kind: 'float' }]], 'product_id').hex).to.equal('91761fb422336bc5');
  });

  it('have no second spelling of a reference if another field has that name', () => {
    const spelling = (more: [string, ValueType][], key: string): string | undefined =>
      new RecordLayout([['brand', { kind: 'ref', entity: 'brand' }], ...more], key).byName.get('brand')
        ?.alternative;
    expect(spelling([], 'product_id')).to.equal('brand_id');
    expect(spelling([], 'brand_id')).to.equal(undefined);
    expect(spelling([['brand_id', { kind: 'string' }]], 'product_id')).to.equal(undefined);
  });

  it('reject a text that is not a layout or has a later format', () => {
    for (const text of [
      'null',
      '{}',
      '{"format":2,"key":null,"fields":[]}',
      '{"format":1,"key":null}',
      '{"format":1,"key":null,"fields":[["a"]]}',
      '{"format":1,"key":null,"fields":[["a","complex"]]}',
      '{"format":1,"key":null,"fields":[["a",["vector",0]]]}',
      '{"format":1,"key":null,"fields":[["a",["list","int"]]]}',
      '{"format":1,"key":null,"fields":[[1,"int"]]}',
    ]) {
      expect(() => parseLayout(text), text).to.throw();
    }
  });
});
