import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { encodeSegment, viewId } from '../../runtime/state/store/codec/feature-record.js';
import { RecordLayout } from '../../runtime/state/store/codec/record-layout.js';
import { connectRedisStore, type RedisStore } from '../../runtime/state/store/redis/redis-store.js';
import type { RedisSettings } from '../../runtime/project/settings/redis-target.js';
import { RedisTracking } from '../../runtime/state/store/redis/tracking.js';
import { StoreWriteError } from '../../runtime/state/store/store.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { describeWith } from '../support/needs.js';
import { until, untilItWorks } from '../support/until.js';

const QUICK = {
  connectTimeout: 200,
  socketTimeout: 200,
  commandTimeout: 600,
  longestPause: 50,
  openWithin: 2000,
};
const value = Buffer.from('v');

async function failed(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  if (error instanceof MillraceError && error.code.startsWith('store_')) return error.message;
  if (error instanceof StoreWriteError && !error.confirmed.includes(true)) return error.message;
  throw new Error(`expected a store that is unavailable, got ${String(error)}`);
}

describeWith('redis-server', 'redis behind a bad connection', () => {
  let server: PrivateRedis;
  let proxy: TcpProxy;
  let store: RedisStore;
  let client: Redis;

  before(async function () {
    server = await startRedisServer();
    client = new Redis(server.url);
  });
  after(async () => {
    client.disconnect();
    await server.remove();
  });
  beforeEach(async () => {
    proxy = await startTcpProxy(server.port);
    store = await open({});
    await client.set('k', 'v');
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
  });
  const open = (more: Partial<RedisSettings>): Promise<RedisStore> =>
    connectRedisStore({ url: `redis://127.0.0.1:${proxy.port}`, limits: QUICK, ...more });

  it('gives up a connection that a reply was cut off in, and sends nothing twice', async () => {
    proxy.weather = 'reset';
    await client.del('counted');
    // What has an effect each time would show a second sending: the segment merge of an empty record is one SET.
    const writes = await failed(store.write([{ key: 'counted', value: Buffer.alloc(100) }]));
    expect(writes).to.contain('connection was lost');
    expect(await failed(store.read(['k', 'a', 'b']))).to.contain('connection was lost');
    const calls = await commandCalls(client, 'mset');
    proxy.weather = 'clear';
    await untilItWorks(() => store.ping());
    expect(await store.read(['k'])).to.deep.equal([value]);
    expect(await commandCalls(client, 'mset')).to.equal(calls);
  });

  it('gives up a connection that has gone silent, and fails at once until there is another', async () => {
    proxy.weather = 'blackhole';
    expect(await failed(store.read(['k']))).to.contain('no reply within the time-out');
    expect(await failed(store.write([{ key: 'k', value }]))).to.contain('no reply within the time-out');
    const sent = proxy.sent;
    for (let i = 0; i < 100; i++) await failed(store.read(['k'.repeat(1000)]));
    // Only handshakes of new connections went out, none of the reads.
    expect(proxy.sent - sent).to.be.lessThan(10_000);
    proxy.weather = 'clear';
    expect(await untilItWorks(() => store.read(['k']))).to.deep.equal([value]);
  });

  it('gives up a connection whose replies cannot be understood, and answers nothing from them', async () => {
    const before = proxy.connections;
    proxy.weather = 'garbled';
    const both = await Promise.all([failed(store.read(['k', 'a'])), failed(store.read(['k']))]);
    for (const message of both) expect(message).to.contain('cannot be understood');
    proxy.weather = 'clear';
    expect(await untilItWorks(() => store.read(['k', 'a']))).to.deep.equal([value, null]);
    expect(proxy.connections).to.be.greaterThan(before);
  });

  it('confirms no write whose reply is not that of a write', async () => {
    proxy.weather = 'garbled';
    await failed(store.write([{ key: 'k', value }]));
    await failed(store.remove(['k']));
    proxy.weather = 'clear';
    await untilItWorks(() => store.write([{ key: 'k', value }]));
  });

  it('gives up a command whose reply only drips in', async () => {
    await client.set('large', Buffer.alloc(10_000));
    proxy.weather = 'drip';
    expect(await failed(store.read(['large']))).to.contain('no reply within the time-out');
    proxy.weather = 'clear';
    expect(await untilItWorks(() => store.read(['k']))).to.deep.equal([value]);
  });

  it('keeps no reads for a server that is stalled: more than may be in flight are refused', async () => {
    const narrow = await open({
      limits: { ...QUICK, socketTimeout: 60_000, commandTimeout: 60_000, inFlight: 1000 },
    });
    proxy.weather = 'blackhole';
    const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`);
    const reads = Array.from({ length: 50 }, () => narrow.read(keys, AbortSignal.timeout(50)).catch(String));
    const outcomes = await Promise.all(reads);
    expect(outcomes.filter((text) => /1000 keys wait/.test(String(text)))).to.have.length(40);
    expect(outcomes.filter((text) => /deadline/.test(String(text)))).to.have.length(10);
    // The ten are still owed after their deadline; they are not forgotten while they take memory.
    expect(await failed(narrow.read(keys))).to.contain('1000 keys wait');
    await narrow.close();
  });

  it('bounds the bytes of writes that are under way', async () => {
    const narrow = await open({ limits: { ...QUICK, inFlightBytes: 1_000_000 } });
    proxy.weather = 'blackhole';
    const first = narrow.write([{ key: 'a', value: Buffer.alloc(900_000) }]).catch(String);
    expect(await failed(narrow.write([{ key: 'b', value: Buffer.alloc(200_000) }]))).to.contain('wait for');
    expect(await first).to.contain('no reply');
    await narrow.close();
  });

  it('reads while a large write is held up: they do not share a connection', async () => {
    const names = (await client.client('LIST')) as string;
    expect(names).to.contain('name=millrace-read').and.to.contain('name=millrace-write');
  });

  it('does not apply a write that was under way when it was given up after a later one', async () => {
    proxy.weather = 'late';
    expect(await failed(store.write([{ key: 'k', value: Buffer.from('older') }]))).to.contain('no reply');
    proxy.weather = 'clear';
    await untilItWorks(() => store.write([{ key: 'k', value: Buffer.from('newer') }]));
    proxy.arrive();
    await pause(100);
    expect(await store.read(['k'])).to.deep.equal([Buffer.from('newer')]);
  });

  it('writes nothing while the server has not closed the connection before', async () => {
    process.kill(server.pid(), 'SIGSTOP');
    let stopped = true;
    try {
      await failed(store.write([{ key: 'k', value: Buffer.from('older') }]));
      await failed(store.write([{ key: 'k', value: Buffer.from('refused') }]));
      process.kill(server.pid(), 'SIGCONT');
      stopped = false;
      await untilItWorks(() => store.write([{ key: 'k', value: Buffer.from('newer') }]));
      await pause(100);
      expect(await store.read(['k'])).to.deep.equal([Buffer.from('newer')]);
      const names = String(await client.client('LIST')).match(/name=millrace-write/g);
      expect(names).to.have.length(1);
    } finally {
      if (stopped) process.kill(server.pid(), 'SIGCONT');
    }
  });

  it('goes on where the server will not close a connection, and says what that costs', async () => {
    await client.acl('SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-client|kill');
    const told: string[] = [];
    const limited = await connectRedisStore({
      url: server.url.replace('//', '//app:secret@'),
      limits: QUICK,
      warn: (message) => told.push(message),
    });
    await limited.write([{ key: 'k', value }]);
    await client.call('CLIENT', 'KILL', 'USER', 'app');
    await untilItWorks(() => limited.write([{ key: 'k', value }]));
    await limited.close();
    expect(told).to.have.length(1);
    expect(told[0]).to.contain('NOPERM').and.to.contain('+client|kill');
  });

  it('does not apply a write that was given up after a later one', async () => {
    process.kill(server.pid(), 'SIGSTOP');
    try {
      // Too large for the socket's buffers, so that part of it waits in this process.
      const records = Array.from({ length: 20 }, (_, i) => ({
        key: `old ${i}`,
        value: Buffer.alloc(1_000_000),
      }));
      await failed(store.write(records));
    } finally {
      process.kill(server.pid(), 'SIGCONT');
    }
    await untilItWorks(() => store.write([{ key: 'old 19', value }]));
    await pause(100);
    expect(await store.read(['old 19'])).to.deep.equal([value]);
  });
});

describeWith('redis-server', 'a redis that refuses', () => {
  let server: PrivateRedis | undefined;
  let store: RedisStore | undefined;
  afterEach(async () => {
    await store?.close();
    await server?.remove();
    store = server = undefined;
  });

  it('writes as a replica: the write fails and says so, and works once it is master', async () => {
    server = await startRedisServer(['--replicaof', '127.0.0.1 1']);
    store = await connectRedisStore({ url: server.url, limits: QUICK });
    expect(await failed(store.write([{ key: 'k', value }]))).to.contain('READONLY');
    const client = new Redis(server.url);
    await client.replicaof('NO', 'ONE');
    client.disconnect();
    const opened = store;
    await untilItWorks(() => opened.write([{ key: 'k', value }]));
    expect(await untilItWorks(() => opened.read(['k']))).to.deep.equal([value]);
  });

  it('writes beyond its memory: they fail one by one, and reads go on', async () => {
    server = await startRedisServer(['--maxmemory-policy', 'noeviction']);
    store = await connectRedisStore({ url: server.url, limits: QUICK });
    await store.write([{ key: 'k', value }]);
    const client = new Redis(server.url);
    await client.config('SET', 'maxmemory', '1');
    expect(await failed(store.write([{ key: 'k', value: Buffer.from('w') }]))).to.contain('OOM');
    expect(await store.read(['k'])).to.deep.equal([value]);
    await client.config('SET', 'maxmemory', '0');
    client.disconnect();
    await store.write([{ key: 'k', value: Buffer.from('w') }]);
  });

  it('all but what a user of its own needs', async () => {
    // As docs/redis.md lists them.
    const rights =
      '+@connection +@read +@write +@scripting +info +wait +cluster|slots +subscribe &__redis__:invalidate';
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    server = await startRedisServer(['--user', ...`app on >secret ~millrace:* ${rights}`.split(' ')]);
    const url = server.url.replace('//', '//app:secret@');
    store = await connectRedisStore({ url, limits: QUICK, warn });
    const tracking = new RedisTracking(store.masters, {
      prefixes: ['millrace:entity:product:'],
      leaseMs: 100,
      warn,
    });
    tracking.start({ invalidate: () => undefined, flush: () => undefined });
    await until('the notices', () => tracking.isCurrent());
    tracking.close();
    const key = 'millrace:entity:product:p';
    await store.write([{ key, value }]);
    expect(await store.read([key])).to.deep.equal([value]);
    const segment = encodeSegment(viewId('v'), new RecordLayout([], undefined), 1, {});
    expect(await store.mergeSegments([{ key: `${key}2`, segment }])).to.deep.equal(['stored']);
    await store.remove([key]);
    expect(await failed(store.write([{ key: 'other', value }]))).to.contain('NOPERM');
    expect(warnings).to.deep.equal([]);
  });

  it('acknowledges no write that too few replicas have', async () => {
    server = await startRedisServer();
    store = await connectRedisStore({ url: server.url, limits: QUICK, waitReplicas: 1 });
    const message = await failed(store.write([{ key: 'k', value }]));
    expect(message).to.contain('0 of 1 replicas confirmed');
    expect(await store.read(['k'])).to.deep.equal([value]);
  });

  it('everything while it loads its data: the store waits for it', async () => {
    server = await startRedisServer([
      '--key-load-delay',
      '300',
      '--loading-process-events-interval-bytes',
      '1024',
    ]);
    const client = new Redis(server.url);
    await client.mset(...Array.from({ length: 2000 }, (_, i) => [`k${i}`, 'v'.repeat(20)]).flat());
    await client.save();
    client.disconnect();
    await server.stop();
    const opening = connectRedisStore({ url: server.url, limits: { ...QUICK, openWithin: 30_000 } });
    await server.start();
    store = await opening;
    expect(await store.read(['k1999'])).to.deep.equal([Buffer.from('v'.repeat(20))]);
  });
});

/** How often a server has run a command. */
async function commandCalls(client: Redis, command: string): Promise<number> {
  const stats = await client.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}
