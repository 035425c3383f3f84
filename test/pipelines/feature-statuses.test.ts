import { expect } from 'chai';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

/** Batch features in a ranking: keys of several entities, causes of missing values, expiry, defaults. */

const DAY = 86_400_000;
const NOW = Date.parse('2026-03-01T00:00:00Z');

const SCHEMAS = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), maker: ref(brand), price: float }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { rating: float, owner: ref(brand) }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite: ref(brand) }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nfeatures: { ctr: float, clicks: { type: int, default: 7 }, words: list(string), taste: vector(2) }\n',
  'schemas/features/more.yaml': 'view: more\nof: [product]\nfeatures: { ctr: float }\n',
  'schemas/features/apart.yaml': 'view: apart\nof: [product]\ngroup: nightly\nfeatures: { ctr: float }\n',
  'schemas/features/taste.yaml':
    'view: taste\nof: [user, brand]\nfeatures: { ctr: float, clicks: { type: int, default: 5 } }\n',
  'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { sales: float }\n',
  'schemas/features/site.yaml': 'view: site\nof: []\nfeatures: { factor: float }\n',
  'schemas/features/short.yaml':
    'view: short\nof: [product]\nttl: 1d\nexpired: missing\nfeatures: { value: { type: float, default: 1 }, bare: float }\n',
  'schemas/features/old.yaml':
    'view: old\nof: [product]\nttl: 1d\nexpired: stale\nfeatures: { value: { type: float, default: 1 } }\n',
  'schemas/features/strict.yaml':
    'view: strict\nof: [product]\nttl: 1d\nexpired: fail\nfeatures: { value: { type: float, default: 1 } }\n',
};

const FEATURES = `features:
  - stats
  - more
  - apart
  - site
  - short
  - old
  - strict
  - liking: taste(user, product.brand)
  - of_brand: brand_stats(product.brand)
  - of_maker: brand_stats(product.maker)
  - of_owner: brand_stats(product.brand.owner)
  - of_favourite: brand_stats(user.favourite)
`;

interface FeatureEvent {
  readonly event_type: string;
  readonly event_data: Record<string, unknown>;
}

