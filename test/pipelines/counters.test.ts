import { expect } from 'chai';
import type { FeedbackAnswer } from '../../runtime/serve/feedback/feedback.js';
import { memoryLedger } from '../support/memory-ledger.js';
import { MemoryStore } from '../support/memory-store.js';
import { until } from '../support/until.js';
import { changeGenerations } from '../../runtime/state/counters/generation-record.js';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const FILES = {
  'millrace.yaml': 'events: { impression: {}, click: {}, order: { revenue: float } }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), shelves: list(ref(shelf)) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/entities/shelf.yaml': 'entity: shelf\n',
  'schemas/counters/brand_live.yaml': `counter: brand_live
of: [brand]
by: [product.brand]
ttl: 90d
features:
  clicks: { event: click, window: 7d }
  heat: { event: click, half_life: 12h }
  revenue: { event: order, window: 30d, value: sum(revenue) }
  buyers: { event: order, window: 30d, value: distinct(user) }
  ctr: { event: click, over: impression, window: 7d, prior: { weight: 100, mean: global } }
`,
  'schemas/counters/shelf_live.yaml':
    'counter: shelf_live\nof: [shelf]\nby: [product.shelves]\nfeatures: { clicks: { event: click, window: 1d } }\n',
  'schemas/counters/user_brand.yaml':
    'counter: user_brand\nof: [user, brand]\nby: [user, product.brand]\nfeatures: { clicks: { event: click, window: 1d }, last: { event: click, value: last(time) } }\n',
  'schemas/counters/product_live.yaml':
    'counter: product_live\nof: [product]\nfeatures: { clicks: { event: click, window: 1h } }\n',
  'schemas/counters/site.yaml': 'counter: site\nof: []\nfeatures: { clicks: { event: click, window: 1h } }\n',
};

