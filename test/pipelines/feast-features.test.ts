import { expect } from 'chai';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import type { OnlineAnswer } from '../../runtime/state/index/online-answer.js';
import type { OnlineFeatures } from '../../runtime/state/index/online-features.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { feastValue, materialise, type FeastRow } from '../support/feast-writer.js';
import { MemoryStore } from '../support/memory-store.js';
import { idsOf, rankedIn, scoresOf, writeProject } from '../support/project.js';
import { until } from '../support/until.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { rm } from 'node:fs/promises';

/** Features that Feast materialised into a Redis, read by a ranking and by get-online-features. */

const NOW = Date.UTC(2026, 0, 2);
const HOUR = 3_600_000;

const files = (url: string): Record<string, string> => ({
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), price: float }\n',
  'schemas/features/own.yaml': 'view: own\nof: [product]\nfeatures: { clicks: { type: int, default: 3 } }\n',
  'schemas/features/stats.yaml': `view: stats
of: [product]
ttl: 2h
source: { feast: { project: shop, url: "${url}", view: product_stats, fields: { ctr: CTR } } }
features: { ctr: float, orders: { type: int, default: 5 }, words: list(string) }
`,
  'schemas/features/user_stats.yaml': `view: user_stats
of: [user]
source:
  feast:
    project: shop
    url: "${url}"
    key_version: 2
    join_keys: { customer: { entity: user, type: int64 } }
features: { visits: int }
`,
  'schemas/features/taste.yaml': `view: taste
of: [user, brand]
source:
  feast:
    project: shop
    url: "${url}"
    join_keys: { brand_id: brand, user_id: { entity: user, type: int64 } }
features: { score: { type: float, default: 0.25 } }
`,
  'schemas/features/site.yaml': `view: site
of: []
source: { feast: { project: shop, url: "${url}" } }
features: { factor: float }
`,
  'pipelines/p.yaml': `pipeline: p
rank: product
request: { user: user }
features:
  - own
  - stats
  - user_stats
  - site
  - liking: taste(user, product.brand)
components:
  - use: score
    with:
      value: >-
        coalesce(stats:ctr, 100) + 1000 * stats:orders + 0.001 * own:clicks
        + 1000000 * coalesce(user_stats:visits, 9) + liking:score + coalesce(site:factor, 7) * 10000000
        + if(coalesce("red" in stats:words, false), 0.5, 0)
limits: { time: 10s }
`,
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: user, query: query }
features: [user_stats]
retrieve:
  - { use: words, with: { query: query.query, fields: { product.brand: 1 } }, when: "user_stats:visits == 4" }
components:
  - { use: score, with: { value: 0 } }
