import { expect } from 'chai';
import fc from 'fast-check';
import { rm } from 'node:fs/promises';
import 'reflect-metadata';
import type { Plan } from '../../../../runtime/request/compile/plan.js';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import type { ProjectConfig } from '../../../../runtime/project/config/model/project.js';
import { EntityIndex } from '../../../../runtime/state/index/entity-index.js';
import { FeatureStore } from '../../../../runtime/state/index/feature-store.js';
import { OWN_WRITES_ONLY } from '../../../../runtime/state/store/coherence.js';
import { ResidentTables } from '../../../../runtime/request/resident/resident-tables.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import type { Store } from '../../../../runtime/state/store/store.js';
import { watchWrites } from '../../../../runtime/state/store/around.js';
import { ANY_EVENT_TIME } from '../../../support/any-event-time.js';
import { fillFrame, planOf } from '../../../support/fill-frame.js';
import { MemoryStore } from '../../../support/memory-store.js';
import { writeProject } from '../../../support/project.js';
import { draws } from '../../../support/draws.js';

/** Every column kind, nested references and lists of references, each expiry policy, and a composite view. */
const FILES = {
  'schemas/entities/item.yaml': `entity: item
attributes:
  price: float
  sold: bool
  since: timestamp
  name: string
  tags: list(string)
  sizes: list(float)
  taste: vector(3)
  maker: ref(maker)
  parts: list(ref(item))
  offers: { list: { price: float, shop: ref(maker) } }
`,
  'schemas/entities/maker.yaml':
    'entity: maker\nattributes: { rating: float, taste: vector(3), tags: list(string) }\n',
  'schemas/features/plain.yaml':
    'view: plain\nof: [item]\nfeatures: { a: float, b: { type: int, default: 7 }, words: list(string), counts: list(float) }\n',
  'schemas/features/gone.yaml':
    'view: gone\nof: [item]\nttl: 1s\nfeatures: { a: float, b: { type: int, default: 3 } }\n',
  'schemas/features/old.yaml': 'view: old\nof: [item]\nttl: 2s\nexpired: stale\nfeatures: { a: float }\n',
  'schemas/features/fatal.yaml':
    'view: fatal\nof: [maker]\nttl: 3s\nexpired: fail\ngroup: other\nfeatures: { a: float, counts: list(float) }\n',
  'schemas/features/pair.yaml': 'view: pair\nof: [item, maker]\nfeatures: { a: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { name: string }\n',
  'schemas/features/duo.yaml': 'view: duo\nof: [user, maker]\nfeatures: { a: float }\n',
  'pipelines/all.yaml': `pipeline: all
rank: item
request: { candidates: {}, maker: optional(maker), user: user }
limits: { candidates: 2500, time: 50s }
features:
  - plain
  - gone
  - old
  - fatal: fatal(item.maker)
  - mine: fatal(maker)
  - pair: pair(item, item.maker)
  - duo: duo(user, item.maker)
components:
  - use: similarity
    as: taste
    with: { vectors: [item.taste, maker.taste] }
  - use: similarity
    as: tags
    with: { texts: [item.tags, maker.tags] }
  - use: similarity
    as: words
    with: { texts: [plain:words, maker.tags] }
  - use: score
    with:
      value: >-
        item.price + if(item.sold, 1, 2) + sum(item.offers.price) + max(item.parts.price) + item.maker.rating
        + sum(item.offers.shop.rating) + plain:a + plain:b + gone:a + gone:b + old:a + fatal:a + mine:a + pair:a + duo:a
        + sum(item.sizes) + item.sizes[1] + norm(item.parts.sizes) + last(plain:counts) + sum(fatal:counts)
        + maker.rating + taste:cosine + tags:shared + words:shared + if("x" in item.parts.tags, 1, 0)
  - use: boost
    with: { where: item.name == "n1" and now() > item.since, multiply: 2 }
`,
};

const IDS = ['i0', 'i1', 'i2', 'i3', 'a:b,c', 'é'];
const MAKERS = ['m0', 'm1', 'i0'];

