import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { StreamReader } from '../../plugins/redis_stream/stream-reader.js';
import { targetOf } from '../../runtime/serve/app/project/sources.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import type { SourceTarget, Totals } from '../../runtime/serve/sources/intake.js';
import { RowIntake } from '../../runtime/serve/sources/row-intake.js';
import { RunningSource } from '../../runtime/serve/sources/running-source.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/served-project.js';
import { describeWith } from '../support/needs.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { BIN } from '../support/repository.js';

const STREAM = 'clicks';
const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures:\n  orders: int\n',
  'pipelines/stats.yaml':
    'pipeline: stats\nrank: product\nfeatures: [stats]\ncomponents:\n' +
    "  - use: score\n    with: { value: 'stats:orders' }\n",
};

/** Before every event time here. */
const START = Date.UTC(2026, 0, 1);

interface Row {
  readonly product_id: string;
  readonly orders: unknown;
  readonly event_time?: number;
}

describeWith('redis-server', 'a stream of feature rows', () => {
  let redis: PrivateRedis;
  let client: Redis;
  let root = '';
  let app: App;

  before(async function () {
    redis = await startRedisServer();
    client = new Redis(redis.url);
    root = await writeProject(FILES);
    app = await createApp(loadSettings({ REDIS_URL: redis.url, LOG_LEVEL: 'silent' }, { project: root }));
  });
  after(async () => {
    client.disconnect();
    await app.close();
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await client.flushall();
  });

  const add = (view: string, row: Row | string, id = '*'): Promise<string | null> =>
    client.xadd(STREAM, id, 'view', view, 'row', typeof row === 'string' ? row : JSON.stringify(row));

  const target: SourceTarget = {
    feedback: (body) => targetOf(app).feedback(body),
    upload: (type, rows) => targetOf(app).upload(type, rows),
    update: (type, rows, create) => targetOf(app).update(type, rows, create),
    push: (view, rows) => targetOf(app).push(view, rows),
  };

  function reader({
    url = redis.url,
    consumer = 'one',
    claimIdleMs = 60_000,
    timeoutMs = 10_000,
  }): StreamReader {
    return new StreamReader(
      { url, stream: STREAM, field: 'row' },
      { group: 'millrace', consumer, rejected: `${STREAM}:rejected`, start: '0', claimIdleMs, timeoutMs },
    );
  }

  function running(source: StreamReader, into: Pick<SourceTarget, 'push'>): RunningSource {
    const features = { into: { kind: 'features', name: undefined }, map: undefined, about: '' } as const;
    const project = { entities: new Map(), events: new Map() };
    const intake = new RowIntake(features, project, { ...target, ...into });
    const log = { info: () => undefined, warn: () => undefined };
    return new RunningSource(source, () => intake, { name: STREAM, log });
  }

  /** Consumes in this process until all entries are settled. */
  async function consumeAll(
    into: Pick<SourceTarget, 'push'> = target,
    consumer = 'one',
    claimIdleMs = 60_000,
  ): Promise<Totals> {
    const source = running(reader({ consumer, claimIdleMs }), into);
    await until(async () => isSettled(await client.xinfo('GROUPS', STREAM).catch(() => [])));
    await source.stop();
    return source.counts();
  }

  function isSettled(groups: unknown): boolean {
    const [group] = groups as (string | number)[][];
    if (group === undefined) return false;
    const of = (name: string): unknown => group[group.indexOf(name) + 1];
    return of('pending') === 0 && of('lag') === 0;
  }

  async function ordersOf(...ids: string[]): Promise<unknown[]> {
    const { answer } = await app.online.read({
      features: ['stats:orders'],
      entities: { product_id: ids },
    });
    return [...(answer.toJSON().results.at(-1)?.values ?? [])];
  }

  it('is stored, acknowledged, and what has a later event time stays', async () => {
    await add('stats', { product_id: 'a', orders: 5, event_time: START + 2000 });
    await add('stats', { product_id: 'a', orders: 4, event_time: START + 1000 });
    await add('stats', { product_id: 'b', orders: 7 });
    expect(await consumeAll()).to.deep.equal({ stored: 2, older: 1, expired: 0, skipped: 0, rejected: 0 });
    expect(await ordersOf('a', 'b')).to.deep.equal([5, 7]);
  });

  it('counts a row without an event time from when it was added', async () => {
    await add('stats', { product_id: 'a', orders: 1, event_time: START + 5000 });
    await add('stats', { product_id: 'a', orders: 2 }, `${4000 + Date.now()}-0`);
    await consumeAll();
    await app.features.push({ view: 'stats', rows: [{ product_id: 'a', orders: 3 }] });
    expect(await ordersOf('a')).to.deep.equal([2]);
  });

  it('puts what cannot be stored aside with its reason, and goes on', async () => {
    await add('stats', { product_id: 'a', orders: 'many' });
    await add('stat', { product_id: 'a', orders: 1 });
    await add('stats', '{"product_id": ');
    await client.xadd(STREAM, '*', 'something', 'else');
    await add('stats', { product_id: 'a', orders: 1, event_time: START / 1000 });
    await add('stats', { product_id: 'a', orders: 1, event_time: Date.UTC(9999, 0, 1) });
    await add('stats', { product_id: 'a', orders: 9 });
    expect(await consumeAll()).to.deep.equal({ stored: 1, older: 0, expired: 0, skipped: 0, rejected: 6 });
    expect(await ordersOf('a')).to.deep.equal([9]);
    const aside = await client.xrange(`${STREAM}:rejected`, '-', '+');
    const reasons = aside.map(([, fields]) =>
      fields[fields.indexOf('reason') + 1]?.replace(/\(\d{4}-.*?\)/, '(…)'),
    );
    expect(reasons).to.have.members([
      'orders: expected a whole number up to 2^53, found the text "many"',
      'view: no feature view is called "stat"; did you mean "stats"?',
      'not JSON: unexpected end of JSON input',
      'expected the field row, found something',
      'event_time: expected 2000-01-01T00:00:00.000Z or later, found the number 1767225600 (…); this looks like seconds: multiply by 1000',
      'event_time: expected a time at most 3600 s after now (…), found the number 253370764800000 (9999-01-01T00:00:00.000Z)',
    ]);
    expect(aside[0]?.[1]).to.include('rejected_id');
  });

  it('is delivered again to who was killed before it acknowledged', async () => {
    await add('stats', { product_id: 'a', orders: 5, event_time: START + 1000 });
    const stalled: Pick<SourceTarget, 'push'> = {
      push: async (view, rows) => {
        await target.push(view, rows);
        throw new Error('killed after the store had it');
      },
    };
    const first = running(reader({}), stalled);
    await until(async () => (await client.xpending(STREAM, 'millrace').catch(() => [0]))[0] === 1);
    await first.stop();
    // Meanwhile a newer row came another way; the second delivery must not undo it.
    await app.features.push({
      view: 'stats',
      rows: [{ product_id: 'a', orders: 6, event_time: START + 2000 }],
    });
    expect(await consumeAll()).to.deep.equal({ stored: 0, older: 1, expired: 0, skipped: 0, rejected: 0 });
    expect(await ordersOf('a')).to.deep.equal([6]);
  });

  it('is taken over from a consumer that died, by another', async () => {
    await add('stats', { product_id: 'a', orders: 5 });
    await client.xgroup('CREATE', STREAM, 'millrace', '0');
    await client.xreadgroup('GROUP', 'millrace', 'dead', 'COUNT', 10, 'STREAMS', STREAM, '>');
    expect(await consumeAll(target, 'alive', 1)).to.deep.equal({
      stored: 1,
      older: 0,
      expired: 0,
      skipped: 0,
      rejected: 0,
    });
    expect(await ordersOf('a')).to.deep.equal([5]);
  });

  it('waits for a store that is away, and loses nothing', async () => {
    for (let i = 0; i < 20; i++) await add('stats', { product_id: `p${i}`, orders: i });
    let calls = 0;
    const away: Pick<SourceTarget, 'push'> = {
      push: (view, rows) =>
        ++calls < 3
          ? Promise.reject(new MillraceError('store_unavailable', 'away'))
          : target.push(view, rows),
    };
    expect(await consumeAll(away)).to.deep.equal({
      stored: 20,
      older: 0,
      expired: 0,
      skipped: 0,
      rejected: 0,
    });
    expect(await ordersOf('p0', 'p19')).to.deep.equal([0, 19]);
  });

  it('is given up where its server says nothing more, and read again', async () => {
    const proxy = await startTcpProxy(redis.port);
    const stream = reader({ url: `redis://127.0.0.1:${proxy.port}`, timeoutMs: 100 });
    const { signal } = new AbortController();
    try {
      await stream.open();
      await add('stats', { product_id: 'a', orders: 5 });
      proxy.weather = 'blackhole';
      expect(await stream.read(10, signal).catch((error: unknown) => error)).to.be.instanceOf(Error);
      proxy.weather = 'clear';
      await stream.open();
      expect(await stream.read(10, signal)).to.have.length(1);
    } finally {
      stream.close();
      await proxy.close();
    }
  });

  it('ends with the newest row, whatever the order and however often each comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ id: fc.integer({ min: 0, max: 3 }), time: fc.integer({ min: 1, max: 50 }) }), {
          minLength: 1,
          maxLength: 60,
        }),
        async (events) => {
          await client.flushall();
          const newest = new Map<string, number>();
          for (const { id, time } of events) {
            const product_id = `p${id}`;
            await add('stats', { product_id, orders: time, event_time: START + time });
            newest.set(product_id, Math.max(time, newest.get(product_id) ?? 0));
          }
          await consumeAll();
          expect(await ordersOf(...newest.keys())).to.deep.equal([...newest.values()]);
        },
      ),
      { numRuns: 8 },
    );
  });

  describe('by the command line', () => {
    let child: ChildProcess | undefined;
    let withSource = '';
    before(async () => {
      const source =
        "source: rows\nuse: redis_stream\ninto: features\nwith: { url: '${REDIS_URL}', stream: clicks, field: row, " +
        'group: millrace, consumer: cli }\n';
      withSource = await writeProject({ ...FILES, 'sources/rows.yaml': source });
    });
    afterEach(() => child?.kill('SIGKILL'));
    after(() => rm(withSource, { recursive: true, force: true }));

    function start(): ChildProcess {
      const argv = ['consume', 'rows', '--project', withSource];
      const env = { PATH: process.env.PATH, REDIS_URL: redis.url };
      return spawn(process.execPath, [BIN, ...argv], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    }

    it('survives kill -9 with nothing lost, ends well on SIGTERM, and is seen by a service that ranks', async () => {
      for (let i = 0; i < 500; i++)
        await add('stats', { product_id: `p${i % 50}`, orders: i, event_time: START + i + 1 });
      child = start();
      await until(async () => Number((await client.xpending(STREAM, 'millrace').catch(() => [1]))[0]) === 0);
      child.kill('SIGKILL');
      await once(child, 'exit');
      for (let i = 500; i < 600; i++)
        await add('stats', { product_id: `p${i % 50}`, orders: i, event_time: START + i + 1 });
      child = start();
      const [pipeline] = app.pipelines;
      const rank = async (): Promise<unknown> =>
        (
          await pipeline?.run(
            { candidates: [{ product_id: 'p0' }, { product_id: 'p49' }], user_page_size: 2 },
            { requestId: 'r' },
          )
        )?.answer;
      await until(async () => JSON.stringify(await rank()).includes('"ranked_score":599'));
      await until(async () => isSettled(await client.xinfo('GROUPS', STREAM)));
      expect(await ordersOf('p0', 'p1', 'p49')).to.deep.equal([550, 551, 599]);
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number];
      expect(code).to.equal(0);
    });
  });
});
