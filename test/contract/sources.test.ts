import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { randomNumbers } from '../support/random-ensemble.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { BIN, repositoryPath } from '../support/repository.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

const PIPELINE = `pipeline: clicks
rank: product
request: { user: user }
components:
  - use: interaction
    as: history
    with:
      of: user
      with: product
      outputs:
        clicks: { event: click, window: 7d }
        items: { event: order, window: 7d, value: items }
  - use: score
    with: { value: 'history:clicks + 1000 * history:items' }
page: { size: 100, max_size: 100 }
`;

/** The project that reads all streams of one Redis. @param url where the streams are */
function files(url: string): Record<string, string> {
  const at = (stream: string, more = ''): string => `with: { url: "${url}", stream: ${stream}${more} }\n`;
  return {
    'schemas/entities/product.yaml':
      'entity: product\nextends: ProductEntity\nattributes:\n  title: string\n  price: float\n',
    'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures:\n  orders: int\n',
    'pipelines/clicks.yaml': PIPELINE,
    'sources/native.yaml': `source: native\nuse: redis_stream\ninto: feedback\n${at('native')}`,
    'sources/web.yaml': `source: web\nuse: redis_stream\ninto: feedback\nmap: segment\nrejected: web_bad\n${at('web', ', claim_idle: 1ms')}`,
    'sources/mine.yaml':
      'source: mine\nuse: redis_stream\ninto: feedback\n' +
      `map: { type: name, user: uid, product: item.id, event_id: eid }\n${at('mine')}`,
    'sources/products.yaml': `source: products\nuse: redis_stream\ninto: { entities: product }\n${at('products')}`,
    'sources/stock.yaml': `source: stock\nuse: redis_stream\ninto: { entities: product }\nwrite: merge\n${at('stock')}`,
    'sources/feed.yaml':
      'source: feed\nuse: redis_stream\ninto: entities\nmap: metarank\nwrite: merge\ncreate: true\n' +
      at('feed'),
    'sources/rows.yaml': `source: rows\nuse: redis_stream\ninto: { features: stats }\n${at('rows')}`,
  };
}

