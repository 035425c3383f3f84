import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import type { JsonObject, JsonValue, ValueType } from '../../../../runtime/ground/api/types.js';
import { EntityIndex } from '../../../../runtime/state/index/entity-index.js';
import { entityKey } from '../../../../runtime/state/store/keys.js';
import { KnownLayouts } from '../../../../runtime/state/store/codec/known-layouts.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import { entityType } from '../../../support/entity-types.js';
import { MemoryStore } from '../../../support/memory-store.js';

const TYPES = [
  entityType('product', {
    title: { kind: 'string' },
    stock: { kind: 'int' },
    price: { kind: 'float' },
    added: { kind: 'timestamp' },
    brand: { kind: 'ref', entity: 'brand' },
    embedding: { kind: 'vector', size: 2 },
    categories: { kind: 'list', of: { kind: 'string' } },
    variants: {
      kind: 'list',
      of: { kind: 'record', fields: new Map<string, ValueType>([['price', { kind: 'float' }]]) },
    },
  }),
  entityType('brand', { name: { kind: 'string' } }),
  entityType('query', {}, 'query'),
];

interface Bench {
  readonly store: MemoryStore;
  readonly index: EntityIndex;
}

function bench(store = new MemoryStore(), types = TYPES): Bench {
  const index = new EntityIndex({
    store,
    layouts: new LayoutRegistry(store, 'm', new KnownLayouts()),
    prefix: 'm',
    types: new Map(types.map((type) => [type.name, type])),
  });
  return { store, index };
}

async function failure(attempt: Promise<unknown>): Promise<MillraceError> {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  if (!(error instanceof MillraceError)) throw new Error(`expected a MillraceError, got ${String(error)}`);
  return error;
}

/** Returns the pointers and codes of an upload's violations, and checks that nothing was stored. */
async function violations(entities: unknown, more: JsonObject = {}): Promise<string[]> {
  const { store, index } = bench();
  const error = await failure(index.upload({ entity_type: 'product', entities, ...more }));
  expect(error.code).to.equal('invalid_body');
  expect(store.records.size).to.equal(0);
  return error.violations.map(({ pointer, code }) => `${pointer} ${code}`);
}

const product = (more: JsonObject = {}): JsonObject => ({ product_id: 'p1', ...more });

