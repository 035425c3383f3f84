import { expect } from 'chai';
import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { connectRedisStore, type RedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { RedisTracking } from '../../runtime/state/store/redis/tracking.js';
import { scoresOf, startProject } from '../support/project.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { describeWith, itWith } from '../support/needs.js';
import { startTrackingProxy, type TrackingProxy } from '../support/tracking-proxy.js';

/** Waits until it holds; mocha's time-out ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(5);
}

describeWith('redis-server', 'invalidations of redis', function () {
  this.timeout(20_000);
  let server: PrivateRedis;
  let proxy: TrackingProxy;
  let client: Redis;
  let store: RedisStore;
  let tracking: RedisTracking;
  let told: string[];
  let flushes: number;

  before(async function () {
    server = await startRedisServer();
    client = new Redis(server.url);
  });
  after(async () => {
    client.disconnect();
    await server.remove();
  });
  beforeEach(async () => {
    proxy = await startTrackingProxy(server.port);
    store = await connectRedisStore({ url: proxy.url });
    told = [];
    flushes = 0;
    tracking = new RedisTracking(store.masters, {
      prefixes: ['p:entity:a:', 'p:features:a:'],
      leaseMs: 60,
      markerKey: 'p:meta:marker:',
    });
    tracking.start({
      invalidate: (keys) => told.push(...keys),
      flush: () => flushes++,
    });
    await until(() => tracking.isCurrent());
  });
  afterEach(async () => {
    tracking.close();
    await store.close();
    await proxy.close();
  });

  it('name the keys that any client wrote, whatever their ids hold', async () => {
    const keys = ['p:entity:a:1', 'p:entity:a:x,y', 'p:features:a:é\u0000\r\n:2', 'p:entity:a:{}'];
    await client.mset(...keys.flatMap((key) => [key, 'v']), 'p:entity:b:1', 'v', 'q', 'v');
    await until(() => told.length >= keys.length);
    expect([...told].sort()).to.deep.equal([...keys].sort());
    told.length = 0;
    await client.unlink('p:entity:a:x,y');
    await until(() => told.length > 0);
    expect(told).to.deep.equal(['p:entity:a:x,y']);
  });

  it('are a flush when the server forgets everything', async () => {
    const before = flushes;
    await client.flushall();
    await until(() => flushes > before);
    expect(tracking.isCurrent()).to.equal(true);
  });

  for (const [what, fill] of [
    ['an empty one', () => Promise.resolve()],
    ['one that another instance marked', (other: Redis) => other.set('p:meta:marker:', 'other -')],
    ['one that was copied a while ago', (other: Redis) => other.set('p:meta:marker:', 'older -')],
  ] as const) {
    it(`are a flush when another database takes the place of the selected one: ${what}`, async () => {
      const other = client.duplicate({ db: 1 });
      await other.flushdb();
      await fill(other);
      other.disconnect();
      await pause(50); // Redis also sends an invalidation for FLUSHDB of the other database.
      await until(() => tracking.isCurrent());
      for (let swap = 0; swap < 2; swap++) {
        const before = flushes;
        await client.swapdb(0, 1);
        const swapped = performance.now();
        while (flushes === before && tracking.isCurrent()) await pause(1);
        expect(performance.now() - swapped).to.be.lessThan(60 + 40); // the lease, and timers of a busy machine
        await until(() => tracking.isCurrent());
        await pause(50);
        expect(flushes - before).to.equal(1);
      }
    });
  }

  it('are a flush when the selected database is flushed, and the marker is there again', async () => {
    const before = flushes;
    await client.flushdb();
    await until(() => flushes > before);
    while ((await client.get('p:meta:marker:')) === null) await pause(5);
    expect(tracking.isCurrent()).to.equal(true);
  });

  it('name a key that is renamed, restored, moved, copied onto, expired or evicted', async () => {
    await client.mset('p:entity:a:from', 'v', 'p:entity:a:moved', 'v', 'p:entity:a:gone', 'v');
    const dump = await client.dumpBuffer('p:entity:a:from');
    await until(() => told.includes('p:entity:a:gone'));
    const tells = async (keys: string[], act: () => Promise<unknown>): Promise<void> => {
      told.length = 0;
      await act();
      await until(() => keys.every((key) => told.includes(key)));
    };
    await tells(['p:entity:a:from', 'p:entity:a:to'], () =>
      client.rename('p:entity:a:from', 'p:entity:a:to'),
    );
    await tells(['p:entity:a:restored'], () => client.restore('p:entity:a:restored', 0, dump));
    await tells(['p:entity:a:moved'], () => client.move('p:entity:a:moved', 1));
    await tells(['p:entity:a:copy'], () => client.copy('p:entity:a:to', 'p:entity:a:copy'));
    await tells(['p:entity:a:gone'], async () => {
      await client.pexpire('p:entity:a:gone', 5);
      while ((await client.exists('p:entity:a:gone')) === 1) await pause(5);
    });
    const evict = async (): Promise<void> => {
      await client.config('SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '1');
      await client.set('q', 'v').catch(() => undefined);
    };
    await tells(['p:entity:a:to', 'p:entity:a:copy'], evict);
    await client.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
  });

  it('are not trusted once the connection is cut, and again on a new one, after a flush', async () => {
    const before = flushes;
    proxy.cut();
    await until(() => !tracking.isCurrent());
    expect(flushes).to.be.greaterThan(before);
    await until(() => tracking.isCurrent());
    await client.set('p:entity:a:1', 'w');
    await until(() => told.includes('p:entity:a:1'));
  });

  it('are not trusted while the connection is silent; then come what was held back, and trust after it', async () => {
    const before = flushes;
    proxy.set('pause');
    await until(() => !tracking.isCurrent());
    await client.set('p:entity:a:late', 'v');
    expect(told).not.to.include('p:entity:a:late');
    proxy.set('forward');
    await until(() => tracking.isCurrent());
    expect(told).to.include('p:entity:a:late');
    expect(flushes).to.equal(before);
  });

  it('give a half-open connection up for a new one', async () => {
    proxy.set('black hole');
    proxy.set('forward');
    await until(() => !tracking.isCurrent());
    await until(() => tracking.isCurrent());
    await client.set('p:entity:a:2', 'w');
    await until(() => told.includes('p:entity:a:2'));
  });

  it('end with close', async () => {
    tracking.close();
    expect(tracking.isCurrent()).to.equal(false);
    await until(() => proxy.tracking === 0);
  });
});

describe('invalidations of redis behind a bad connection', function () {
  this.timeout(20_000);

  itWith(
    'redis-server',
    'are not trusted where replies cannot be understood, and the process goes on',
    async function () {
      const server = await startRedisServer();
      const proxy = await startTcpProxy(server.port);
      const store = await connectRedisStore({ url: `redis://127.0.0.1:${proxy.port}` });
      const tracking = new RedisTracking(store.masters, {
        prefixes: ['p:entity:a:'],
        leaseMs: 60,
        markerKey: 'p:meta:marker:',
      });
      tracking.start({ invalidate: () => undefined, flush: () => undefined });
      try {
        await until(() => tracking.isCurrent());
        proxy.weather = 'garbled';
        await until(() => !tracking.isCurrent());
        await pause(300);
        proxy.weather = 'clear';
        await until(() => tracking.isCurrent());
      } finally {
        tracking.close();
        await store.close();
        await proxy.close();
        await server.remove();
      }
    },
  );
});

describeWith('redis-server', 'a redis that refuses to tell of changes', function () {
  this.timeout(20_000);
  let server: PrivateRedis;
  let client: Redis;

  before(async function () {
    server = await startRedisServer();
    client = new Redis(server.url);
  });
  after(async () => {
    client.disconnect();
    await server.remove();
  });

  const rights = '+@all -client|tracking resetchannels';
  for (const [what, refusal, ...rules] of [
    ['to track', 'NOPERM', ...rights.split(' '), '&__redis__:invalidate'],
    ['its channel', 'NOPERM', '+@all', 'resetchannels'],
  ] as const) {
    it(`leaves the tables empty, ranks from Redis, and says so once: ${what}`, async () => {
      await client.acl('SETUSER', 'app', 'reset', 'on', '>secret', '~millrace:*', ...rules);
      const warnings: string[] = [];
      const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
      const project = await startProject(
        {
          'schemas/entities/product.yaml':
            'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
          'pipelines/ranking.yaml':
            'pipeline: ranking\nrank: product\ncomponents:\n  - use: score\n    with: { value: product.price }\n',
        },
        {
          env: { MILLRACE_STORE: 'redis', REDIS_URL: server.url.replace('//', '//app:secret@') },
          logger,
        },
      );
      try {
        await until(() => warnings.length > 0);
        for (let price = 1; price < 20; price++) {
          await project.upload('product', { product_id: 'p', price });
          const body = { candidates: [{ product_id: 'p' }] };
          expect(scoresOf(await project.rank(body))).to.deep.equal({ p: price });
          await pause(5);
        }
        expect(project.app.resident.isCurrent()).to.equal(false);
        const [state] = project.app.resident.states();
        expect(state).to.include({ rows: 0, hits: 0, misses: 0, bypasses: 19 });
        expect(warnings).to.have.length(1);
        expect(warnings[0])
          .to.contain(refusal)
          .and.to.contain('+client|tracking')
          .and.to.contain('MILLRACE_RESIDENT=off')
          .and.not.to.contain('secret');
      } finally {
        await project.close();
      }
    });
  }
});

describe('invalidations of a redis cluster', function () {
  this.timeout(60_000);

  itWith(
    'redis-server',
    'come from every master, and the tables are not trusted while one of them is silent',
    async function () {
      const cluster = await startRedisCluster({ masters: 3, replicas: false });
      const store = await connectRedisStore({ cluster: cluster.addresses });
      const tracking = new RedisTracking(store.masters, { prefixes: ['p:entity:a:'], leaseMs: 100 });
      const told = new Set<string>();
      try {
        tracking.start({
          invalidate: (keys) => {
            for (const key of keys) told.add(key);
          },
          flush: () => undefined,
        });
        await until(() => tracking.isCurrent());
        const keys = Array.from({ length: 60 }, (_, i) => `p:entity:a:${i}`);
        await store.write(keys.map((key) => ({ key, value: Buffer.from('v') })));
        await until(() => keys.every((key) => told.has(key)));

        const [server] = cluster.servers;
        if (server === undefined) throw new Error('the cluster has servers');
        process.kill(server.pid(), 'SIGSTOP');
        try {
          await until(() => !tracking.isCurrent());
          expect(await tracking.renew()).not.to.equal(true);
        } finally {
          process.kill(server.pid(), 'SIGCONT');
        }
        await until(() => tracking.isCurrent());
      } finally {
        tracking.close();
        await store.close();
        await cluster.remove();
      }
    },
  );
});