const ranking = (features: string, value: string): Record<string, string> => ({
  ...FILES,
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { user: optional(user) }
features:
  - ${features}
components:
  - use: score
    with: { value: "${value}" }
`,
});

const PRODUCTS = [
  { product_id: 'a', brand: 'lumen', shelves: ['x', 'y'] },
  { product_id: 'b', brand: 'halcyon', shelves: ['y'] },
  { product_id: 'c', brand: 'lumen', shelves: [] },
];

describe('counters in a pipeline', () => {
  let project: TestProject | undefined;
  let now = 0;

  async function start(features: string, value: string): Promise<TestProject> {
    now = Date.now();
    project = await startProject(ranking(features, value), { now: () => now });
    await project.upload('product', ...PRODUCTS);
    return project;
  }

  const send = async (
    events: readonly object[],
    user: string | null = 'u',
    requestId = 'r',
  ): Promise<FeedbackAnswer | undefined> => {
    const body = { request_id: requestId, user: user === null ? null : { user_id: user }, events };
    return (await project?.app.feedback.record(body))?.answer;
  };

  const scores = async (): Promise<Record<string, number>> =>
    scoresOf(
      (await project?.rank({
        user: { user_id: 'u' },
        candidates: PRODUCTS.map(({ product_id }) => ({ product_id })),
      })) ?? [],
    );

  const about = (type: string, product_id: string, more: object = {}): object => ({
    type,
    product: { product_id },
    ...more,
  });

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  it('have their rebuilt counts for retrievers, also if no step reads them', async () => {
    const store = new MemoryStore();
    await changeGenerations(store, 'millrace', 'site', () => ({ serving: 1 }));
    project = await startProject(
      {
        ...FILES,
        'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {} }
features: [site]
retrieve:
  - { use: words, with: { query: '"lumen"', fields: { product.brand: 1 } }, when: "site:clicks == 1" }
components:
  - { use: score, with: { value: 0 } }
`,
      },
      { store },
    );
    await project.upload('product', ...PRODUCTS);
    expect(await project.rank({})).to.deep.equal([]);
    await send([about('click', 'b')]);
    await until('the words of the products', async () => (await project?.rank({}))?.length === 2, 8000);
  });

  it('count what feedback acknowledges, for the very next ranking', async () => {
    await start('brand_now: brand_live(product.brand)', 'brand_now:clicks');
    expect(await scores()).to.deep.equal({ a: 0, b: 0, c: 0 });
    expect(await send([about('click', 'a'), about('click', 'c'), about('impression', 'b')])).to.deep.include({
      stored: 3,
      unused: 0,
    });
    expect(await scores()).to.deep.equal({ a: 2, b: 0, c: 2 });
    now += 8 * 24 * HOUR;
    expect(await scores()).to.deep.equal({ a: 0, b: 0, c: 0 });
  });

  it('count feedback that is sent again once', async () => {
    await start('brand_now: brand_live(product.brand)', 'brand_now:clicks');
    const events = [about('click', 'a', { event_id: 'e1' }), about('click', 'a', { event_id: 'e2' })];
    expect(await send(events)).to.deep.include({ stored: 2, duplicates: 0 });
    now += 9 * MINUTE;
    expect(await send(events)).to.deep.include({ stored: 0, duplicates: 2 });
    expect(await scores()).to.deep.equal({ a: 2, b: 0, c: 2 });
  });

  it('count clicks of two users in one second, who send no id and no request, and each of them once', async () => {
    await start('product_live', 'product_live:clicks');
    const click = async (user: string): Promise<unknown> => {
      const body = { user: { user_id: user }, events: [about('click', 'a', { time: now })] };
      return (await project?.app.feedback.record(body))?.answer;
    };
    expect(await click('u')).to.deep.include({ stored: 1, duplicates: 0 });
    expect(await click('v')).to.deep.include({ stored: 1, duplicates: 0 });
    expect(await click('u')).to.deep.include({ stored: 0, duplicates: 1 });
    expect(await scores()).to.deep.equal({ a: 2, b: 0, c: 0 });
  });

  it('leave out an event that is older than the ids that are remembered, and count the rest of its body', async () => {
    await start('brand_now: brand_live(product.brand)', 'brand_now:clicks');
    const events = [about('click', 'b'), about('click', 'a', { time: now - 11 * MINUTE })];
    const none = { request_id: 'r', duplicates: 0, unused: 0 };
    expect(await send(events)).to.deep.equal({ ...none, stored: 1, too_old: 1, uncounted: 1 });
    expect(await scores()).to.deep.equal({ a: 0, b: 1, c: 0 });
  });

  it('leave a late event to the histories and the ledger, and say so each time that it is sent', async () => {
    const memory = memoryLedger();
    now = Date.now();
    const files = {
      ...FILES,
      'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { user: optional(user) }
features: [product_live]
components:
  - use: interaction
    as: history
    with: { of: user, with: product, outputs: { clicks: { event: click, window: 7d } } }
  - use: score
    with: { value: "product_live:clicks + 10 * history:clicks" }
`,
    };
    project = await startProject(files, { now: () => now, ledger: memory.ledger });
    await project.upload('product', ...PRODUCTS);
    const late = [about('click', 'a', { event_id: 'e1', time: now - HOUR }), about('click', 'b')];
    const none = { request_id: 'r', too_old: 0, unused: 0 };
    expect(await send(late)).to.deep.equal({ ...none, stored: 2, duplicates: 0, uncounted: 1 });
    expect(await scores()).to.deep.equal({ a: 10, b: 11, c: 0 });
    now += MINUTE;
    expect(await send(late)).to.deep.equal({ ...none, stored: 0, duplicates: 2, uncounted: 1 });
    expect(await scores()).to.deep.equal({ a: 10, b: 11, c: 0 });
    await project.app.feedback.recording.idle(10_000);
    const told = (await memory.records()).filter(({ kind }) => kind === 'feedback');
    const texts = told.map((record) => ['event_id', 'outcome'].map((name) => record.field(name)?.at(0)));
    expect(texts).to.have.deep.members([
      ['e1', 'stored'],
      [undefined, 'stored'],
      ['e1', 'duplicate'],
      [undefined, 'duplicate'],
    ]);
  });

  it('sum values, count distinct users, and cool down', async () => {
    await start(
      'brand_now: brand_live(product.brand)',
      '1000 * brand_now:revenue + 10 * brand_now:buyers + brand_now:heat',
    );
    await send([about('order', 'a', { revenue: 2.5, event_id: '1' }), about('click', 'b')]);
    await send([about('order', 'c', { revenue: 1, event_id: '2' })], 'v');
    await send([about('order', 'c', { event_id: '3' })], 'v');
    expect(await scores()).to.deep.equal({ a: 3520, b: 1, c: 3520 });
    now += 12 * HOUR;
    expect(await scores()).to.deep.equal({ a: 3520, b: 0.5, c: 3520 });
  });

  it('draw a rate to the rate of all entities', async () => {
    await start('brand_now: brand_live(product.brand)', 'brand_now:ctr');
    await send([
      ...Array.from({ length: 10 }, (_, i) => about('impression', 'a', { event_id: `i${i}` })),
      ...Array.from({ length: 10 }, (_, i) => about('impression', 'b', { event_id: `j${i}` })),
      ...Array.from({ length: 4 }, (_, i) => about('click', 'a', { event_id: `c${i}` })),
    ]);
    const found = await scores();
    expect(found['a']).to.be.closeTo((4 + 100 * 0.2) / 110, 1e-12);
    expect(found['b']).to.be.closeTo(20 / 110, 1e-12);
  });

  it('count for every element of a list, for pairs, and for everything', async () => {
    await start(
      'site\n  - product_live\n  - user_brand: user_brand(user, product.brand)',
      '100 * site:clicks + 10 * product_live:clicks + user_brand:clicks',
    );
    await send([about('click', 'a', { event_id: '1' }), about('click', 'b', { event_id: '2' })]);
    await send([about('click', 'a', { event_id: '3' })], 'v');
    await send([about('click', 'a', { event_id: '4' })], null);
    expect(await scores()).to.deep.equal({ a: 431, b: 411, c: 401 });
  });

  it('are features: with a status, in explanations, and in events', async () => {
    await start('user_brand: user_brand(user, product.brand)', 'coalesce(now() - user_brand:last, -1)');
    await send([about('click', 'a')]);
    now += 5000;
    expect(await scores()).to.deep.equal({ a: 5000, b: -1, c: 5000 });
    const [pipeline] = project?.app.pipelines ?? [];
    const body = {
      user: { user_id: 'u' },
      candidates: [{ product_id: 'a' }, { product_id: 'b' }, { product_id: 'z' }],
    };
    const told = await pipeline?.explain(body, { requestId: 'made-up', runId: 'run-1' });
    const values = new Map(
      told?.page.map(({ candidate_id, values: its }) => [candidate_id, its['user_brand:last']]),
    );
    expect(values.get('a')).to.deep.equal({ value: now - 5000, status: 'present' });
    expect(values.get('b')).to.deep.equal({ value: null, status: 'missing_feature' });
    expect(values.get('z')).to.deep.equal({ value: null, status: 'missing_entity' });
  });
});
