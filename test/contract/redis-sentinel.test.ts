import { expect } from 'chai';
import { Redis } from 'ioredis';
import { connectRedisStore, type RedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { startFakeSentinel, type FakeSentinel } from '../support/fake-sentinel.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

const QUICK = { connectTimeout: 500, socketTimeout: 400, commandTimeout: 1500, longestPause: 50 };

describeWith('redis-server', 'the redis store over Sentinels', function () {
  this.timeout(30_000);
  let server: PrivateRedis;
  let sentinel: FakeSentinel;
  let store: RedisStore;
  let admin: Redis;

  before(async function () {
    server = await startRedisServer();
    admin = new Redis(server.url);
  });
  after(async () => {
    admin.disconnect();
    await server.remove();
  });
  beforeEach(async () => {
    sentinel = await startFakeSentinel(server.port);
    store = await connectRedisStore({
      sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
      sentinelMaster: 'main',
      limits: QUICK,
    });
  });
  afterEach(async () => {
    await store.close();
    await sentinel.close();
  });
  const works = (): Promise<boolean> =>
    store.ping().then(
      () => true,
      () => false,
    );

  it('goes on after it was told of a failover while it asked for the master', async () => {
    await until('subscribers', () => sentinel.subscribers >= 2);
    sentinel.hold();
    await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await until('questions', () => sentinel.waiting >= 2);
    sentinel.announce();
    await until('the word to have come', () => sentinel.subscribers === 0);
    sentinel.release();
    await until('a store that works', works, 5000);
    expect(await store.read(['k'])).to.deep.equal([null]);
  });

  describe('with another server', () => {
    let other: PrivateRedis;
    let otherAdmin: Redis;
    beforeEach(async () => {
      other = await startRedisServer();
      otherAdmin = new Redis(other.url);
    });
    afterEach(async () => {
      otherAdmin.disconnect();
      await other.remove();
    });

    it('writes nothing to a master that hung, goes on and is none any more', async () => {
      process.kill(server.pid(), 'SIGSTOP');
      try {
        await until('no answer', async () => !(await works()));
        // New connections to a process that is stopped are taken; each asks for news of a failover then.
        const before = sentinel.subscriptions;
        await until('connections that wait for their handshake', () => sentinel.subscriptions >= before + 4);
        sentinel.promote(other.port);
      } finally {
        process.kill(server.pid(), 'SIGCONT');
      }
      const write = { key: 'after', value: Buffer.from('the failover') };
      await until('a write', () =>
        store.write([write]).then(
          () => true,
          () => false,
        ),
      );
      expect(await admin.exists('after')).to.equal(0);
      expect(await otherAdmin.get('after')).to.equal('the failover');
      await until('a store that works', works, 5000);
      expect(await store.read(['after'])).to.deep.equal([write.value]);
    });

    it('gives up a master that hangs while nobody asks for anything', async () => {
      const before = sentinel.subscriptions;
      process.kill(server.pid(), 'SIGSTOP');
      try {
        await until('new connections', () => sentinel.subscriptions >= before + 2);
      } finally {
        process.kill(server.pid(), 'SIGCONT');
      }
      await until('a store that works', works, 5000);
    });

    it('believes the Sentinel that knows of the latest failover, wherever it stands in the list', async () => {
      const informed = await startFakeSentinel(server.port);
      informed.promote(other.port);
      const both = [sentinel, informed].map(({ port }) => ({ host: '127.0.0.1', port }));
      try {
        for (const sentinels of [both, both.toReversed()]) {
          const own = await connectRedisStore({ sentinels, sentinelMaster: 'main', limits: QUICK });
          expect(own.masters.current()).to.deep.equal([{ host: '127.0.0.1', port: other.port }]);
          await own.close();
        }
      } finally {
        await informed.close();
      }
    });
  });

  it('says what is wrong with the Sentinels, the name or the master, and what to check', async () => {
    const deaf = await startFakeSentinel(1);
    const away = { host: '127.0.0.1', port: 1 };
    const here = { host: '127.0.0.1', port: sentinel.port };
    const cases: readonly (readonly [sentinel: object, master: string, said: RegExp])[] = [
      [
        away,
        'main',
        /: none of the Sentinels can be used: (connection refused|no connection)\. Check REDIS_SENTINELS,/,
      ],
      [here, 'unknown', /: the Sentinels know no master called `unknown`\. Check REDIS_SENTINEL_MASTER;/],
      [
        { host: '127.0.0.1', port: deaf.port },
        'main',
        /: [^.:]+\. Check that the master that the Sentinels name runs/,
      ],
    ];
    try {
      for (const [place, sentinelMaster, said] of cases) {
        const opened = await connectRedisStore({
          sentinels: [place as { host: string; port: number }],
          sentinelMaster,
          limits: { ...QUICK, openWithin: 600 },
        }).catch((error: unknown) => error as Error);
        expect(opened).to.be.instanceOf(Error);
        expect((opened as Error).message)
          .to.match(said)
          .and.not.match(/\.\.|\.$|redis-server/);
      }
    } finally {
      await deaf.close();
    }
  });

  it('prints nothing past the log where Sentinels are lost', async () => {
    const print = console.error;
    const printed: unknown[] = [];
    console.error = (...words) => void printed.push(...words);
    try {
      await until('subscribers', () => sentinel.subscribers >= 2);
      sentinel.fail();
      await until('attempts', () => sentinel.resets >= 6);
      expect(await store.read(['k'])).to.deep.equal([null]);
      expect(printed).to.deep.equal([]);
    } finally {
      console.error = print;
    }
  });
});