/** The value of an attribute, null, or absent. */
const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 4, arbitrary: of }, fc.constant(null), fc.constant(undefined));
const number = fc.integer({ min: -5, max: 5 });
const id = fc.constantFrom(...IDS);
const makerId = fc.constantFrom(...MAKERS);
const texts = fc.array(fc.constantFrom('x', 'y', 'ž', ''), { maxLength: 3 });
const numbers = fc.array(fc.constantFrom(0.1, 1, -2.5), { maxLength: 4 });
const vector = fc.array(fc.constantFrom(0.1, 1, -2.5), { minLength: 3, maxLength: 3 });

const item = fc.record({
  item_id: id,
  price: maybe(number),
  sold: maybe(fc.boolean()),
  since: maybe(fc.constantFrom(5, '1970-01-01T00:00:01Z')),
  name: maybe(fc.constantFrom('n1', 'ñ')),
  tags: maybe(texts),
  sizes: maybe(numbers),
  taste: maybe(vector),
  maker: maybe(makerId),
  parts: maybe(fc.array(id, { maxLength: 3 })),
  offers: maybe(fc.array(fc.record({ price: maybe(number), shop: maybe(makerId) }), { maxLength: 3 })),
});
const maker = fc.record({
  maker_id: makerId,
  rating: maybe(number),
  taste: maybe(vector),
  tags: maybe(texts),
});
const a = maybe(number);

type Step =
  | { readonly do: 'upload'; readonly type: 'item' | 'maker'; readonly entity: object }
  | { readonly do: 'remove'; readonly type: 'item' | 'maker'; readonly id: string }
  | { readonly do: 'push'; readonly view: string; readonly row: object }
  | { readonly do: 'removeRow'; readonly view: string; readonly row: object }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'rank'; readonly body: object };

const step: fc.Arbitrary<Step> = fc.oneof(
  item.map((entity): Step => ({ do: 'upload', type: 'item', entity: clean(entity) })),
  maker.map((entity): Step => ({ do: 'upload', type: 'maker', entity: clean(entity) })),
  id.map((one): Step => ({ do: 'remove', type: 'item', id: one })),
  makerId.map((one): Step => ({ do: 'remove', type: 'maker', id: one })),
  fc
    .record({ item_id: id, a, b: a, words: maybe(texts), counts: maybe(numbers) })
    .map((row): Step => push('plain', row)),
  fc.record({ item_id: id, a, b: a }).map((row): Step => push('gone', row)),
  fc.record({ item_id: id, a }).map((row): Step => push('old', row)),
  fc.record({ maker_id: makerId, a, counts: maybe(numbers) }).map((row): Step => push('fatal', row)),
  fc.record({ item_id: id, maker_id: makerId, a }).map((row): Step => push('pair', row)),
  fc.record({ maker_id: makerId, a }).map((row): Step => push('duo', { user_id: 'u', ...row })),
  fc
    .record({ item_id: id, view: fc.constantFrom('plain', 'gone', 'old') })
    .map(({ item_id, view }): Step => ({ do: 'removeRow', view, row: { item_id } })),
  fc.constantFrom(1, 700, 999, 1000, 1001, 2500).map((ms): Step => ({ do: 'wait', ms })),
  ...[1, 2, 3].map(() =>
    fc
      .record({
        ids: fc.uniqueArray(fc.oneof(id, fc.constantFrom('never', 'nowhere')), { minLength: 1 }),
        carried: fc.option(item, { nil: undefined }),
        maker: fc.option(makerId, { nil: undefined }),
      })
      .map(({ ids, carried, maker: by }): Step => ({
        do: 'rank',
        body: {
          candidates: ids.map((item_id, i) => (i === 0 ? { ...clean(carried ?? {}), item_id } : { item_id })),
          user: { user_id: 'u' },
          ...(by === undefined ? {} : { maker: { maker_id: by } }),
        },
      })),
  ),
);

function push(view: string, row: object): Step {
  return { do: 'push', view, row: clean(row) };
}

