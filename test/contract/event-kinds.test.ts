import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import type { Ledger } from '../../runtime/state/ledger/ledger.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { decodeEventCodes } from '../../runtime/state/store/event-codes.js';
import { eventCodesKey } from '../../runtime/state/store/keys.js';
import { millrace } from '../support/command-line.js';
import { cellsOf, memoryLedger } from '../support/memory-ledger.js';
import { scoresOf, writeProject } from '../support/project.js';
import { startRedisCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';

/** Histories expire by the clock of the store. */
const NOW = Date.now();
const HOUR = 3_600_000;

/** A project that scores a product by the events of one kind, of the user and the product. */
function filesOf(events: string, counted: string): Record<string, string> {
  return {
    'millrace.yaml': `project: shop\n${events === '' ? '' : `events: ${events}\n`}`,
    'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
    'schemas/features/product_stats.yaml':
      'view: product_stats\nof: [product]\nhistory: true\nttl: 7d\nfeatures: { ctr: float, tags: list(string), seen: timestamp, place: vector(2), hot: bool, note: { type: string, private: true } }\n',
    'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {}, user: optional(user) }
components:
  - use: interaction
    as: its
    with: { of: user, with: product, outputs: { count: { event: ${counted}, window: 7d } } }
  - use: score
    with: { value: "coalesce(its:count, -1)" }
`,
  };
}

const WISHES = '{ click: {}, wish: {}, order: { revenue: float, gift: bool, items: int, note: string } }';
const SHARES = '{ share: {}, click: {} }';

const of = (type: string, over: object = {}): object => ({ type, product: { product_id: 'p' }, ...over });

describe('kinds of feedback', () => {
  let redis: PrivateRedis | undefined;
  let cluster: PrivateCluster | undefined;
  const roots: string[] = [];
  const apps: App[] = [];
  let data = '';

  before(async () => {
    data = await writeProject({});
  });
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true });
  });
  after(async () => {
    await redis?.remove();
    await cluster?.remove();
    await rm(data, { recursive: true, force: true });
  });

  async function rootOf(events: string, counted: string): Promise<string> {
    const root = await writeProject(filesOf(events, counted));
    roots.push(root);
    return root;
  }

  interface Engine {
    readonly env: (name: string) => Readonly<Record<string, string>>;
    /** Whether several processes can use the store at the same time. */
    readonly isShared: boolean;
    readonly flush: () => Promise<unknown>;
  }

  async function open(root: string, env: Readonly<Record<string, string>>, ledger?: Ledger): Promise<App> {
    const settings = loadSettings({ LOG_LEVEL: 'silent', ...env }, { project: root });
    const app = await createApp(settings, { clock: () => NOW, ledger });
    apps.push(app);
    return app;
  }

  const close = async (app: App): Promise<void> => {
    apps.splice(apps.indexOf(app), 1);
    await app.close();
  };

  const send = async (app: App, request: string, ...events: object[]): Promise<object> => {
    const body = { request_id: request, user: { user_id: 'u' }, events };
    const { stored, duplicates, too_old, unused } = (await app.feedback.record(body)).answer;
    return { stored, duplicates, too_old, unused };
  };

  const score = async (app: App): Promise<number | undefined> => {
    const body = { user: { user_id: 'u' }, candidates: [{ product_id: 'p' }] };
    const run = await app.pipelines[0]?.run(body, { requestId: 'ranking' });
    return scoresOf(run?.answer.ranked_candidates ?? [])['p'];
  };

  const codes = async (app: App): Promise<object> => {
    const [record] = await app.store.read([eventCodesKey('millrace')]);
    return Object.fromEntries(decodeEventCodes(record ?? Buffer.alloc(0)) ?? []);
  };

  const ENGINES: readonly (readonly [string, () => Promise<Engine>])[] = [
    [
      'the embedded store',
      () =>
        Promise.resolve({
          env: (name) => ({ MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(data, name) }),
          isShared: false,
          flush: () => Promise.resolve(),
        }),
    ],
    [
      'Redis',
      async () => {
        redis ??= await startRedisServer();
        const { url } = redis;
        return {
          env: () => ({ MILLRACE_STORE: 'redis', REDIS_URL: url }),
          isShared: true,
          flush: async () => {
            const client = new Redis(url);
            await client.flushall();
            await client.quit();
          },
        };
      },
    ],
    [
      'a Redis Cluster',
      async () => {
        cluster ??= await startRedisCluster({ masters: 3, replicas: false });
        const { addresses, servers } = cluster;
        const nodes = addresses.map(({ host, port }) => `${host}:${port}`).join(',');
        return {
          env: () => ({ MILLRACE_STORE: 'redis', REDIS_CLUSTER: nodes }),
          isShared: true,
          flush: async () => {
            for (const number of servers.keys()) await cluster?.client(number).flushall();
          },
        };
      },
    ],
  ];

  for (const [name, engineOf] of ENGINES) {
    describeWith(name === 'the embedded store' ? [] : 'redis-server', `on ${name}`, () => {
      let engine: Engine;
      before(async function () {
        this.timeout(30_000);
        engine = await engineOf();
      });
      beforeEach(() => engine.flush());

      it('are counted under the names that the project declares', async () => {
        const app = await open(await rootOf(WISHES, 'wish'), engine.env('counted'));
        expect(await send(app, 'r1', of('wish'), of('order', { revenue: 9.5, gift: true }))).to.deep.equal({
          ...{ stored: 1, duplicates: 0, too_old: 0, unused: 1 },
        });
        expect(await send(app, 'r1', of('wish'))).to.include({ stored: 0, duplicates: 1 });
        expect(await score(app)).to.equal(1);
        expect(await codes(app)).to.deep.equal({ wish: 4 });
      });

      it('of another version of the project stay in a history, with their codes', async () => {
        const env = engine.env('beside');
        const [wishes, shares] = [await rootOf(WISHES, 'wish'), await rootOf(SHARES, 'share')];
        let old = await open(wishes, env);
        expect(await send(old, 'r1', of('wish'))).to.include({ stored: 1 });
        if (!engine.isShared) await close(old);
        // It does not declare `wish`, and rewrites the history that has one.
        const fresh = await open(shares, env);
        expect(await score(fresh)).to.equal(0);
        expect(await send(fresh, 'r2', of('share'))).to.include({ stored: 1 });
        expect(await score(fresh)).to.equal(1);
        expect(await codes(fresh)).to.deep.equal({ wish: 4, share: 5 });
        if (!engine.isShared) {
          await close(fresh);
          old = await open(wishes, env);
        }
        expect(await send(old, 'r3', of('wish'))).to.include({ stored: 1 });
        expect(await score(old)).to.equal(2);
      });

      it('of a project that declares none, and of one that does, have the same codes', async () => {
        const env = engine.env('plain');
        const plain = await open(await rootOf('', 'order'), env);
        expect(await send(plain, 'r1', of('order'))).to.include({ stored: 1 });
        expect(await plain.store.read([eventCodesKey('millrace')])).to.deep.equal([null]);
        await close(plain);
        const declared = await open(await rootOf('{ wish: {}, order: { revenue: float } }', 'order'), env);
        expect(await score(declared)).to.equal(1);
        expect(await send(declared, 'r1', of('order'))).to.include({ duplicates: 1 });
      });

      it('apply after a reload, also to histories that are there', async () => {
        const env = engine.env('reloaded');
        const root = await rootOf(WISHES, 'wish');
        const app = await open(root, env);
        await send(app, 'r1', of('wish'));
        for (const [path, text] of Object.entries(filesOf(SHARES, 'share'))) {
          await writeFile(join(root, path), text);
        }
        expect((await app.reload()).outcome).to.equal('succeeded');
        expect(await send(app, 'r2', of('share'))).to.include({ stored: 1 });
        const refused = await send(app, 'r2', of('wish')).catch(
          (error: unknown) => error as { code: string },
        );
        expect(refused).to.include({ code: 'invalid_body' });
        expect(await score(app)).to.equal(1);
      });

      it('survive a backup, and a restore beside other codes is refused', async () => {
        const env = engine.env('backed-up');
        const app = await open(await rootOf(WISHES, 'wish'), env);
        await send(app, 'r1', of('wish'));
        await close(app);
        const [root = ''] = roots;
        const run = (at: Readonly<Record<string, string>>, ...args: string[]): ReturnType<typeof millrace> =>
          millrace(['store', ...args, '--project', root], { env: { ...at, LOG_LEVEL: 'silent' } });
        const file = join(root, 'backup');
        expect((await run(env, 'check')).code).to.equal(0);
        expect((await run(env, 'backup', file)).code).to.equal(0);
        const target = { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'restored') };
        expect((await run(target, 'restore', file)).code).to.equal(0);
        const restored = await open(root, target);
        expect([await codes(restored), await score(restored)]).to.deep.equal([{ wish: 4 }, 1]);
        await close(restored);
        const other = { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'other') };
        await close(await open(await rootOf(SHARES, 'share'), other));
        const { code, stderr } = await run(other, 'restore', file);
        expect([code, stderr.includes('other codes')]).to.deep.equal([1, true]);
      });

      it('take an order of no ranking once, by its id or its time', async () => {
        const app = await open(await rootOf(WISHES, 'order'), engine.env('orders'));
        const order = (over: object): Promise<unknown> =>
          app.feedback
            .record({ user: { user_id: 'u' }, events: [of('order', over)] })
            .then(({ answer }) => answer);
        const stored = { request_id: null, stored: 1, duplicates: 0, too_old: 0, unused: 0, uncounted: 0 };
        const again = { ...stored, stored: 0, duplicates: 1 };
        expect(await order({ event_id: 'o-1' })).to.deep.equal(stored);
        expect(await order({ event_id: 'o-1', time: NOW - HOUR })).to.deep.equal(again);
        expect(await order({ event_id: 'o-2' })).to.deep.equal(stored);
        expect(await order({ time: NOW - HOUR })).to.deep.equal(stored);
        expect(await order({ time: NOW - HOUR })).to.deep.equal(again);
        expect(await order({ time: NOW - 2 * HOUR })).to.deep.equal(stored);
        expect(await score(app)).to.equal(4);
      });

      it('are recorded with their values, owners and outcomes', async () => {
        const memory = memoryLedger();
        const app = await open(await rootOf(WISHES, 'order'), engine.env('recorded'), memory.ledger);
        const values = { revenue: 9.5, gift: true, items: 2 ** 40, note: 'ü' };
        await send(
          app,
          'r1',
          of('order', { ...values, quantity: 3, position: 2, time: NOW - 5 }),
          of('click'),
        );
        await send(app, 'r1', of('order'), of('order', { event_id: 7, time: NOW - 8 * 24 * HOUR }));
        await app.feedback.recording.idle(10_000);
        // Records of one schema keep their order; others can be written in between.
        const found = (await memory.records()).sort(
          (a, b) => Number(b.schema.meta.event === 'click') - Number(a.schema.meta.event === 'click'),
        );
        expect(found.map(({ kind, schema }) => [kind, schema.meta])).to.deep.equal(
          ['click', 'order', 'order', 'order'].map((event) => [
            'feedback',
            { event, subject_type: 'product', owners: ['user'] },
          ]),
        );
        const [click, first, second, third] = found.map((record) =>
          Object.fromEntries(
            record.schema.columns.map((column) => [column.name, cellsOf(record, column.name)[0]]),
          ),
        );
        expect(first).to.deep.equal({
          ...{ request_id: 'r1', time: NOW - 5, received: NOW, event: 'order' },
          ...{ subject_type: 'product', subject_id: 'p', quantity: 3, position: 2, outcome: 'stored' },
          ...{
            attributed: undefined,
            event_id: undefined,
            revenue: 9.5,
            gift: true,
            items: 2 ** 40,
            note: 'ü',
          },
          user: 'u',
        });
        expect(click).to.include({ event: 'click', outcome: 'unused', position: undefined });
        expect(second).to.include({
          outcome: 'duplicate',
          revenue: undefined,
          gift: undefined,
          note: undefined,
        });
        expect(third).to.include({ outcome: 'too_old', event_id: '7' });
      });

      it('leave room in the ledger for each pushed row of a view with a history, also one that lost', async () => {
        const memory = memoryLedger();
        const app = await open(await rootOf(WISHES, 'order'), engine.env('rows'), memory.ledger);
        const row = { product_id: 'p', event_time: NOW - HOUR, ctr: 0.5, tags: ['a', 'b'], place: [1, 0.25] };
        await app.features.push({
          view: 'product_stats',
          rows: [{ ...row, seen: '2026-01-01', hot: false, note: 'hidden' }],
        });
        const late = { product_id: 'p', event_time: NOW - 2 * HOUR };
        expect((await app.features.push({ view: 'product_stats', rows: [late] })).older).to.equal(1);
        const found = await memory.records();
        expect(found.map(({ schema }) => schema.meta)).to.deep.equal([
          { view: 'product_stats', keys: ['product'], ttl: 168 * HOUR },
          { view: 'product_stats', keys: ['product'], ttl: 168 * HOUR },
        ]);
        expect(found[0]?.schema.columns.some(({ name: column }) => column === 'note')).to.equal(false);
        const names = ['keys', 'time', 'stored', 'ctr', 'tags', 'seen', 'place', 'hot'];
        const [first, second] = found.map((record) => names.map((column) => cellsOf(record, column)[0]));
        expect(first).to.deep.equal([
          ['p'],
          NOW - HOUR,
          NOW,
          0.5,
          ['a', 'b'],
          Date.UTC(2026, 0, 1),
          [1, 0.25],
          false,
        ]);
        expect(second).to.deep.equal([
          ['p'],
          NOW - 2 * HOUR,
          NOW,
          ...Array.from({ length: 5 }, () => undefined),
        ]);
      });
    });
  }
});