describeWith('redis-server', 'sources on Redis streams', function () {
  this.timeout(60_000);
  let redis: PrivateRedis;
  let streams: PrivateRedis;
  let client: Redis;
  let root = '';
  let app: App | undefined;

  before(async function () {
    redis = await startRedisServer();
    streams = await startRedisServer(['--appendonly', 'yes', '--appendfsync', 'always']);
    root = await writeProject(files(streams.url));
  });
  after(async () => {
    await redis.remove();
    await streams.remove();
    await rm(root, { recursive: true, force: true });
  });
  beforeEach(async () => {
    client = new Redis(streams.url);
    client.on('error', () => undefined);
    await client.flushall();
    const store = new Redis(redis.url);
    await store.flushall();
    store.disconnect();
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
    client.disconnect();
  });

  async function serve(): Promise<App> {
    const settings = loadSettings({ REDIS_URL: redis.url }, { project: root });
    const consumes = { consumer: 'one', slows: true };
    app = await createApp(settings, { logger: pino({ level: 'silent' }), consumes });
    return app;
  }

  const add = (stream: string, message: object | string): Promise<string | null> =>
    client.xadd(stream, '*', 'data', typeof message === 'string' ? message : JSON.stringify(message));

  const totals = (name: string): Readonly<Record<string, number>> => ({
    ...app?.sources?.states().find((one) => one.name === name)?.totals,
  });

  async function settled(...names: readonly string[]): Promise<void> {
    for (const name of names)
      await until(`${name} to be settled`, async () => {
        const groups = (await client.xinfo('GROUPS', name).catch(() => [])) as (string | number)[][];
        const group = groups.find((one) => one.includes(`millrace-${name}`));
        const of = (key: string): unknown => group?.[group.indexOf(key) + 1];
        return of('pending') === 0 && of('lag') === 0;
      });
  }

  /** What the pipeline counts, by product. */
  async function counted(
    by: App,
    user: string,
    products: readonly string[],
  ): Promise<Record<string, number>> {
    const body = { user: { user_id: user }, candidates: products.map((id) => ({ product_id: id })) };
    const { answer } = (await by.pipelines[0]?.run(body, { requestId: 'r' })) ?? expect.fail();
    const { ranked_candidates: ranked } = JSON.parse(JSON.stringify(answer)) as {
      ranked_candidates: { candidate_id: string; ranked_score: number }[];
    };
    return Object.fromEntries(ranked.map((one) => [one.candidate_id, one.ranked_score]));
  }

  const track = (id: string, event: string, user: string, properties: object): object => ({
    type: 'track',
    messageId: id,
    event,
    userId: user,
    anonymousId: 'a',
    timestamp: new Date().toISOString(),
    properties,
  });

  it('store bodies of the API, events of Segment, columns, entities and feature rows', async () => {
    const now = Date.now();
    await add('native', {
      request_id: 'r1',
      user: { user_id: 'u' },
      events: [{ type: 'click', product: { product_id: 'a' }, time: now }],
    });
    await add('web', track('m1', 'Product Clicked', 'u', { product_id: 'a', position: 3 }));
    const order = { products: [{ product_id: 'b', quantity: 2 }, { product_id: 'c' }, { product_id: 'c' }] };
    await add('web', track('m2', 'Order Completed', 'u', order));
    await add('web', { ...track('m3', 'x', 'u', {}), type: 'page' });
    await add('mine', { name: 'click', uid: 'u', item: { id: 'a' }, eid: 'e1' });
    await add('products', { product_id: 'a', title: 'Lamp', price: 9.5 });
    await add('rows', { product_id: 'a', orders: 7 });
    const served = await serve();
    await settled('native', 'web', 'mine', 'products', 'rows');
    await until('the counts', () => totals('web').stored === 4);
    expect(totals('web')).to.deep.equal({ stored: 4, skipped: 1 });
    expect(totals('native')).to.deep.equal({ stored: 1 });
    expect(totals('mine')).to.deep.equal({ stored: 1 });
    expect(await counted(served, 'u', ['a', 'b', 'c'])).to.deep.equal({ a: 3, b: 2000, c: 2000 });
    const found = await served.entities.get({ entity_type: 'product', entity_ids: ['a'] });
    expect(JSON.stringify(found)).to.include('"title":"Lamp"').and.include('9.5');
    const { answer } = await served.online.read({
      features: ['stats:orders'],
      entities: { product_id: ['a'] },
    });
    expect([...(answer.toJSON().results.at(-1)?.values ?? [])]).to.deep.equal([7]);
    const metrics = await served.metrics.registry.metrics();
    expect(metrics).to.include('millrace_source_rows_total{source="web",outcome="stored"} 4');
    expect(metrics).to.include('millrace_source_messages_total{source="web"} 3');
    expect(metrics).to.include('millrace_source_up{source="web"} 1');
  });

  it('merge messages into entities, and reject those of entities that are not there', async () => {
    await add('products', { product_id: 'a', title: 'Lamp', price: 9.5, extra: 1 });
    const served = await serve();
    await settled('products');
    await add('stock', { product_id: 'a', price: 8 });
    await add('stock', { product_id: 'none', price: 1 });
    await add('stock', { product_id: 'a', extra: null, price: 7 });
    const item = (id: string, field: object): object => ({
      event: 'item',
      id: `${id}-1`,
      item: id,
      timestamp: '1599391467000',
      fields: [field],
    });
    await add('feed', item('m', { name: 'title', value: 'Desk' }));
    await add('feed', item('m', { name: 'price', value: 3 }));
    await settled('stock', 'feed');
    await until('the counts', () => totals('stock').stored === 2 && totals('feed').stored === 2);
    expect(totals('stock')).to.deep.equal({ stored: 2, rejected: 1 });
    const [rejected] = await client.xrange('stock:rejected', '-', '+');
    expect(rejected?.[1]).to.include('the index does not have this product, and `create: true` is not set');
    const { entities } = await served.entities.get({ entity_type: 'product', entity_ids: ['a', 'm'] });
    expect(JSON.parse(JSON.stringify(entities))).to.deep.equal({
      a: { product_id: 'a', title: 'Lamp', price: 7 },
      m: { product_id: 'm', title: 'Desk', price: 3 },
    });
  });

  it('reject what cannot be read, whole and with its reason, and go on', async () => {
    await add('web', '{"type":');
    await client.xadd('web', '*', 'other', 'x');
    const latin1 = Buffer.from(
      '{"type":"track","event":"Product Clicked","properties":{"product_id":"é"}}',
      'latin1',
    );
    await client.xadd('web', '*', 'data', latin1, 'kept', Buffer.from([0, 0xff]));
    await add('web', { type: 'track', userId: 'u', properties: { product_id: 'a' } });
    await add('web', track('m1', 'Order Completed', 'u', { products: [{ product_id: 'a' }, {}] }));
    await add('web', track('m2', 'Product Clicked', 'u', { product_id: 'a' }));
    await add('web', {
      ...track('m3', 'Product Clicked', 'u', { product_id: 'a' }),
      timestamp: '2199-01-01T00:00:00Z',
    });
    await add('mine', { name: 'clik', uid: 'u', item: { id: 'a' } });
    await add('native', {
      user: { user_id: 'u' },
      events: [{ type: 'click', product: { product_id: 'a' } }],
    });
    const served = await serve();
    await settled('web', 'mine', 'native');
    await until('the counts', () => totals('web').rejected === 6 && totals('native').rejected === 1);
    expect(totals('web')).to.deep.equal({ stored: 1, rejected: 6 });
    expect(await counted(served, 'u', ['a'])).to.deep.equal({ a: 1 });
    const reasons = async (stream: string): Promise<string[]> =>
      (await client.xrange(stream, '-', '+')).map(([, fields]) => fields[fields.indexOf('reason') + 1] ?? '');
    const [broken, field, bytes, event, half, future] = await reasons('web_bad');
    expect(broken).to.equal('not JSON: unexpected end of JSON input');
    expect(field).to.equal('expected the field data, found other');
    expect(bytes).to.equal('not encoded in UTF-8');
    const moved = (await client.xrangeBuffer('web_bad', '-', '+'))[2]?.[1] ?? [];
    expect(moved.slice(0, 4)).to.deep.equal([
      ...[Buffer.from('data'), latin1],
      ...[Buffer.from('kept'), Buffer.from([0, 0xff])],
    ]);
    expect(event).to.equal('unknown_event: event is null');
    expect(half).to.equal('no_id: product_id is missing');
    expect(future).to.match(/^time: expected a time at most 300 s after now/);
    expect(await reasons('mine:rejected')).to.deep.equal(['unknown_event: name is "clik"']);
    expect(await reasons('native:rejected')).to.have.length(1);
  });

  it('lose no rejected message while its place is a key of another type', async () => {
    await client.set('web_bad', 'x');
    await add('web', '{"type":');
    await add('web', track('m1', 'Product Clicked', 'u', { product_id: 'a' }));
    const served = await serve();
    await until(
      'the warning',
      () => served.sources?.warnings().some(({ detail }) => detail.includes('web_bad')) === true,
    );
    await client.del('web_bad');
    await settled('web');
    expect(await client.xlen('web_bad')).to.equal(1);
    expect(served.sources?.warnings()).to.deep.equal([]);
    expect(await counted(served, 'u', ['a'])).to.deep.equal({ a: 1 });
  });

  it('count each event once, however often and by whomever it is delivered', async () => {
    const random = randomNumbers(16);
    const expected: Record<string, number> = {};
    const seen = new Set<string>();
    for (let i = 0; i < 400; i++) {
      const id = `m${Math.floor(random() * 200)}`;
      const product = `p${Number(id.slice(1)) % 5}`;
      await add('web', track(id, 'Product Clicked', 'u', { product_id: product }));
      if (!seen.has(id)) expected[product] = (expected[product] ?? 0) + 1;
      seen.add(id);
    }
    // Another consumer died after it had read some of them.
    await client.xgroup('CREATE', 'web', 'millrace-web', '0');
    await client.xreadgroup('GROUP', 'millrace-web', 'dead', 'COUNT', 60, 'STREAMS', 'web', '>');
    const served = await serve();
    await settled('web');
    await until('the counts', () => (totals('web').stored ?? 0) + (totals('web').duplicates ?? 0) === 400);
    expect(totals('web')).to.deep.equal({ stored: seen.size, duplicates: 400 - seen.size });
    expect(await counted(served, 'u', Object.keys(expected))).to.deep.equal(expected);
  });

  it('lose nothing if their Redis is killed, and tell readiness that they are lost', async () => {
    const served = await serve();
    await add('web', track('m1', 'Product Clicked', 'u', { product_id: 'a' }));
    await settled('web');
    await streams.stop();
    await until('the loss', () => served.sources?.warnings().length === served.sources?.states().length);
    expect(served.sources?.warnings()[0]).to.include({ code: 'source_lost' });
    expect(await served.metrics.registry.metrics()).to.include('millrace_source_up{source="web"} 0');
    expect(await counted(served, 'u', ['a'])).to.deep.equal({ a: 1 });
    await streams.start();
    await until('its Redis', async () => (await client.ping().catch(() => '')) === 'PONG');
    await add('web', track('m2', 'Product Clicked', 'u', { product_id: 'a' }));
    await settled('web');
    await until('the sources to be found', () => served.sources?.warnings().length === 0);
    expect(await counted(served, 'u', ['a'])).to.deep.equal({ a: 2 });
  });

  it('wait for a store that is killed, and then store what they hold', async () => {
    const served = await serve();
    await add('web', track('m1', 'Product Clicked', 'u', { product_id: 'a' }));
    await settled('web');
    await redis.stop();
    await add('web', track('m2', 'Product Clicked', 'u', { product_id: 'a' }));
    await until(
      'a retry',
      () => (served.sources?.states().find(({ name }) => name === 'web')?.retries ?? 0) > 0,
    );
    await redis.start();
    await settled('web');
    // The killed store keeps nothing on disk here, so it has what came afterwards.
    await until('the count', async () => (await counted(served, 'u', ['a']).catch(() => ({ a: 0 }))).a === 1);
  });

  it('go on where they were if their file changes', async () => {
    const served = await serve();
    await add('web', track('m1', 'Product Clicked', 'u', { product_id: 'a' }));
    await settled('web');
    const before = served.sources?.states().find(({ name }) => name === 'web');
    const { outcome } = await served.reload();
    expect(outcome).to.equal('succeeded');
    expect(served.sources?.states().find(({ name }) => name === 'web')).to.equal(before);
  });

  it('do what docs/sources.md shows', async () => {
    const page = readFileSync(repositoryPath('docs/sources.md'), 'utf8');
    const blocks = [...page.matchAll(/^```(?:yaml file|json message)=(\S+)\n(.*?)^```$/gms)];
    const of = (name: string): string =>
      blocks.find(([, found]) => found === name)?.[2] ?? expect.fail(`no block ${name}`);
    const folder = await writeProject({
      ...files(streams.url),
      'sources/native.yaml': '',
      'schemas/features/product_stats.yaml':
        'view: product_stats\nof: [product]\nfeatures: { orders_30d: int }\n',
      ...Object.fromEntries(
        ['web', 'shop', 'feature_rows'].map((name) => [`sources/${name}.yaml`, of(`sources/${name}.yaml`)]),
      ),
    });
    try {
      for (const name of ['native', 'mine', 'products', 'rows', 'stock', 'feed'])
        await rm(join(folder, `sources/${name}.yaml`));
      process.env.STREAM_URL = streams.url;
      await add('web', of('web').replace('NOW', new Date().toISOString()));
      await add('shop', of('shop'));
      const [, row = ''] = /XADD feature_rows '\*' view product_stats \\\n {2}row '(.*)'/.exec(page) ?? [];
      await client.xadd('feature_rows', '*', 'view', 'product_stats', 'row', row);
      const settings = loadSettings({ REDIS_URL: redis.url }, { project: folder });
      const consumes = { consumer: 'one', slows: false };
      app = await createApp(settings, { logger: pino({ level: 'silent' }), consumes });
      await settled('web', 'shop', 'feature_rows');
      expect(await counted(app, 'u1', ['p1'])).to.deep.equal({ p1: 2 });
      expect(totals('feature_rows')).to.deep.equal({ stored: 1 });
    } finally {
      delete process.env.STREAM_URL;
      await rm(folder, { recursive: true, force: true });
    }
  });

  describe('by millrace consume', () => {
    let child: ChildProcess | undefined;
    afterEach(() => child?.kill('SIGKILL'));

    function start(...names: string[]): ChildProcess {
      const env = { PATH: process.env.PATH, REDIS_URL: redis.url };
      return spawn(process.execPath, [BIN, 'consume', ...names, '--project', root], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    }

    it('survive kill -9 and equal an oracle; SIGTERM settles what was read', async () => {
      const random = randomNumbers(17);
      const expected: Record<string, number> = {};
      const put = async (from: number, to: number): Promise<void> => {
        const pipeline = client.pipeline();
        for (let i = from; i < to; i++) {
          const product = `p${Math.floor(random() * 20)}`;
          expected[product] = (expected[product] ?? 0) + 1;
          const message = track(`m${i}`, 'Product Clicked', 'u', { product_id: product });
          pipeline.xadd('web', '*', 'data', JSON.stringify(message));
        }
        await pipeline.exec();
      };
      await put(0, 600);
      child = start('web');
      await until('some to be read', async () => {
        const groups = (await client.xinfo('GROUPS', 'web').catch(() => [])) as (string | number)[][];
        const of = (key: string): unknown => groups[0]?.[groups[0].indexOf(key) + 1];
        return Number(of('entries-read') ?? 0) > 0;
      });
      child.kill('SIGKILL');
      await once(child, 'exit');
      await put(600, 900);
      child = start('web');
      await settled('web');
      child.kill('SIGTERM');
      expect((await once(child, 'exit'))[0]).to.equal(0);
      const settings = loadSettings({ REDIS_URL: redis.url, LOG_LEVEL: 'silent' }, { project: root });
      app = await createApp(settings);
      expect(await counted(app, 'u', Object.keys(expected))).to.deep.equal(expected);
    });

    it('say which sources there are', async () => {
      const { millrace } = await import('../support/command-line.js');
      const wrong = await millrace(['consume', 'webb', '--project', root], { env: { REDIS_URL: redis.url } });
      expect(wrong.code).to.equal(2);
      expect(wrong.stderr).to.include('did you mean web?');
    });
  });
});
