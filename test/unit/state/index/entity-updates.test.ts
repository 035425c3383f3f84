import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import type { EntityType } from '../../../../runtime/project/config/model/entities.js';
import type { JsonObject, JsonValue, ValueType } from '../../../../runtime/ground/api/types.js';
import { EntityIndex, type UpdateAnswer } from '../../../../runtime/state/index/entity-index.js';
import { layoutIdOf } from '../../../../runtime/state/store/codec/entity-record.js';
import { KnownLayouts } from '../../../../runtime/state/store/codec/known-layouts.js';
import { entityKey } from '../../../../runtime/state/store/keys.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import type { RecordSwap, StoreRecord, SwapOutcome } from '../../../../runtime/state/store/store.js';
import { entityType } from '../../../support/entity-types.js';
import { MemoryStore } from '../../../support/memory-store.js';

const ATTRIBUTES: Readonly<Record<string, ValueType>> = {
  title: { kind: 'string' },
  stock: { kind: 'int' },
  price: { kind: 'float' },
  brand: { kind: 'ref', entity: 'brand' },
  sizes: { kind: 'list', of: { kind: 'string' } },
};

/** A store whose swaps are slow, and can be met by other writers. */
class BusyStore extends MemoryStore {
  /** Called before the swaps of a batch are made. */
  meet: (swaps: readonly RecordSwap[]) => void = () => undefined;
  readonly swapped: (readonly string[])[] = [];
  readonly written: string[] = [];

  override write(records: readonly StoreRecord[]): Promise<void> {
    this.written.push(...records.map(({ key }) => key));
    return super.write(records);
  }

  override async swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    this.swapped.push(swaps.map(({ key }) => key));
    await new Promise((resolve) => setImmediate(resolve));
    this.meet(swaps);
    return super.swap(swaps);
  }
}

function indexOf(store = new BusyStore(), attributes = ATTRIBUTES): EntityIndex {
  const product = entityType('product', attributes);
  const query: EntityType = {
    ...entityType('query', { volume: { kind: 'int' } }, 'query'),
    normalizesIds: true,
  };
  const types = new Map([product, query].map((type) => [type.name, type]));
  return new EntityIndex({
    store,
    layouts: new LayoutRegistry(store, 'm', new KnownLayouts()),
    prefix: 'm',
    types,
  });
}

const upload = (index: EntityIndex, ...entities: JsonObject[]): Promise<unknown> =>
  index.upload({ entity_type: 'product', entities });
const update = (index: EntityIndex, entities: JsonObject[], more: JsonObject = {}): Promise<UpdateAnswer> =>
  index.update({ entity_type: 'product', entities, ...more });

async function stored(index: EntityIndex, id: string, type = 'product'): Promise<JsonObject | null> {
  const { entities } = await index.get({ entity_type: type, entity_ids: [id] });
  return JSON.parse(JSON.stringify(entities[id])) as JsonObject | null;
}

async function failure(attempt: Promise<unknown>): Promise<MillraceError> {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  if (!(error instanceof MillraceError)) throw new Error(`expected a MillraceError, got ${String(error)}`);
  return error;
}

const WHOLE = {
  product_id: 'p1',
  title: 'Shoe',
  price: 10,
  brand: 'b1',
  sizes: ['S', 'M'],
  box: { w: 1, h: 2 },
};