describe('the entity index', () => {
  it('returns uploaded entities, and null for unknown ones', async () => {
    const { index } = bench();
    const entity = product({
      title: 'A',
      stock: 0,
      brand_id: 'b',
      added: '2026-01-31',
      colour: { rgb: [1, 2, 3] },
      price: null,
    });
    expect(await index.upload({ entity_type: 'product', entities: [entity] })).to.deep.equal({
      entity_type: 'product',
      entity_ids: ['p1'],
    });
    const answer = await index.get({ entity_type: 'product', entity_ids: ['p2', 'p1', 'p1'] });
    expect(answer.entity_type).to.equal('product');
    expect(JSON.parse(JSON.stringify(answer.entities))).to.deep.equal({ p1: entity, p2: null });
  });

  it('replaces an entity as a whole', async () => {
    const { index } = bench();
    await index.upload({ entity_type: 'product', entities: [product({ title: 'A', colour: 'red' })] });
    await index.upload({ entity_type: 'product', entities: [product({ price: 1 })] });
    const { entities } = await index.get({ entity_type: 'product', entity_ids: ['p1'] });
    expect({ ...entities.p1 }).to.deep.equal({ product_id: 'p1', price: 1 });
  });

  it('keeps entities of different types with the same id apart', async () => {
    const { index } = bench();
    await index.upload({ entity_type: 'product', entities: [{ product_id: '1', title: 'a product' }] });
    await index.upload({ entity_type: 'brand', entities: [{ brand_id: '1', name: 'a brand' }] });
    await index.remove({ entity_type: 'product', entity_ids: ['1'] });
    const { entities } = await index.get({ entity_type: 'brand', entity_ids: ['1'] });
    expect({ ...entities['1'] }).to.deep.equal({ brand_id: '1', name: 'a brand' });
  });

  it('takes the id from another field, by entity_key or by the type', async () => {
    const { index } = bench();
    const entity = { id: 'x', product_id: 'not the id', title: 'A' };
    await index.upload({ entity_type: 'product', entities: [entity], entity_key: 'id' });
    await index.upload({
      entity_type: 'query',
      entities: [{ query: 'red shoes', volume: 5 }],
      entity_key: null,
    });
    const products = await index.get({ entity_type: 'product', entity_ids: ['x', 'not the id'] });
    expect(JSON.parse(JSON.stringify(products.entities))).to.deep.equal({ x: entity, 'not the id': null });
    const queries = await index.get({ entity_type: 'query', entity_ids: ['red shoes'] });
    expect({ ...queries.entities['red shoes'] }).to.deep.equal({ query: 'red shoes', volume: 5 });
  });

  it("adds the type's key if the id came from another field, unless the entity carries that key", async () => {
    const { index } = bench();
    const entities = [
      { code: 'b1', name: 'Fleet' },
      { code: 7, name: 'Hill' },
      { code: 'b2', brand_id: 17 },
    ];
    await index.upload({ entity_type: 'brand', entities, entity_key: 'code' });
    const answer = await index.get({ entity_type: 'brand', entity_ids: ['b1', 7, 'b2'] });
    expect(JSON.parse(JSON.stringify(answer.entities))).to.deep.equal({
      b1: { code: 'b1', brand_id: 'b1', name: 'Fleet' },
      7: { code: 7, brand_id: '7', name: 'Hill' },
      b2: { code: 'b2', brand_id: 17 },
    });
  });

  it('accepts whole numbers as ids, and returns what was sent', async () => {
    const { index, store } = bench();
    const sent = [
      { product_id: 7, brand: 3 },
      { product_id: '007', brand_id: 3 },
      { product_id: 8, brand: 3, brand_id: 3 },
      { product_id: 9, brand: 3, brand_id: '3' },
      { product_id: 10, brand: '3', brand_id: 3 },
      { product_id: 11, brand: null, brand_id: 3 },
    ];
    expect(await index.upload({ entity_type: 'product', entities: sent })).to.deep.equal({
      entity_type: 'product',
      entity_ids: ['7', '007', '8', '9', '10', '11'],
    });
    const { entities } = await index.get({
      entity_type: 'product',
      entity_ids: [7, '7', '007', 8, 9, 10, 11],
    });
    expect(JSON.parse(JSON.stringify(entities))).to.deep.equal(
      Object.fromEntries(sent.map((one) => [String(one.product_id), one])),
    );
    expect(await violations([{ product_id: 1, brand: 3, brand_id: 4 }])).to.deep.equal([
      '/entities/0/brand_id conflicting_reference',
    ]);
    expect(await index.remove({ entity_type: 'product', entity_ids: [7, '007'] })).to.deep.equal({
      entity_type: 'product',
      entity_ids: ['7', '007'],
    });
    expect(store.records.has(entityKey('m', 'product', '7'))).to.equal(false);
  });

  it('stores the last entity with an id, and counts the others', async () => {
    const { index } = bench();
    const entities = [
      product({ title: 'first' }),
      { product_id: 7, price: 1 },
      product({ title: 'second' }),
      { product_id: '7', price: 2 },
      product({ title: 'last' }),
    ];
    expect(await index.upload({ entity_type: 'product', entities })).to.deep.equal({
      entity_type: 'product',
      entity_ids: ['p1', '7'],
      duplicates: 3,
    });
    const answer = await index.get({ entity_type: 'product', entity_ids: ['p1', '7'] });
    expect(JSON.parse(JSON.stringify(answer.entities))).to.deep.equal({
      p1: product({ title: 'last' }),
      7: { product_id: '7', price: 2 },
    });
    // All or nothing: an entity that a later one replaces is checked too.
    expect(await violations([product({ price: 'x' }), product()])).to.deep.equal([
      '/entities/0/price wrong_type',
    ]);
  });

  it('accepts no entities and no ids, and a thousand of them', async () => {
    const { index, store } = bench();
    expect(await index.upload({ entity_type: 'product', entities: [] })).to.deep.equal({
      entity_type: 'product',
      entity_ids: [],
    });
    expect(store.records.size).to.equal(0);
    expect((await index.remove({ entity_type: 'product', entity_ids: [] })).entity_ids).to.deep.equal([]);
    expect((await index.get({ entity_type: 'product', entity_ids: [] })).entities).to.deep.equal(
      Object.create(null),
    );
    const ids = Array.from({ length: 1000 }, (_, i) => `p${String(i)}`);
    const entities = ids.map((id) => ({ product_id: id }));
    expect((await index.upload({ entity_type: 'product', entities })).entity_ids).to.deep.equal(ids);
    expect(
      Object.keys((await index.get({ entity_type: 'product', entity_ids: ids })).entities).length,
    ).to.equal(1000);
  });

  it('deletes entities, and echoes unknown ids', async () => {
    const { index } = bench();
    await index.upload({ entity_type: 'product', entities: [product()] });
    const answer = await index.remove({ entity_type: 'product', entity_ids: ['p1', 'ghost'] });
    expect(answer).to.deep.equal({ entity_type: 'product', entity_ids: ['p1', 'ghost'] });
    expect((await index.get({ entity_type: 'product', entity_ids: ['p1'] })).entities.p1).to.equal(null);
  });

  it('works with ids that are names of Object.prototype', async () => {
    const { index } = bench();
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    await index.upload({
      entity_type: 'product',
      entities: ids.map((id) => ({ product_id: id, title: id })),
    });
    const { entities } = await index.get({ entity_type: 'product', entity_ids: [...ids, 'valueOf'] });
    expect(Object.keys(entities)).to.deep.equal([...ids, 'valueOf']);
    for (const id of ids) expect(entities[id]?.title).to.equal(id);
    expect(Object.values(entities).at(-1)).to.equal(null);
    expect(({} as { title?: string }).title).to.equal(undefined);
  });

  it('reports each wrong attribute with its pointer, and stores nothing', async () => {
    expect(
      await violations([
        product({ stock: 1.5, price: '12', added: 'soon', brand: { brand_id: 'b' } }),
        {
          product_id: 'p2',
          embedding: [1],
          categories: ['a', 3],
          variants: [{}, { price: false }],
          'a/b~c': 1,
        },
      ]),
    ).to.deep.equal([
      '/entities/0/stock wrong_type',
      '/entities/0/price wrong_type',
      '/entities/0/added wrong_type',
      '/entities/0/brand wrong_type',
      '/entities/1/embedding wrong_type',
      '/entities/1/categories/1 wrong_type',
      '/entities/1/variants/1/price wrong_type',
    ]);
  });

  it('rejects missing and invalid ids', async () => {
    expect(
      await violations([
        {},
        { product_id: 1.5 },
        { product_id: '' },
        { product_id: 'a\ud800' },
        { product_id: 'x'.repeat(1025) },
        { product_id: null },
        product(),
        'p1',
        null,
        [],
      ]),
    ).to.deep.equal([
      '/entities/0 missing_id',
      '/entities/1/product_id invalid_id',
      '/entities/2/product_id invalid_id',
      '/entities/3/product_id invalid_id',
      '/entities/4/product_id invalid_id',
      '/entities/5/product_id invalid_id',
      '/entities/7 wrong_type',
      '/entities/8 wrong_type',
      '/entities/9 wrong_type',
    ]);
  });

  it('rejects numbers that are too large, reserved names and deep nesting anywhere', async () => {
    let deep: JsonValue = 1;
    for (let i = 0; i < 5000; i++) deep = [deep];
    const polluted = JSON.parse('{"product_id":"p2","__proto__":{"x":1}}') as JsonObject;
    const inner = JSON.parse('{"product_id":"p3","a":{"b":[{"__proto__":1}]}}') as JsonObject;
    const large = JSON.parse('{"product_id":"p4","price":1e400,"a/b":{"~":[-1e999]}}') as JsonObject;
    expect(await violations([polluted, inner, large, { product_id: 'p5', deep }])).to.satisfy(
      (found: string[]) => {
        expect(found.slice(0, 4)).to.deep.equal([
          '/entities/0/__proto__ reserved_name',
          '/entities/1/a/b/0/__proto__ reserved_name',
          '/entities/2/price number_too_large',
          '/entities/2/a~1b/~0/0 number_too_large',
        ]);
        expect(found[4]).to.match(/^\/entities\/3\/deep(\/0)+ too_deep$/);
        return found.length === 5;
      },
    );
  });

  it('accepts either spelling of a reference, and rejects two that differ', async () => {
    const { index } = bench();
    const same = [
      { product_id: 'a', brand: 'b' },
      { product_id: 'b', brand_id: 'b' },
      { product_id: 'c', brand: 'b', brand_id: 'b' },
      { product_id: 'd', brand: null, brand_id: 'b' },
    ];
    await index.upload({ entity_type: 'product', entities: same });
    const { entities } = await index.get({ entity_type: 'product', entity_ids: ['a', 'b', 'c', 'd'] });
    expect(JSON.parse(JSON.stringify(Object.values(entities)))).to.deep.equal(same);
    expect(await violations([{ product_id: 'e', brand: 'b', brand_id: 'c' }])).to.deep.equal([
      '/entities/0/brand_id conflicting_reference',
    ]);
    expect(await violations([{ product_id: 'e', brand_id: 5.5 }])).to.deep.equal([
      '/entities/0/brand_id wrong_type',
    ]);
  });

  it('lists fifty violations and counts all of them', async () => {
    const { index } = bench();
    const entities = Array.from({ length: 300 }, (_, i) => ({ product_id: `p${String(i)}`, price: 'x' }));
    const error = await failure(index.upload({ entity_type: 'product', entities }));
    expect(error.violations.length).to.equal(50);
    expect(error.message).to.contain('300').and.to.contain('50');
  });

  it('never quotes a whole entity in a message', async () => {
    const { index } = bench();
    const secret = 's'.repeat(5000);
    const error = await failure(
      index.upload({
        entity_type: 'product',
        entities: [{ product_id: 5, price: secret, added: { secret }, [secret]: Infinity }],
      }),
    );
    const shown = error.message + error.violations.map(({ detail }) => detail).join('');
    expect(shown.length).to.be.lessThan(1000);
  });

  it('rejects bodies of another shape with the expected shape', async () => {
    const { index } = bench();
    for (const body of [
      undefined,
      null,
      5,
      'x',
      [],
      {},
      { entities: [] },
      { entity_type: 5, entities: [] },
      { entity_type: 'product' },
    ]) {
      const error = await failure(index.upload(body));
      expect(error.code, JSON.stringify(body)).to.equal('invalid_body');
      expect(error.violations.length).to.be.greaterThan(0);
    }
    const polluted = JSON.parse('{"__proto__": {"entity_type": "product", "entities": []}}') as unknown;
    expect((await failure(index.upload(polluted))).code).to.equal('invalid_body');
    expect(await violations({ length: 1 })).to.deep.equal(['/entities wrong_type']);
    expect(await violations(Array(1001).fill(product()))).to.deep.equal(['/entities too_many']);
    expect(await violations([product()], { entity_key: 5 })).to.include('/entity_key wrong_type');
    for (const ids of [Array(1001).fill('p'), [5.5], [-0], [2 ** 53], ['\ud800'], [''], 'p1', undefined]) {
      for (const attempt of [index.get.bind(index), index.remove.bind(index)]) {
        expect((await failure(attempt({ entity_type: 'product', entity_ids: ids }))).code).to.equal(
          'invalid_body',
        );
      }
    }
  });

  it('suggests the nearest entity type', async () => {
    const { index } = bench();
    for (const attempt of [
      index.upload({ entity_type: 'prodcut', entities: [] }),
      index.get({ entity_type: 'prodcut', entity_ids: [] }),
      index.remove({ entity_type: 'prodcut', entity_ids: [] }),
    ]) {
      const error = await failure(attempt);
      expect(error.code).to.equal('unknown_entity_type');
      expect(error.message).to.contain('"product"');
    }
    expect((await failure(index.get({ entity_type: '__proto__', entity_ids: [] }))).code).to.equal(
      'unknown_entity_type',
    );
  });

  it('lists the stored and the unconfirmed entities if the store fails', async () => {
    const { index, store } = bench();
    store.failing = (_, key) => key === entityKey('m', 'product', 'b');
    const upload = await failure(
      index.upload({ entity_type: 'product', entities: ['a', 'b', 'c'].map((id) => ({ product_id: id })) }),
    );
    expect(upload.code).to.equal('store_partial_write');
    expect(upload.extensions).to.deep.equal({ stored_ids: ['a', 'c'], unconfirmed_ids: ['b'] });
    const remove = await failure(index.remove({ entity_type: 'product', entity_ids: ['a', 'b'] }));
    expect(remove.code).to.equal('store_partial_write');
    expect(remove.extensions).to.deep.equal({ deleted_ids: ['a'], unconfirmed_ids: ['b'] });
    store.failing = () => true;
    const nothing = await failure(index.upload({ entity_type: 'product', entities: [product()] }));
    expect(nothing.code).to.equal('store_unavailable');
    for (const { message } of [upload, remove, nothing])
      expect(message)
        .to.match(/not confirmed/)
        .and.to.match(/safe to send them again/);
  });

  it('reads entities that were stored under other declarations, also after the store was emptied', async () => {
    const store = new MemoryStore();
    const before = bench(store, [
      entityType('product', { price: { kind: 'int' }, colour: { kind: 'string' } }),
    ]);
    await before.index.upload({
      entity_type: 'product',
      entities: [product({ price: 3, colour: 'red', size: 2 })],
    });
    store.records.clear();
    await before.index.upload({
      entity_type: 'product',
      entities: [product({ price: 4, colour: 'blue', size: 2 })],
    });
    const after = bench(store, [
      entityType('product', { price: { kind: 'float' }, size: { kind: 'int' } }, 'sku'),
    ]);
    const { entities } = await after.index.get({ entity_type: 'product', entity_ids: ['p1'] });
    expect({ ...entities.p1 }).to.deep.equal({
      product_id: 'p1',
      price: 4,
      colour: 'blue',
      size: 2,
      sku: 'p1',
    });
  });

  it('reports a record that cannot be read', async () => {
    const { index, store } = bench();
    await index.upload({ entity_type: 'product', entities: [product({ title: 'A' })] });
    const key = entityKey('m', 'product', 'p1');
    const whole = store.records.get(key) ?? Buffer.alloc(0);
    store.records.set(key, whole.subarray(0, whole.length - 1));
    expect((await failure(index.get({ entity_type: 'product', entity_ids: ['p1'] }))).code).to.equal(
      'record_unreadable',
    );
    store.records.set(key, Buffer.alloc(40, 1));
    const error = await failure(index.get({ entity_type: 'product', entity_ids: ['p1'] }));
    expect(error.code).to.equal('record_unreadable');
    expect(error.message).to.contain('this product').and.not.contain('p1'); // messages of 5xx are logged
    expect(error.extensions).to.deep.equal({ entity_type: 'product', entity_id: 'p1' });
  });

  it('fails with no other error for any body', async () => {
    const { index } = bench();
    const entity = fc.dictionary(
      fc.constantFrom('product_id', 'price', 'brand', 'brand_id', 'variants', 'x'),
      fc.jsonValue(),
    );
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({
        entity_type: fc.constant('product'),
        entities: fc.array(fc.oneof(entity, fc.jsonValue())),
      }),
    );
    await fc.assert(
      fc.asyncProperty(body, async (json) => {
        try {
          await index.upload(json);
        } catch (error) {
          expect(error).to.be.instanceOf(MillraceError);
          expect(['invalid_body', 'unknown_entity_type']).to.include((error as MillraceError).code);
        }
      }),
      { numRuns: 300 },
    );
  });
});
