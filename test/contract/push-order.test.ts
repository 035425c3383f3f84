import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { writeProject } from '../support/project.js';
import { randomNumbers } from '../support/random-ensemble.js';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { draws } from '../support/draws.js';

/** Rows of all runs together, pushed or deleted. */
const CHANGES = draws(25_000);
const ROWS = 1000;
const VIEWS = ['orders', 'clicks'] as const;

/** Two views of one entity, which share a record; one of a composite. */
const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'schemas/features/orders.yaml': 'view: orders\nof: [product]\nfeatures:\n  value: int\n',
  'schemas/features/clicks.yaml': 'view: clicks\nof: [product]\nfeatures:\n  value: int\n',
  'pipelines/plain.yaml':
    'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
};

interface Row {
  readonly product_id: string;
  readonly event_time: number;
  /** Of a push. */
  readonly value?: number;
}

interface Body {
  readonly view: (typeof VIEWS)[number];
  readonly rows: Row[];
}

/** What must be left of a row: null where its deletion is the newest, or as new as the newest pushes. */
interface Newest {
  readonly time: number;
  readonly values: Set<number | null>;
}

/** Pushes and deletes rows in random bodies, several at once from every instance, and says what must be left of them. */
async function changeAll(apps: readonly App[], seed: number, keys: number, run: number): Promise<void> {
  const random = randomNumbers(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const start = Date.now() - 300_000;
  const newest = new Map<string, Newest>();
  const bodies: { readonly deletes: boolean; readonly body: Body }[] = [];
  for (let value = 0; value < ROWS;) {
    const view = VIEWS[below(2)] ?? 'orders';
    const deletes = below(3) === 0;
    const rows: Row[] = [];
    for (let left = 1 + below(40); left > 0 && value < ROWS; left--, value++) {
      const row = { product_id: `${run}-${below(keys)}`, event_time: start + below(300) };
      rows.push(deletes ? row : { ...row, value });
      const key = `${view} ${row.product_id}`;
      const best = newest.get(key);
      const values = deletes ? [null] : [value];
      if (best === undefined || best.time < row.event_time)
        newest.set(key, { time: row.event_time, values: new Set(values) });
      else if (best.time === row.event_time && !best.values.has(null))
        newest.set(key, { time: best.time, values: new Set(deletes ? values : [...best.values, ...values]) });
    }
    bodies.push({ deletes, body: { view, rows } });
  }
  await Promise.all(
    apps.flatMap((app) =>
      [1, 2, 3].map(async () => {
        for (let next = bodies.pop(); next !== undefined; next = bodies.pop())
          await (next.deletes ? app.features.remove(next.body) : app.features.push(next.body));
      }),
    ),
  );
  const [app] = apps;
  for (const [key, { values }] of newest) {
    const [view = '', id = ''] = key.split(' ');
    const read = await app?.online.read({
      features: [`${view}:value`],
      entities: { product_id: [id] },
    });
    // Of rows with one event time the last to arrive stays; side by side, that can be any of them.
    expect(values, key).to.include(read?.answer.toJSON().results.at(-1)?.values[0]);
  }
}

describeWith('redis-server', 'concurrent pushes and deletions of rows out of order', () => {
  let root = '';
  let redis: PrivateRedis;
  const open: App[] = [];

  before(async function () {
    redis = await startRedisServer();
    root = await writeProject(FILES);
  });
  after(async () => {
    for (const app of open) await app.close();
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  });

  async function instance(flags: { readonly store: string; readonly dataDir?: string }): Promise<App> {
    const env = { REDIS_URL: redis.url, LOG_LEVEL: 'silent' };
    const app = await createApp(loadSettings(env, { project: root, ...flags }));
    open.push(app);
    return app;
  }

  async function check(apps: readonly App[]): Promise<void> {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.integer({ min: 1, max: 30 }), (seed, keys) =>
        changeAll(apps, seed, keys, run++),
      ),
      { numRuns: CHANGES / ROWS, endOnFailure: true },
    );
  }

  it('leave the newest row of every key: three instances on one Redis', async function () {
    this.timeout(120_000);
    await check([
      await instance({ store: 'redis' }),
      await instance({ store: 'redis' }),
      await instance({ store: 'redis' }),
    ]);
  });

  it('leave the newest row of every key: the embedded store', async function () {
    this.timeout(120_000);
    const dataDir = await mkdtemp(join(tmpdir(), 'millrace-order-'));
    await check([await instance({ store: 'embedded', dataDir })]);
    await rm(dataDir, { recursive: true, force: true });
  });
});
