import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { StoreFailure } from '../../runtime/ground/api/error-codes.js';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { encodeSegment, viewId } from '../../runtime/state/store/codec/feature-record.js';
import { RecordLayout } from '../../runtime/state/store/codec/record-layout.js';
import { connectRedisStore, type RedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { StoreMonitor } from '../../runtime/state/store/store-monitor.js';
import { StoreWriteError } from '../../runtime/state/store/store.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { until, untilItWorks } from '../support/until.js';

const QUICK = {
  connectTimeout: 200,
  socketTimeout: 300,
  commandTimeout: 600,
  longestPause: 50,
  openWithin: 2000,
};
const value = Buffer.from('v');

/** The code and message of what must fail. */
async function failureOf(attempt: Promise<unknown>): Promise<MillraceError | StoreWriteError> {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  if (error instanceof MillraceError || error instanceof StoreWriteError) return error;
  throw new Error(`expected a failure, got ${String(error)}`);
}

describeWith('redis-server', 'what redis refuses', function () {
  this.timeout(30_000);
  let server: PrivateRedis;
  let store: RedisStore;
  let client: Redis;
  const lines: (object & { message: string })[] = [];
  const note = (fields: object, message: string): void => void lines.push({ ...fields, message });
  const monitor = new StoreMonitor({ info: note, warn: note });
  const serve = async (...args: string[]): Promise<void> => {
    server = await startRedisServer(args);
    client = new Redis(server.url);
    client.on('error', () => undefined);
    store = await connectRedisStore({ url: server.url, limits: QUICK, observer: monitor });
  };
  afterEach(async () => {
    lines.length = 0;
    client.disconnect();
    await store.close();
    await server.remove();
  });
  const write = (): Promise<void> => store.write([{ key: 'k', value }]);

  /** Writes and the readiness check fail with the code, and reads work; then `repair` ends it. */
  const refusesWrites = async (code: StoreFailure, word: string, repair: () => Promise<unknown>) => {
    const failed = await failureOf(write());
    expect(failed.code).to.equal(code);
    expect(failed.message).to.contain(word).and.not.to.contain('does not answer');
    expect((await failureOf(untilPingFails())).code).to.equal(code);
    expect(await untilItWorks(() => store.read(['there']))).to.deep.equal([value]);
    await repair();
    await untilItWorks(() => store.ping());
    await untilItWorks(write);
  };
  /** A connection to a replica is made anew, in case another server has its name. */
  const untilPingFails = async (): Promise<void> => {
    for (;;) {
      const error = await failureOf(store.ping());
      if (error.code !== 'store_unavailable') throw error;
    }
  };

  it('as a replica: store_read_only', async () => {
    await serve();
    await client.set('there', 'v');
    await client.replicaof('127.0.0.1', 1);
    await refusesWrites('store_read_only', 'READONLY', () => client.replicaof('NO', 'ONE'));
  });

  it('out of memory: store_out_of_memory', async () => {
    await serve();
    await client.set('there', 'v');
    await client.config('SET', 'maxmemory', '1');
    await refusesWrites('store_out_of_memory', 'OOM', () => client.config('SET', 'maxmemory', '0'));
    expect(await client.keys('*meta*'), 'the check writes nothing').to.deep.equal([]);
  });

  it('with a disk that it cannot save to: store_disk_full', async () => {
    await serve('--save', '3600 1');
    await client.set('there', 'v');
    const [, folder = ''] = (await client.config('GET', 'dir')) as string[];
    await rm(folder, { recursive: true });
    await client.bgsave();
    await until('the save to fail', async () =>
      (await client.info('persistence')).includes('rdb_last_bgsave_status:err'),
    );
    await refusesWrites('store_disk_full', 'MISCONF', () =>
      client.config('SET', 'stop-writes-on-bgsave-error', 'no'),
    );
  });

  it('with too few replicas: store_not_replicated', async () => {
    await serve();
    await client.set('there', 'v');
    await client.config('SET', 'min-replicas-to-write', '1');
    await refusesWrites('store_not_replicated', 'NOREPLICAS', () =>
      client.config('SET', 'min-replicas-to-write', '0'),
    );
  });

  it('while a script runs: store_busy', async () => {
    await serve('--busy-reply-threshold', '20');
    const script = client.eval('while true do end', 0).catch(() => undefined);
    const other = new Redis(server.url, { enableReadyCheck: false });
    other.on('error', () => undefined);
    try {
      await until('BUSY', async () => (await failureOf(store.read(['k']))).code === 'store_busy');
      await other.script('KILL');
      await script;
      await untilItWorks(() => store.ping());
    } finally {
      other.disconnect();
    }
  });

  it('while it loads its data: store_loading', async () => {
    await serve('--key-load-delay', '500', '--loading-process-events-interval-bytes', '1024');
    await client.mset(...Array.from({ length: 3000 }, (_, i) => [`k${i}`, 'v'.repeat(20)]).flat());
    await client.save();
    await server.stop();
    await until('the loss', async () => (await failureOf(store.read(['k']))).code === 'store_unavailable');
    const starting = server.start();
    await until('the loading', async () => {
      const error: unknown = await store.read(['k']).catch((reason: unknown) => reason);
      return error instanceof MillraceError && error.code === 'store_loading';
    });
    await starting;
    await untilItWorks(() => store.ping());
  });

  it('for a key of another type: store_wrong_type', async () => {
    await serve();
    await client.lpush('list', 'v');
    const segment = encodeSegment(viewId('v'), new RecordLayout([], undefined), 1, {});
    expect((await failureOf(store.mergeSegments([{ key: 'list', segment }]))).code).to.equal(
      'store_wrong_type',
    );
  });

  it('for this user: store_refused; the readiness check takes a user who may only read', async () => {
    await serve();
    await client.acl('SETUSER', 'reader', 'on', '>secret', '~*', '+@all', '-@write');
    const reader = await connectRedisStore({
      url: server.url.replace('//', '//reader:secret@'),
      limits: QUICK,
    });
    try {
      expect((await failureOf(reader.write([{ key: 'k', value }]))).code).to.equal('store_refused');
      await reader.ping();
    } finally {
      await reader.close();
    }
  });

  it('when it is gone: store_unavailable, with one line when it is lost and one when it is back', async () => {
    await serve();
    await server.stop();
    await until('the loss', async () => (await failureOf(store.read(['k']))).code === 'store_unavailable');
    for (let i = 0; i < 50; i++) await failureOf(store.read(['k']));
    await until('the line', () => lines.length > 0);
    expect(monitor.isUp).to.equal(false);
    await server.start();
    await untilItWorks(() => store.ping());
    expect(lines.map(({ message }) => message)).to.deep.equal([
      'the store is lost',
      'the store answers again',
    ]);
    expect(lines[0]).to.deep.include({ server: `127.0.0.1:${server.port}`, reason: 'connection refused' });
    expect(monitor.isUp).to.equal(true);
  });

  it('evicts keys: a warning, also once the policy changes while the store is open', async () => {
    await serve('--maxmemory-policy', 'allkeys-lru');
    expect(monitor.warnings().map(({ code }) => code)).to.deep.equal(['store_evicts']);
    expect(lines[0]?.message).to.contain('allkeys-lru').and.to.contain('noeviction');
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    const again = await connectRedisStore({ url: server.url, limits: QUICK, observer: monitor });
    await again.close();
    expect(monitor.warnings()).to.deep.equal([]);
  });

  it('reports how much of its maxmemory it uses', async () => {
    await serve('--maxmemory', '100mb');
    expect(monitor.memoryUsed).to.be.within(0.001, 0.5);
    await client.config('SET', 'maxmemory', '0');
    const again = await connectRedisStore({ url: server.url, limits: QUICK, observer: monitor });
    await again.close();
    expect(monitor.memoryUsed).to.equal(undefined);
  });

  it('breaks connections: reads are sent once more, writes are not', async () => {
    await serve();
    await client.set('there', 'v');
    const retriesBefore = monitor.retries;
    let killed = 0;
    // By reader: its reads since the last kill. A read that two kills hit fails, so a kill waits for a read of each.
    const since = [0, 0, 0, 0];
    const killer = setInterval(() => {
      if (Math.min(...since) < 2) return;
      since.fill(0);
      killed++;
      client.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes').catch(() => undefined);
    }, 100);
    const end = performance.now() + 2000;
    const outcomes: unknown[] = [];
    const reader = async (number: number): Promise<void> => {
      while (performance.now() < end) {
        outcomes.push(await store.read(['there']).then(String, (error: unknown) => error));
        since[number] = (since[number] ?? 0) + 1;
      }
    };
    await Promise.all(since.map((_, number) => reader(number)));
    clearInterval(killer);
    const failures = outcomes.filter((outcome) => outcome !== 'v');
    expect(failures, `of ${outcomes.length}, with ${killed} kills`).to.deep.equal([]);
    expect(monitor.retries).to.be.greaterThan(retriesBefore);
    expect(lines.filter(({ message }) => message === 'the store is lost')).to.deep.equal([]);
  });
});
