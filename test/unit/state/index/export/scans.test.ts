import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../../../../runtime/ground/api/errors.js';
import type { JsonObject, ValueType } from '../../../../../runtime/ground/api/types.js';
import { EntityIndex } from '../../../../../runtime/state/index/entity-index.js';
import { Scans } from '../../../../../runtime/state/index/export/scans.js';
import { FeatureStore } from '../../../../../runtime/state/index/feature-store.js';
import { KnownLayouts } from '../../../../../runtime/state/store/codec/known-layouts.js';
import { entityKey, featureKey } from '../../../../../runtime/state/store/keys.js';
import { LayoutRegistry } from '../../../../../runtime/state/store/layout-registry.js';
import { ANY_EVENT_TIME } from '../../../../support/any-event-time.js';
import { entityType, featureView } from '../../../../support/entity-types.js';
import { MemoryStore } from '../../../../support/memory-store.js';

const PRODUCT: Record<string, ValueType> = {
  title: { kind: 'string' },
  price: { kind: 'float' },
  added: { kind: 'timestamp' },
  taste: { kind: 'vector', size: 2 },
  brand: { kind: 'ref', entity: 'brand' },
  tags: { kind: 'list', of: { kind: 'string' } },
  seller: { kind: 'record', fields: new Map<string, ValueType>([['name', { kind: 'string' }]]) },
};
const FEATURES: Record<string, ValueType> = {
  clicks: { kind: 'int' },
  ctr: { kind: 'float' },
  seen: { kind: 'timestamp' },
  taste: { kind: 'vector', size: 2 },
  note: { kind: 'string' },
  hot: { kind: 'bool' },
};
const TYPES = new Map(
  [entityType('product', PRODUCT), entityType('user'), entityType('brand', {}, 'code')].map((type) => [
    type.name,
    type,
  ]),
);
const VIEWS = new Map(
  [
    featureView('stats', ['product'], FEATURES),
    featureView('stock', ['product'], { left: { kind: 'int' } }),
    featureView('friends', ['user', 'user'], FEATURES),
    featureView('totals', [], FEATURES),
  ].map((view) => [view.name, view]),
);

interface Shop {
  readonly store: MemoryStore;
  readonly entities: EntityIndex;
  readonly features: FeatureStore;
  readonly scans: Scans;
}

function shop(views = VIEWS, store = new MemoryStore()): Shop {
  const parts = {
    store,
    layouts: new LayoutRegistry(store, 'm', new KnownLayouts()),
    prefix: 'm',
    types: TYPES,
    views,
  };
  return {
    store,
    entities: new EntityIndex(parts),
    features: new FeatureStore({ ...parts, eventTimes: ANY_EVENT_TIME, clock: () => 50 }),
    scans: new Scans(parts),
  };
}

async function allEntities({ scans }: Shop, limit: number): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let cursor: string | null = null;
  do {
    const page = await scans.entities({ entity_type: 'product', limit, cursor });
    expect(page.unreadable).to.deep.equal([]);
    found.push(...page.entities);
    ({ cursor } = page);
  } while (cursor !== null);
  return found;
}

async function allRows({ scans }: Shop, view: string, limit: number): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let cursor: string | null = null;
  do {
    const page = await scans.features({ view, limit, cursor });
    expect(page.unreadable).to.deep.equal([]);
    found.push(...page.rows);
    ({ cursor } = page);
  } while (cursor !== null);
  return found;
}

/** What a file of JSON lines keeps of the objects. */
const asLines = (objects: readonly JsonObject[]): JsonObject[] =>
  objects.map((object) => JSON.parse(JSON.stringify(object)) as JsonObject);

const sorted = (store: MemoryStore): [string, string][] =>
  [...store.records].map(([key, value]): [string, string] => [key, value.toString('hex')]).sort();

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const id = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }),
  fc.constantFrom('a:b', '1:', ':', '3:x'),
);
const value = fc.oneof(
  fc.constant(null),
  number,
  fc.string(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 3 }),
);
/** An upload refuses `__proto__` as a name. */
const name = fc.string().filter((found) => found !== '__proto__');
/** Vectors take numbers in the range of float32. */
const element = fc.double({ noNaN: true, min: -1e30, max: 1e30 }).map((found) => found + 0);
const some = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });

const productOf = (isOdd: boolean): fc.Arbitrary<object> =>
  fc.record(
    {
      title: orNull(fc.string({ unit: 'grapheme' })),
      price: orNull(number),
      added: orNull(fc.oneof(fc.constant('2026-01-31T12:00:00Z'), fc.integer())),
      taste: orNull(fc.oneof(fc.tuple(element, element), fc.constant([0.5, 2]))),
      [isOdd ? 'brand' : 'brand_id']: orNull(fc.oneof(id, fc.integer())),
      tags: orNull(fc.array(fc.string(), { maxLength: 3 })),
      seller: orNull(fc.record({ name: fc.string(), more: value })),
      undeclared: fc.oneof(value, fc.dictionary(name, value)),
    },
    { requiredKeys: [] },
  );

const features = fc.record(
  {
    clicks: some(fc.integer()),
    ctr: some(number),
    seen: some(fc.oneof(fc.integer(), fc.constant('2026-01-31T12:00:00Z'))),
    taste: some(fc.tuple(element, element)),
    note: some(fc.oneof(fc.constant(null), fc.string({ unit: 'grapheme' }))),
    hot: some(fc.boolean()),
  },
  { requiredKeys: [] },
);

describe('a scan', () => {
  it('gives entities that an upload stores as identical records', async () => {
    const products = fc.uniqueArray(
      fc.tuple(fc.oneof(id, fc.integer()), fc.oneof(productOf(true), productOf(false))),
      {
        selector: ([key]) => String(key),
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(products, fc.integer({ min: 1, max: 20 }), async (list, limit) => {
        const [from, to] = [shop(), shop()];
        const entities = asLines(list.map(([product_id, rest]) => ({ ...rest, product_id })));
        await from.entities.upload({ entity_type: 'product', entities });
        const exported = asLines(await allEntities(from, limit));
        await to.entities.upload({ entity_type: 'product', entities: exported });
        expect(sorted(to.store)).to.deep.equal(sorted(from.store));
      }),
    );
  });

  it('gives rows that a push stores as identical records, without deleted ones', async () => {
    const row = fc.tuple(id, id, features, fc.integer({ min: 1, max: 9 }), fc.boolean());
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 12 }),
        fc.integer({ min: 1, max: 20 }),
        async (list, limit) => {
          const [from, to, wanted] = [shop(), shop(), shop()];
          const expected = new Map<string, JsonObject>();
          for (const [one, other, given, event_time, isDeleted] of list) {
            for (const [view, keys] of [
              ['stats', { product_id: one }],
              ['friends', { user_id: one, user_id_2: other }],
              ['totals', {}],
            ] as const) {
              const defined = Object.fromEntries(
                Object.entries(given).filter(([, found]) => found !== undefined),
              );
              const name = JSON.stringify([view, keys]);
              if (isDeleted) {
                await from.features.remove({ view, rows: [{ ...keys, event_time: 10 }] });
                expected.delete(name);
                continue;
              }
              const pushed = { ...keys, ...defined, event_time: event_time + 10 } as JsonObject;
              const { stored } = await from.features.push({ view, rows: [pushed] });
              if (stored > 0) expected.set(name, pushed);
            }
          }
          // A deletion at 10 never removes a later row, so what is expected follows from what was stored.
          for (const view of ['stats', 'friends', 'totals']) {
            const rows = asLines(await allRows(from, view, limit));
            if (rows.length > 0) await to.features.push({ view, rows });
            for (const found of rows) await wanted.features.push({ view, rows: [found] });
          }
          expect(sorted(to.store)).to.deep.equal(sorted(wanted.store));
          for (const view of ['stats', 'friends', 'totals'])
            expect(asLines(await allRows(to, view, 1000))).to.deep.equal(
              asLines(await allRows(from, view, 1000)),
            );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps the event time, the keys and the exact vector of a row, and leaves out tombstones', async () => {
    const one = shop();
    const friend = { user_id: 'a:b', user_id_2: '3:', clicks: 2, taste: [0.1, 1 / 3], event_time: 7.5 };
    const gone = { user_id: 'x', user_id_2: 'y', event_time: 8 };
    await one.features.push({ view: 'friends', rows: [friend, gone] });
    await one.features.remove({ view: 'friends', rows: [gone] });
    await one.features.push({ view: 'stock', rows: [{ product_id: 'p', left: 1 }] });
    expect(asLines(await allRows(one, 'friends', 10))).to.deep.equal([friend]);
    expect(await allRows(one, 'stats', 10)).to.deep.equal([]);
  });

  it('gives an entity that carries another id the id under which it is stored', async () => {
    const one = shop();
    const entities = [{ sku: 's1', product_id: 'other' }, { sku: 's2' }];
    await one.entities.upload({ entity_type: 'product', entity_key: 'sku', entities });
    const page = await one.scans.entities({ entity_type: 'product' });
    expect(page.changed).to.equal(1);
    expect(asLines(page.entities)).to.deep.equal([
      { sku: 's1', product_id: 's1' },
      { sku: 's2', product_id: 's2' },
    ]);
  });

  it('leaves out what the view does not take any more', async () => {
    const one = shop();
    await one.features.push({
      view: 'stats',
      rows: [
        { product_id: 'p', clicks: 1, note: 'n', event_time: 3 },
        { product_id: 'q', hot: true, event_time: 3 },
      ],
    });
    const views = new Map([
      ['stats', featureView('stats', ['product'], { clicks: { kind: 'string' }, hot: { kind: 'bool' } })],
    ]);
    const page = await shop(views, one.store).scans.features({ view: 'stats' });
    expect(page.changed).to.equal(1);
    expect(asLines(page.rows)).to.deep.equal([
      { product_id: 'p', event_time: 3 },
      { product_id: 'q', hot: true, event_time: 3 },
    ]);
  });

  it('lists damaged records by their ids and goes on', async () => {
    const one = shop();
    await one.entities.upload({
      entity_type: 'product',
      entities: [{ product_id: 'a' }, { product_id: 'b', title: 't' }],
    });
    await one.features.push({
      view: 'stats',
      rows: [
        { product_id: 'a', note: 'x' },
        { product_id: 'b', note: 'x' },
      ],
    });
    for (const key of [entityKey('m', 'product', 'a'), featureKey('m', 'features', ['product'], ['a'])])
      one.store.records.set(key, Buffer.from(one.store.records.get(key) ?? '').subarray(0, -1));
    expect((await one.scans.entities({ entity_type: 'product' })).unreadable).to.deep.equal(['a']);
    const page = await one.scans.features({ view: 'stats' });
    expect(page.unreadable).to.deep.equal(['a']);
    expect(page.rows.map(({ product_id }) => product_id)).to.deep.equal(['b']);
  });

  it('refuses a body that it cannot follow', async () => {
    const { scans } = shop();
    const problem = async (attempt: Promise<unknown>): Promise<string> => {
      const error: unknown = await attempt.catch((reason: unknown) => reason);
      if (!(error instanceof MillraceError)) throw new Error('expected a MillraceError');
      return [
        error.code,
        ...error.violations.map(({ pointer, detail }) => `${pointer} ${detail}`),
        error.message,
      ].join('\n');
    };
    expect(await problem(scans.entities(null))).to.contain('expected an object with entity_type, found null');
    expect(await problem(scans.entities({ entity_type: 'prodct' }))).to.contain('did you mean "product"?');
    expect(await problem(scans.features({ view: 'stat' }))).to.match(
      /^unknown_view\n.*did you mean "stats"\?/s,
    );
    expect(await problem(scans.features({ view: 'stats', limit: 0, cursor: 7 }))).to.contain(
      '/cursor cursor: expected a text, found the number 7\n/limit limit: expected a whole number from 1 to 1000, found the number 0',
    );
  });
});