function clean(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

describe('the resident tables', () => {
  let root: string;
  let plan: Plan;
  let config: ProjectConfig;

  before(async () => {
    root = await writeProject(FILES);
    plan = await planOf(root);
    const loaded = await loadProject(root);
    if (loaded.config === undefined) throw new Error('the project is valid');
    ({ config } = loaded);
  });
  after(() => rm(root, { recursive: true, force: true }));

  for (const bytes of [10_000_000, 1500]) {
    it(`return the cells of many candidates to several requests at once, with a limit of ${bytes} bytes`, async function () {
      this.timeout(60_000);
      const memory = new MemoryStore();
      const tables = new ResidentTables([plan], { bytes, coherence: () => OWN_WRITES_ONLY });
      const { entities, features } = servicesOf(config, memory, () => 0);
      const ids = Array.from({ length: 2500 }, (_, i) => `i${i}`);
      const known = ids.filter((_, i) => i % 3 === 0);
      await entities.upload({
        entity_type: 'item',
        entities: known.map((item_id) => ({ item_id, tags: [item_id, 'x'], maker: `m${item_id.at(-1)}` })),
      });
      await entities.upload({
        entity_type: 'maker',
        entities: Array.from({ length: 10 }, (_, i) => ({ maker_id: `m${i}`, tags: ['y', `${i}`] })),
      });
      await features.push({ view: 'plain', rows: known.map((item_id) => ({ item_id, words: [item_id] })) });
      // All candidates together repeat so many elements that these are copied in several turns.
      const counts = Array.from({ length: 100 }, (_, i) => i);
      const makers = Array.from({ length: 10 }, (_, i) => ({ maker_id: `m${i}`, counts: [i, ...counts] }));
      await features.push({ view: 'fatal', rows: makers });
      const bodies = [0, 1, 2].map((part) => ({
        candidates: [...ids.slice(part), ...ids.slice(0, part)].map((item_id) => ({ item_id })),
        user: { user_id: 'u' },
      }));
      for (let again = 0; again < 2; again++) {
        const filled = await Promise.all(
          bodies.map((body) => fillFrame(plan, memory, body, { now: 0, resident: tables })),
        );
        for (const [i, body] of bodies.entries())
          expect(filled[i]?.cells).to.deep.equal((await fillFrame(plan, memory, body, { now: 0 })).cells);
      }
    });

    it(`return every cell as the store does, with a limit of ${bytes} bytes`, async function () {
      this.timeout(60_000);
      let hits = 0;
      let codes = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const memory = new MemoryStore();
          const tables = new ResidentTables([plan], { bytes, coherence: () => OWN_WRITES_ONLY });
          const store = watchWrites(memory, (keys) => tables.invalidate(keys));
          let now = 1_000_000;
          const services = servicesOf(config, store, () => now);
          for (const one of steps) {
            if (one.do === 'wait') now += one.ms;
            else if (one.do === 'upload')
              await services.entities.upload({ entity_type: one.type, entities: [one.entity] });
            else if (one.do === 'remove')
              await services.entities.remove({ entity_type: one.type, entity_ids: [one.id] });
            else if (one.do === 'push') await services.features.push({ view: one.view, rows: [one.row] });
            else if (one.do === 'removeRow')
              await services.features.remove({ view: one.view, rows: [one.row] });
            else {
              const direct = await fillFrame(plan, memory, one.body, { now });
              expect(Object.keys(direct.cells)).to.have.length.greaterThan(20);
              for (let again = 0; again < 2; again++) {
                const filled = await fillFrame(plan, memory, one.body, { now, resident: tables });
                expect(filled.cells).to.deep.equal(direct.cells);
                for (const { text, named } of filled.coded) expect(named).to.equal(text);
                codes += filled.coded.length;
              }
              expect(tables.bytes).to.be.at.most(bytes);
            }
          }
          for (const state of tables.states()) hits += state.hits;
        }),
        { numRuns: draws(40) },
      );
      expect(hits).to.be.greaterThan(100);
      expect(codes).to.be.greaterThan(0);
    });
  }
});

function servicesOf(
  { entities: types, views }: ProjectConfig,
  store: Store,
  clock: () => number,
): { readonly entities: EntityIndex; readonly features: FeatureStore } {
  const parts = { store, layouts: new LayoutRegistry(store, 'millrace'), prefix: 'millrace', types };
  return {
    entities: new EntityIndex(parts),
    features: new FeatureStore({ ...parts, views, clock, eventTimes: ANY_EVENT_TIME }),
  };
}