describe('updates of entities', () => {
  it('keep what they do not name, replace nested values whole, and remove what is null', async () => {
    const index = indexOf();
    await upload(index, WHOLE);
    const answer = await update(index, [
      { product_id: 'p1', price: 8, sizes: ['L'], box: { w: 3 }, title: null },
    ]);
    expect(answer).to.deep.equal({
      entity_type: 'product',
      entity_ids: ['p1'],
      updated: 1,
      created: 0,
      unknown_ids: [],
    });
    const expected = { product_id: 'p1', price: 8, brand: 'b1', sizes: ['L'], box: { w: 3 } };
    expect(await stored(index, 'p1')).to.deep.equal(expected);
    await update(index, [{ product_id: 'p1', box: null, colour: 'red' }]);
    const { box, ...left } = expected;
    expect(box).to.deep.equal({ w: 3 });
    expect(await stored(index, 'p1')).to.deep.equal({ ...left, colour: 'red' });
  });

  it('report ids that the index does not have, and create them only if asked to', async () => {
    const index = indexOf();
    await upload(index, WHOLE);
    const entities = [
      { product_id: 'p1', price: 1 },
      { product_id: 'p2', price: 2, title: null },
      { product_id: 7 },
    ];
    const counts = ({ entity_ids, updated, created, unknown_ids }: UpdateAnswer): unknown[] => [
      entity_ids,
      updated,
      created,
      unknown_ids,
    ];
    expect(counts(await update(index, entities))).to.deep.equal([['p1'], 1, 0, ['p2', '7']]);
    expect(await stored(index, 'p2')).to.equal(null);
    expect(counts(await update(index, entities, { create: true }))).to.deep.equal([
      ['p1', 'p2', '7'],
      1,
      2,
      [],
    ]);
    expect(await stored(index, 'p2')).to.deep.equal({ product_id: 'p2', price: 2 });
    expect(await stored(index, '7')).to.deep.equal({ product_id: 7 });
    expect(counts(await update(index, []))).to.deep.equal([[], 0, 0, []]);
  });

  it('merge entities of one body with one id in their order, by one write', async () => {
    const store = new BusyStore();
    const index = indexOf(store);
    const entities = [
      { product_id: 'p1', price: 1, title: 'A' },
      { product_id: 'p2', price: 5 },
      { product_id: 'p1', price: 2, stock: 3 },
      { product_id: 'p1', title: null },
    ];
    const answer = await update(index, entities, { create: true });
    expect(answer).to.include({ created: 2, updated: 0 });
    expect(await stored(index, 'p1')).to.deep.equal({ product_id: 'p1', price: 2, stock: 3 });
    expect(store.swapped.flat()).to.have.length(2);
  });

  it('treat the two spellings of a reference as one attribute', async () => {
    const index = indexOf();
    for (const [before, patch, after] of [
      [{ brand: 'b1' }, { brand_id: 'b2' }, { brand_id: 'b2' }],
      [{ brand_id: 'b1' }, { brand: 'b2' }, { brand: 'b2' }],
      [{ brand_id: 'b1' }, { brand: null }, {}],
      [{ brand: 'b1' }, { brand: null, brand_id: 'b2' }, { brand_id: 'b2' }],
      [{ brand: 'b1', brand_id: 'b1' }, { price: 1 }, { brand: 'b1', brand_id: 'b1', price: 1 }],
    ] as const) {
      await upload(index, { product_id: 'p', ...before });
      await update(index, [{ product_id: 'p', ...patch }]);
      expect(await stored(index, 'p')).to.deep.equal({ product_id: 'p', ...after });
    }
  });

  it('find an entity under its normalized id, and by the field that entity_key names', async () => {
    const index = indexOf();
    await index.upload({ entity_type: 'query', entities: [{ query: 'Red  Shoes', volume: 1, lang: 'en' }] });
    const entities = [{ id: 'RED shoes', volume: 2 }];
    const answer = await index.update({ entity_type: 'query', entity_key: 'id', entities });
    expect(answer).to.include({ updated: 1 });
    const found = await stored(index, 'red shoes', 'query');
    expect(found).to.deep.equal({ query: 'red shoes', id: 'red shoes', volume: 2, lang: 'en' });
  });

  it('store nothing of a body with a violation, which has its place', async () => {
    const store = new BusyStore();
    const index = indexOf(store);
    await upload(index, WHOLE);
    const entities = [
      { product_id: 'p1', price: 1 },
      { product_id: 'p1', price: 'dear' },
      { price: 2 },
      { product_id: 'p1', brand: 'a', brand_id: 'b' },
    ];
    const { code, violations } = await failure(update(index, entities, { create: 'yes' }));
    expect(code).to.equal('invalid_body');
    expect(violations.map(({ pointer, code: its }) => `${pointer} ${its}`)).to.deep.equal([
      '/create wrong_type',
      '/entities/1/price wrong_type',
      '/entities/2 missing_id',
      '/entities/3/brand_id conflicting_reference',
    ]);
    expect((await failure(index.update({ entity_type: 'shoe', entities }))).code).to.equal(
      'unknown_entity_type',
    );
    expect(store.swapped).to.deep.equal([]);
    expect(await stored(index, 'p1')).to.deep.equal(WHOLE);
  });

  it('read records of an older layout, and write the current one, after the layout itself', async () => {
    const store = new BusyStore();
    const older = indexOf(store, { ...ATTRIBUTES, colour: { kind: 'string' }, stock: { kind: 'string' } });
    await upload(older, { ...WHOLE, colour: 'red', stock: 'many' });
    const key = entityKey('m', 'product', 'p1');
    const before = layoutIdOf(store.records.get(key) ?? Buffer.alloc(0));
    store.written.length = 0;
    const index = indexOf(store);
    await update(index, [{ product_id: 'p1', price: 2 }]);
    const after = layoutIdOf(store.records.get(key) ?? Buffer.alloc(0));
    expect(after).not.to.equal(before);
    expect(store.written).to.deep.equal([`m:schema:${after ?? ''}`]);
    expect(await stored(index, 'p1')).to.deep.equal({ ...WHOLE, price: 2, colour: 'red', stock: 'many' });
  });

  it('merge like the model, whatever the order of uploads, updates and deletions', async () => {
    const value = fc.constantFrom<JsonValue>(null, 1, 2);
    const attributes = fc.record(
      { price: value, stock: value, a: value, b: fc.constantFrom<JsonValue>(null, [1], { c: { d: 1 } }) },
      { requiredKeys: [] },
    );
    const action = fc.record({
      is: fc.constantFrom('upload', 'update', 'create', 'remove'),
      id: fc.constantFrom('p1', 'p2'),
      attributes,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 12 }), async (actions) => {
        const index = indexOf();
        const model = new Map<string, JsonObject>();
        for (const { is, id, attributes: sent } of actions) {
          const entity = { product_id: id, ...sent };
          const before = model.get(id);
          if (is === 'upload') {
            await upload(index, entity);
            model.set(id, entity);
          } else if (is === 'remove') {
            await index.remove({ entity_type: 'product', entity_ids: [id] });
            model.delete(id);
          } else {
            await update(index, [entity], { create: is === 'create' });
            if (before === undefined && is === 'update') continue;
            const left = Object.entries({ ...before, ...entity }).filter(
              ([name, its]) => its !== null || !Object.hasOwn(entity, name),
            );
            model.set(id, Object.fromEntries(left));
          }
        }
        for (const id of ['p1', 'p2']) expect(await stored(index, id)).to.deep.equal(model.get(id) ?? null);
      }),
      { numRuns: 200 },
    );
  });

  it('lose nothing if the entity changes between the read and the write', async () => {
    const store = new BusyStore();
    const [index, other] = [indexOf(store), indexOf(store)];
    await upload(index, WHOLE);
    let meetings = 0;
    const { records } = store;
    const key = entityKey('m', 'product', 'p1');
    const versions = await Promise.all(
      [1, 2, 3].map(async (stock) => {
        const apart = new BusyStore();
        await upload(indexOf(apart), { ...WHOLE, stock });
        return apart.records.get(key) as Buffer;
      }),
    );
    store.meet = () => {
      const version = versions[meetings++];
      if (version !== undefined) records.set(key, version);
    };
    expect(await update(index, [{ product_id: 'p1', price: 2 }])).to.include({ updated: 1 });
    expect(await stored(other, 'p1')).to.deep.equal({ ...WHOLE, price: 2, stock: 3 });
    store.meet = () => void records.delete(key);
    expect(await update(index, [{ product_id: 'p1', price: 3 }])).to.include({ updated: 0 });
    expect(await stored(index, 'p1')).to.equal(null);
  });

  it('give up after 20 attempts, and say what is stored', async () => {
    const store = new BusyStore();
    const index = indexOf(store);
    await upload(index, WHOLE, { product_id: 'p2' });
    const key = entityKey('m', 'product', 'p1');
    let count = 0;
    store.meet = (swaps) => {
      if (swaps.some((swap) => swap.key === key))
        store.records.set(key, Buffer.from(store.records.get(key) ?? []));
    };
    const busy = new BusyStore();
    await upload(indexOf(busy), { ...WHOLE, title: 'other' });
    const versions = [store.records.get(key) as Buffer, busy.records.get(key) as Buffer];
    store.meet = (swaps) => {
      if (swaps.some((swap) => swap.key === key)) store.records.set(key, versions[++count % 2] as Buffer);
    };
    const one = await failure(update(index, [{ product_id: 'p1', price: 2 }]));
    expect([one.code, one.status, one.extensions]).to.deep.equal(['store_busy', 503, { stored_ids: [] }]);
    expect(count).to.equal(20);
    const entities = ['p1', 'p2', 'p3'].map((product_id) => ({ product_id, price: 3 }));
    const two = await failure(update(index, entities));
    expect([two.code, two.status]).to.deep.equal(['store_partial_write', 503]);
    expect(two.extensions).to.deep.equal({ stored_ids: ['p2'], unconfirmed_ids: ['p1'] });
    expect(await stored(index, 'p2')).to.include({ price: 3 });
    expect(await update(index, [{ product_id: 'p2', price: 4 }])).to.include({ updated: 1 });
  });

  it('join updates of one entity that wait into one write', async () => {
    const store = new BusyStore();
    const index = indexOf(store);
    await upload(index, WHOLE);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => update(index, [{ product_id: 'p1', [`w${String(i)}`]: i }])),
    );
    expect(answers.map(({ updated }) => updated)).to.deep.equal(answers.map(() => 1));
    const found = await stored(index, 'p1');
    for (let i = 0; i < 200; i++) expect(found?.[`w${String(i)}`]).to.equal(i);
    expect(store.swapped.length).to.be.at.most(5);
  });

  it('say of each entity whether it is stored, if the store fails in between', async () => {
    const store = new BusyStore();
    const index = indexOf(store);
    const ids = Array.from({ length: 300 }, (_, i) => `p${String(i)}`);
    for (const product_id of ids) await upload(index, { product_id });
    store.failing = (_, key) => key === entityKey('m', 'product', 'p200');
    const error = await failure(
      update(
        index,
        ids.map((product_id) => ({ product_id, price: 1 })),
      ),
    );
    expect(error.code).to.equal('store_partial_write');
    const { stored_ids: done, unconfirmed_ids: left } = error.extensions as Record<string, string[]>;
    expect(done).to.deep.equal(ids.slice(0, 128));
    expect(left).to.deep.equal(ids.slice(128));
    store.failing = undefined;
    const answer = await update(
      index,
      ids.map((product_id) => ({ product_id, price: 1 })),
    );
    expect(answer.updated).to.equal(300);
  });

  it('say which record is damaged, and store the others', async () => {
    const store = new BusyStore();
    const index = indexOf(store);
    await upload(index, WHOLE, { product_id: 'p2' });
    const key = entityKey('m', 'product', 'p1');
    store.records.set(key, (store.records.get(key) as Buffer).subarray(0, 12));
    const error = await failure(
      update(
        index,
        ['p1', 'p2'].map((product_id) => ({ product_id, price: 1 })),
      ),
    );
    expect(error.code).to.equal('record_unreadable');
    expect(error.extensions).to.deep.equal({
      entity_type: 'product',
      entity_id: 'p1',
      stored_ids: ['p2'],
      unconfirmed_ids: ['p1'],
    });
  });

  it('do not let an entity grow beyond what one upload can hold', async () => {
    const index = indexOf();
    await upload(index, { product_id: 'p1' });
    const part = 'x'.repeat(400_000);
    for (const name of ['a', 'b']) await update(index, [{ product_id: 'p1', [name]: part }]);
    const error = await failure(update(index, [{ product_id: 'p1', c: part }]));
    expect([error.code, error.status]).to.deep.equal(['body_too_large', 413]);
    await update(index, [{ product_id: 'p1', a: null, c: part }]);
    expect(Object.keys((await stored(index, 'p1')) ?? {})).to.have.members(['product_id', 'b', 'c']);
  });
});
