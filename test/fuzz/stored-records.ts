import { expect } from 'chai';
import fc from 'fast-check';
import { rm } from 'node:fs/promises';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { entityKey, featureKey, historyKey } from '../../runtime/state/store/keys.js';
import { MemoryStore } from '../support/memory-store.js';
import { rankedIn, scoresOf, writeProject } from '../support/project.js';
import { always, type FuzzTarget } from './fuzz-target.js';
import { byteEdits } from './mutate-bytes.js';

const NOW = Date.UTC(2026, 0, 31, 12);

const FILES = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  sold: bool
  released: timestamp
  tags: list(string)
  brand: ref(brand)
  similar: list(ref(product))
  embedding: vector(3)
  size: { record: { width: float } }
  variants: { list: { sku: string, price: float, maker: ref(brand) } }
`,
  'schemas/entities/brand.yaml':
    'entity: brand\nattributes: { name: string, parent: ref(brand), fame: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { age: int }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nttl: 7d\nfeatures: { ctr: float, clicks: { type: int, default: 0 }, top: string, hot: bool, tags: list(string), vec: vector(3) }\n',
  'schemas/features/more.yaml':
    'view: more\nof: [product]\nexpired: stale\nttl: 1d\nfeatures: { boost: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: user }
features: [stats, more]
components:
  - use: interaction
    as: seen
    with: { of: user, with: product.brand, outputs: { clicks: { event: click, window: 7d } } }
  - use: similarity
    as: near
    with: { vectors: [product.embedding, stats:vec] }
  - use: similarity
    as: alike
    with: { texts: [product.tags, stats:tags] }
  - use: score
    with: { value: 'coalesce(product.price, 0) + coalesce(length(product.title), 0) + coalesce(age_days(product.released), 0)' }
  - use: boost
    with: { add: 'coalesce(stats:ctr, 0) + stats:clicks + coalesce(length(stats:top), 0) + coalesce(more:boost, 0)' }
  - use: boost
    with: { add: 'coalesce(near:cosine, 0) + coalesce(alike:shared, 0) + coalesce(product.size.width, 0)' }
  - use: boost
    with: { add: 'coalesce(max(product.variants.price), 0) + coalesce(sum(product.similar.price), 0) + coalesce(product.brand.fame, 0) + coalesce(product.brand.parent.fame, 0) + coalesce(length(product.brand.name), 0)' }
  - use: boost
    with: { add: 'if(product.sold, 1, 2) + if(stats:hot, 4, 8) + count(product.tags) + 0.5 * coalesce(seen:clicks, 0)' }
page: { size: 100, max_size: 100 }
`,
};

const IDS = ['c0', 'c1', 'c2', 'c3'];
const BODY = { user: { user_id: 'u1' }, candidates: IDS.map((product_id) => ({ product_id })) };
/** The candidate that reads the damaged record. */
const HURT = 'c2';

/** Keys that only c2 reads. */
const KEYS = [
  entityKey('millrace', 'product', HURT),
  entityKey('millrace', 'brand', 'bc2'),
  entityKey('millrace', 'product', 'sc2'),
  featureKey('millrace', 'features', ['product'], [HURT]),
];
const HISTORY = historyKey('millrace', 'user', 'u1');

/** Returns how many rows of features were rejected because the store has newer rows. */
async function fill(app: App): Promise<number> {
  const products = IDS.map((id, i) => ({
    product_id: id,
    title: `Schuh größe ${i}`,
    price: 10 + i,
    sold: i % 2 === 0,
    released: '2026-01-30T09:30:00Z',
    tags: ['x', 'y', `t${i}`],
    brand: `b${id}`,
    similar: [`s${id}`],
    embedding: [1, i, 0.1],
    size: { width: i },
    variants: [{ sku: `${id}-1`, price: 3 + i, maker: `b${id}` }],
    extra: { nested: [1, { a: null }] },
  }));
  const similar = IDS.map((id, i) => ({ product_id: `s${id}`, price: 100 + i }));
  await app.entities.upload({ entity_type: 'product', entities: [...products, ...similar] });
  const brands = IDS.map((id, i) => ({ brand_id: `b${id}`, name: `Brand ${id}`, fame: i / 4, parent: 'b' }));
  await app.entities.upload({ entity_type: 'brand', entities: [...brands, { brand_id: 'b', fame: 0.125 }] });
  const pushed = [
    await app.features.push({ view: 'stats', rows: IDS.map((product_id, i) => statsRow(product_id, i)) }),
    await app.features.push({
      view: 'more',
      rows: IDS.map((product_id, i) => ({ product_id, boost: i * 16, event_time: NOW - 1 })),
    }),
  ];
  const events = IDS.map((product_id) => ({ type: 'click', product: { product_id } }));
  await app.feedback.record({ request_id: 'r', user: { user_id: 'u1' }, events });
  return pushed.reduce((sum, { older }) => sum + older, 0);
}