describe('batch features in a ranking', () => {
  let project: TestProject | undefined;
  let now = NOW;

  beforeEach(() => {
    now = NOW;
  });
  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function start(value: string): Promise<TestProject> {
    const text = `pipeline: ranking\nrank: product\nrequest: { user: optional(user) }\n${FEATURES}components:\n  - use: score\n    with: { value: '${value}' }\n`;
    project = await startProject({ ...SCHEMAS, 'pipelines/ranking.yaml': text }, { now: () => now });
    return project;
  }

  /** The statuses of one candidate's features in its events. */
  async function statusesOf(service: TestProject, body: object): Promise<Record<string, unknown>> {
    const { events } = await service.run({ ...body, include_events: true });
    return Object.fromEntries(
      (events as FeatureEvent[])
        .filter(({ event_type }) => event_type === 'FEATURE')
        .map(({ event_data }) => [String(event_data.feature_name), event_data.feature_status]),
    );
  }

  it('reads one entity by several paths with each key once, and views of one group together', async () => {
    const { upload, push, run } = await start(
      'of_brand:sales + 10 * of_maker:sales + 100 * of_owner:sales + 1000 * of_favourite:sales',
    );
    await upload(
      'product',
      { product_id: 'p', brand: 'x', maker: 'y' },
      { product_id: 'q', brand: 'y', maker: 'x' },
    );
    await upload('brand', { brand_id: 'x', owner: 'y' }, { brand_id: 'y', owner: 'y' });
    await upload('user', { user_id: 'u', favourite: 'x' });
    await push('brand_stats', { brand_id: 'x', sales: 1 }, { brand_id: 'y', sales: 2 });
    const { ranked, report } = await run({
      candidates: [{ product_id: 'p' }, { product_id: 'q' }],
      user: { user_id: 'u' },
    });
    expect(scoresOf(ranked)).to.deep.equal({ p: 1221, q: 1212 });
    // Two products and a user; two brands; features of two brands.
    expect(report.keysRead).to.equal(7);
    expect(report.roundTrips).to.equal(2);
  });

  it('reads views of one group from one record, and those of another group from another record', async () => {
    const { push, run } = await start(
      'stats:ctr + 10 * more:ctr + 100 * apart:ctr + 1000 * site:factor + count(stats:words)',
    );
    await push('stats', { product_id: 'p', ctr: 1, words: ['a', 'b'] });
    await push('more', { product_id: 'p', ctr: 2 });
    await push('apart', { product_id: 'p', ctr: 3 });
    await push('site', { factor: 4 });
    const { ranked, report } = await run({ candidates: [{ product_id: 'p' }] });
    expect(scoresOf(ranked)).to.deep.equal({ p: 4323 });
    expect(report.keysRead).to.equal(3);
    expect(report.roundTrips).to.equal(1);
  });

  it('keeps feature lists separate in a frame that is reused for more and for fewer candidates', async () => {
    const { push, rank } = await start('count(stats:words) + coalesce(if(known(stats:ctr), 10, 0), 0)');
    for (let i = 0; i < 40; i++)
      await push('stats', {
        product_id: `p${i}`,
        words: Array.from({ length: i % 4 }, () => 'w'),
        ...(i % 2 ? { ctr: 1 } : {}),
      });
    const ask = (n: number): object => ({
      candidates: Array.from({ length: n }, (_, i) => ({ product_id: `p${i}` })),
    });
    for (const n of [2, 40, 3, 33, 1]) {
      const scores = scoresOf(await rank({ ...ask(n), user_page_size: n }));
      expect(scores).to.deep.equal(
        Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, (i % 4) + (i % 2 ? 10 : 0)])),
      );
    }
  });

  it('reports why a composite feature is missing, and uses its default', async () => {
    const service = await start(
      'liking:clicks + 10 * coalesce(liking:ctr, -1) + coalesce(of_owner:sales, 0)',
    );
    await service.upload('product', { product_id: 'p', brand: 'x' }, { product_id: 'none', brand: null });
    await service.push('taste', { user_id: 'u', brand_id: 'x', ctr: 2, clicks: null });
    const candidates = [{ product_id: 'p' }, { product_id: 'none' }, { product_id: 'gone' }];
    const withUser = { candidates, user: { user_id: 'u' } };
    expect(scoresOf(await service.rank(withUser))).to.deep.equal({ p: 25, none: -5, gone: -5 });
    expect(scoresOf(await service.rank({ candidates }))).to.deep.equal({ p: -5, none: -5, gone: -5 });
    const one = (product_id: string, more: object = {}): object => ({
      candidates: [{ product_id }],
      ...more,
    });
    const user = { user: { user_id: 'u' } };
    expect((await statusesOf(service, one('p', user)))['liking:ctr']).to.equal('present');
    expect((await statusesOf(service, one('p', user)))['liking:clicks']).to.equal('defaulted');
    expect((await statusesOf(service, one('p', user)))['of_owner:sales']).to.equal('missing_entity');
    expect((await statusesOf(service, one('none', user)))['liking:ctr']).to.equal('missing_entity');
    expect((await statusesOf(service, one('p')))['liking:ctr']).to.equal('missing_entity');
    const other = { user: { user_id: 'other' } };
    expect((await statusesOf(service, one('p', other)))['liking:ctr']).to.equal('missing_feature');
  });

  it('expires rows by the policy of the view, to the millisecond', async () => {
    const service = await start(
      'short:value + coalesce(short:bare, -1) * 10 + old:value * 100 + coalesce(strict:value, -2) * 1000',
    );
    const event_time = NOW - DAY;
    for (const view of ['short', 'old', 'strict'])
      await service.push(view, {
        product_id: 'p',
        value: 3,
        event_time,
        ...(view === 'short' ? { bare: 4 } : {}),
      });
    const body = { candidates: [{ product_id: 'p' }] };
    expect(scoresOf(await service.rank(body))).to.deep.equal({ p: 3343 });
    now = NOW + 1;
    expect(scoresOf(await service.rank(body))).to.deep.equal({ p: 1 - 10 + 300 - 2000 });
    expect(await statusesOf(service, body)).to.deep.include({
      'short:value': 'defaulted',
      'short:bare': 'expired',
      'old:value': 'stale',
      'strict:value': 'failed',
    });
  });

  it('distinguishes unusual ids in entities, features and composites', async () => {
    const { upload, push, rank } = await start(
      'stats:ctr + 1000 * product.price + 1000000 * coalesce(liking:ctr, 0)',
    );
    const ids = [
      'a',
      'a:b',
      'a,b',
      'a/b',
      'é',
      'e\u0301',
      '商品',
      '😀',
      '__proto__',
      'constructor',
      ' ',
      '0',
      '00',
      'A',
      '*',
      '\u0000',
      'x'.repeat(1024),
    ];
    await upload(
      'product',
      ...ids.map((product_id, i) => ({ product_id, price: i, brand: ids[(i + 1) % ids.length] ?? '' })),
    );
    await push('stats', ...ids.map((product_id, i) => ({ product_id, ctr: i })));
    await push('taste', ...ids.map((brand_id, i) => ({ user_id: 'a:b', brand_id, ctr: i })));
    await push('taste', { user_id: 'a', brand_id: 'b:a', ctr: 500 });
    const scores = scoresOf(
      await rank({
        candidates: ids.map((product_id) => ({ product_id })),
        user: { user_id: 'a:b' },
        user_page_size: ids.length,
      }),
    );
    ids.forEach((id, i) => {
      const taste = (i + 1) % ids.length;
      expect(Object.getOwnPropertyDescriptor(scores, id)?.value, JSON.stringify(id)).to.equal(
        i + 1000 * i + 1_000_000 * taste,
      );
    });
  });
});