limits: { time: 10s }
`,
});

const product = (id: string, time: number | undefined, features: FeastRow['features']): FeastRow => ({
  keys: [['product_id', 'string', id]],
  view: 'product_stats',
  time,
  features,
});

interface FeatureEvent {
  readonly feature_name: string;
  readonly feature_identifier: string;
  readonly feature_value: unknown;
  readonly feature_status: 'present' | 'expired' | 'missing_feature' | 'defaulted';
}

function pipelineOf({ pipelines: [pipeline] }: App): App['pipelines'][number] {
  if (pipeline === undefined) throw new Error('the project has no pipeline');
  return pipeline;
}

describeWith('redis-server', 'features in Feast', () => {
  let redis: PrivateRedis;
  let app: App;
  let root = '';

  before(async function () {
    this.timeout(20_000);
    redis = await startRedisServer();
    await materialise(redis.url, [
      product('p1', NOW - HOUR, {
        CTR: feastValue('double_val', 0.125),
        orders: feastValue('int64_val', 2),
        words: feastValue('string_list_val', ['red', 'shoe']),
      }),
      product('p2', NOW - 3 * HOUR, { CTR: feastValue('double_val', 9), orders: feastValue('int64_val', 9) }),
      {
        keys: [['customer', 'int64', '1001']],
        version: 2,
        view: 'user_stats',
        time: NOW,
        features: { visits: feastValue('int32_val', 4) },
      },
      {
        keys: [
          ['user_id', 'int64', '1001'],
          ['brand_id', 'string', 'b1'],
        ],
        view: 'taste',
        time: NOW,
        features: { score: feastValue('float_val', 0.5) },
      },
      { keys: [], view: 'site', time: NOW, features: { factor: feastValue('float_val', 1) } },
    ]);
    root = await writeProject(files(redis.url));
    const settings = loadSettings({ LOG_LEVEL: 'silent' }, { project: root });
    app = await createApp(settings, { store: new MemoryStore(), clock: () => NOW });
    const entities = ['p1', 'p2', 'p3'].map((id) => ({ product_id: id, brand: id === 'p3' ? 'b2' : 'b1' }));
    await app.entities.upload({ entity_type: 'product', entities });
    await app.features.push({ view: 'own', rows: [{ product_id: 'p1', clicks: 8 }] });
  });

  after(async () => {
    await (app as App | undefined)?.close();
    await (redis as PrivateRedis | undefined)?.remove();
    await rm(root, { recursive: true, force: true });
  });

  const rank = async (userId: string): Promise<Record<string, number>> => {
    const candidates = ['p1', 'p2', 'p3'].map((id) => ({ product_id: id }));
    const body = { user: { user_id: userId }, candidates };
    const { answer } = await pipelineOf(app).run(body, { requestId: 'r' });
    return scoresOf(rankedIn(answer));
  };

  it('are read like those of the store: with every kind of key, expired, missing, with defaults', async () => {
    const base = 4_000_000 + 10_000_000;
    expect(await rank('1001')).to.deep.equal({
      p1: base + 0.125 + 2000 + 0.008 + 0.5 + 0.5,
      p2: base + 100 + 5000 + 0.003 + 0.5,
      p3: base + 100 + 5000 + 0.003 + 0.25,
    });
  });

  it('are read for retrievers too, also if no step reads them', async () => {
    const search = app.pipelines.find(({ name }) => name === 'search');
    const find = async (user: string): Promise<string[]> => {
      const body = { user: { user_id: user }, query: { query: 'b1' } };
      const { answer } = (await search?.run(body, { requestId: 'r' })) ?? {};
      return answer === undefined ? [] : idsOf(rankedIn(answer));
    };
    await until('the words of the products', async () => (await find('1001')).join() === 'p1,p2', 8000);
    expect(await find('1')).to.deep.equal([]);
  });

  it('are missing for ids that do not fit the join key', async () => {
    const base = 9_000_000 + 10_000_000;
    expect((await rank('not a number')).p3).to.equal(base + 100 + 5000 + 0.003 + 0.25);
  });

  it('are counted in the report separately from store reads', async () => {
    const body = { user: { user_id: '1001' }, candidates: [{ product_id: 'p1' }, { product_id: 'p2' }] };
    const { report } = await pipelineOf(app).run(body, { requestId: 'r' });
    // Two products, a user, (user, brand), the site: each kind of key is a separate read.
    expect(report.outside).to.deep.equal({ roundTrips: 4, keysRead: 5 });
    expect(report.featureStatuses.list()).to.deep.include({
      view: 'stats',
      status: 'expired',
      cause: undefined,
      values: 2,
    });
  });

  it('are the same in get-online-features', async () => {
    const { metadata, results } = await getOnline(app.online, {
      features: ['stats:ctr', 'stats:orders', 'own:clicks', 'stats:words'],
      entities: { product_id: ['p1', 'p2', 'p3'] },
    });
    expect(metadata.feature_names).to.deep.equal(['product_id', 'ctr', 'orders', 'clicks', 'words']);
    expect(results.map(({ values }) => values)).to.deep.equal([
      ['p1', 'p2', 'p3'],
      [0.125, null, null],
      [2, 5, 5],
      [8, 3, 3],
      [['red', 'shoe'], null, null],
    ]);
    const statuses = results.map((result) => result.statuses.join(' '));
    expect(statuses.slice(1)).to.deep.equal([
      'PRESENT OUTSIDE_MAX_AGE NOT_FOUND',
      'PRESENT OUTSIDE_MAX_AGE NOT_FOUND',
      'PRESENT NOT_FOUND NOT_FOUND',
      'PRESENT OUTSIDE_MAX_AGE NOT_FOUND',
    ]);
    expect(results[1]?.event_timestamps).to.deep.equal([
      '2026-01-01T23:00:00Z',
      '2026-01-01T21:00:00Z',
      '1970-01-01T00:00:00Z',
    ]);
  });

  it('have the same value and status in the events of a ranking and in get-online-features', async () => {
    const ids = ['p1', 'p2', 'p3'];
    const body = {
      user: { user_id: '1001' },
      candidates: ids.map((id) => ({ product_id: id })),
      include_events: true,
    };
    const { answer } = await pipelineOf(app).run(body, { requestId: 'r' });
    const features = ['stats:ctr', 'stats:orders', 'own:clicks'];
    const { results } = await getOnline(app.online, { features, entities: { product_id: ids } });
    let compared = 0;
    for (const { event_data: data } of (answer.events?.toJSON() ?? []) as unknown as readonly {
      event_data: FeatureEvent;
    }[]) {
      const result = results[features.indexOf(data.feature_name) + 1];
      const row = ids.indexOf(data.feature_identifier);
      if (!features.includes(data.feature_name) || row < 0) continue;
      compared++;
      expect(result?.values[row], data.feature_name).to.equal(data.feature_value);
      const causes = {
        present: 'PRESENT',
        expired: 'OUTSIDE_MAX_AGE',
        missing_feature: 'NOT_FOUND',
      } as const;
      if (data.feature_status === 'defaulted') expect(result?.statuses[row]).not.to.equal('PRESENT');
      else expect(result?.statuses[row]).to.equal(causes[data.feature_status]);
    }
    expect(compared).to.equal(features.length * ids.length);
  });

  it('are found by join key or entity key, also by numbers, composite and global', async () => {
    const { results } = await getOnline(app.online, {
      features: ['user_stats:visits', 'taste:score', 'site:factor'],
      entities: { customer: [1001, 1], user_id: ['1001', 1001], brand_id: ['b1', 'b2'] },
      full_feature_names: true,
    });
    expect(results.slice(3).map(({ values }) => values)).to.deep.equal([
      [4, null],
      [0.5, 0.25],
      [1, 1],
    ]);
  });

  it('cannot be pushed', async () => {
    const error: unknown = await app.features
      .push({ view: 'stats', rows: [{ product_id: 'p1', ctr: 1 }] })
      .catch((caught: unknown) => caught);
    expect(error).to.include({ code: 'invalid_body' });
    expect(String(error)).to.contain('reads its rows from Feast and is read-only');
  });

  it('fail a ranking while Feast’s Redis is down, and work again afterwards', async function () {
    this.timeout(20_000);
    await redis.stop();
    const error: unknown = await rank('1001').catch((caught: unknown) => caught);
    expect(error).to.include({ code: 'store_unavailable' });
    await redis.start();
    for (;;) {
      const scores = await rank('1001').catch(() => undefined);
      if (scores !== undefined) {
        expect(scores.p1).to.equal(9_000_000 + 70_000_000 + 100 + 5000 + 0.008 + 0.25); // the server came back empty
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
});

async function getOnline(online: OnlineFeatures, body: unknown): Promise<OnlineAnswer> {
  return (await online.read(body)).answer.toJSON();
}