const statsRow = (product_id: string, i: number): object => ({
  product_id,
  ctr: i / 8,
  clicks: i,
  top: `top ${i}`,
  hot: i % 2 === 1,
  tags: ['x', `t${i}`],
  vec: [1, 0, i],
  event_time: NOW - 1000,
});

/** Damages stored records. Only the values of that record change or become missing; nothing else changes. */
export const storedRecords: FuzzTarget = {
  name: 'stored records',
  quick: 100,
  async open() {
    const root = await writeProject(FILES);
    const store = new MemoryStore();
    const settings = loadSettings({ LOG_LEVEL: 'silent' }, { project: root });
    const app = await createApp(settings, { store, clock: () => NOW });
    await fill(app);
    const whole = new Map(store.records);
    for (const key of [...KEYS, HISTORY]) expect(whole.has(key), key).to.equal(true);
    const [pipeline] = app.pipelines;
    if (pipeline === undefined) throw new Error('expected a pipeline');
    const scores = async (): Promise<Record<string, number>> => {
      const { answer } = await pipeline.run(BODY, { requestId: 'r' });
      return scoresOf(rankedIn(answer));
    };
    const before = await scores();
    expect(new Set(Object.values(before)).size).to.equal(IDS.length);

    const damaged = fc
      .tuple(fc.constantFrom(...KEYS, HISTORY), byteEdits)
      .map(([key, { what, apply }]) => ({ key, apply, what: `${key}: ${what}` }));
    return {
      run: always(damaged, async ({ key, apply }) => {
        for (const [one, record] of whole) store.records.set(one, record);
        store.records.set(key, apply(whole.get(key) ?? Buffer.alloc(0)));
        const now = await scores();
        expect(Object.keys(now)).to.have.members(IDS);
        for (const id of IDS) {
          // The history counts for every candidate, with half a point per event, so the change is bounded.
          if (key === HISTORY) expect((before[id] ?? NaN) - (now[id] ?? NaN)).to.be.within(-8, 0.5);
          else if (id !== HURT) expect(now[id], id).to.equal(before[id]);
        }
        await pipeline.explain(BODY, { requestId: 'r' });
        await expectReadable(app, store);
        if (key !== HISTORY) await expectMended(app, store, scores, before);
      }),
      async close() {
        await app.close();
        await rm(root, { recursive: true, force: true });
      },
    };
  },
};

async function expectReadable(app: App, store: MemoryStore): Promise<void> {
  const product_id = IDS;
  const features = [
    'stats:ctr',
    'stats:clicks',
    'stats:top',
    'stats:hot',
    'stats:tags',
    'stats:vec',
    'more:boost',
  ];
  const { answer } = await app.online.read({ features, entities: { product_id } });
  for (const { values, statuses, event_timestamps } of answer.toJSON().results)
    for (const [row, id] of product_id.entries()) {
      if (id !== HURT) expect(statuses[row]).to.equal('PRESENT');
      if (statuses[row] === 'INVALID') expect(values[row]).to.equal(null);
      expect(Number.isNaN(Date.parse(event_timestamps[row] ?? ''))).to.equal(false);
    }
  for (const entity_type of ['product', 'brand']) {
    const ids = [...store.records.keys()].flatMap((key) => {
      const [, kind, type, id] = key.split(':');
      return kind === 'entity' && type === entity_type ? [id ?? ''] : [];
    });
    for (const id of ids)
      await app.entities.get({ entity_type, entity_ids: [id] }).catch((error: unknown) => {
        if (!(error instanceof MillraceError) || error.code !== 'record_unreadable') throw error;
        expect(id).to.be.oneOf([HURT, 'bc2', 'sc2']);
      });
  }
}

/** Checks that a new write restores a record, whatever it replaces, and that it needs no more memory than before. */
async function expectMended(
  app: App,
  store: MemoryStore,
  scores: () => Promise<Record<string, number>>,
  before: Record<string, number>,
): Promise<void> {
  if ((await fill(app)) > 0) return; // A damaged event time is later than any other, and the answer counts such rows.
  expect(await scores()).to.deep.equal(before);
  const sizes = sizesOf(store);
  await fill(app);
  expect(sizesOf(store)).to.deep.equal(sizes);
}

const sizesOf = ({ records }: MemoryStore): unknown => KEYS.map((key) => records.get(key)?.length);
