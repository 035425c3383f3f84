import { expect } from 'chai';
import { Redis } from 'ioredis';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { encodeSegment, viewId } from '../../runtime/state/store/codec/feature-record.js';
import { RecordLayout } from '../../runtime/state/store/codec/record-layout.js';
import { connectRedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { StoreWriteError, type Store } from '../../runtime/state/store/store.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { storeContract } from './store.js';
import { describeWith } from '../support/needs.js';
import { untilItWorks } from '../support/until.js';

let shared: PrivateRedis | undefined;

storeContract('redis', {
  needs: 'redis-server',
  async start() {
    shared = await startRedisServer();
  },
  open: () => connectRedisStore({ url: shared?.url ?? '' }),
  stop: async () => shared?.remove(),
});

const QUICK = {
  connectTimeout: 200,
  socketTimeout: 200,
  commandTimeout: 400,
  longestPause: 50,
  openWithin: 400,
};

async function failure(attempt: Promise<unknown>): Promise<MillraceError> {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  if (!(error instanceof MillraceError)) throw new Error(`expected a MillraceError, got ${String(error)}`);
  return error;
}

async function writeFailure(attempt: Promise<unknown>): Promise<StoreWriteError> {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  if (!(error instanceof StoreWriteError))
    throw new Error(`expected a StoreWriteError, got ${String(error)}`);
  return error;
}

describeWith('redis-server', 'the redis store', () => {
  let server: PrivateRedis;
  let store: Store | undefined;
  beforeEach(async () => {
    server = await startRedisServer(['--requirepass', 'sesame']);
  });
  afterEach(async () => {
    await store?.close();
    store = undefined;
    await server.remove();
  });

  const url = (): string => server.url.replace('//', '//:sesame@');
  const open = async (): Promise<Store> => (store = await connectRedisStore({ url: url(), limits: QUICK }));
  const value = Buffer.from('v');

  it('fails at once while the server is down, and works again when it is back', async () => {
    const opened = await open();
    await server.stop();
    const read = await failure(opened.read(['k']));
    expect(read.code).to.equal('store_unavailable');
    expect(read.message)
      .to.contain(`127.0.0.1:${String(server.port)}`)
      .and.not.to.contain('sesame');
    const write = await writeFailure(opened.write([{ key: 'k', value }]));
    expect(write.confirmed).to.deep.equal([false]);
    expect((await failure(opened.ping())).code).to.equal('store_unavailable');
    await server.start();
    await untilItWorks(() => opened.write([{ key: 'k', value }]));
    expect(await untilItWorks(() => opened.read(['k']))).to.deep.equal([value]);
  });

  it('gives up a server that does not answer, and works again when it does', async () => {
    const opened = await open();
    process.kill(server.pid(), 'SIGSTOP');
    try {
      const read = await failure(opened.read(['k']));
      expect(read.code).to.equal('store_unavailable');
      const write = await writeFailure(opened.write([{ key: 'k', value }]));
      expect(write.confirmed).to.deep.equal([false]);
      const segment = encodeSegment(viewId('v'), new RecordLayout([], undefined), 1, {});
      const merge = await writeFailure(opened.mergeSegments([{ key: 'm', segment }]));
      expect(merge.confirmed).to.deep.equal([false]);
    } finally {
      process.kill(server.pid(), 'SIGCONT');
    }
    await untilItWorks(() => opened.write([{ key: 'k', value }]));
    expect(await untilItWorks(() => opened.read(['k']))).to.deep.equal([value]);
  });

  it('stops waiting at the deadline of the request', async () => {
    const opened = await connectRedisStore({
      url: url(),
      limits: { ...QUICK, socketTimeout: 60_000, commandTimeout: 60_000 },
    });
    store = opened;
    process.kill(server.pid(), 'SIGSTOP');
    try {
      const error = await failure(opened.read(['k'], AbortSignal.timeout(30)));
      expect(error.code).to.equal('deadline_exceeded');
      expect(error.message).to.contain('deadline');
      expect((await failure(opened.read(['k'], AbortSignal.abort()))).code).to.equal('deadline_exceeded');
    } finally {
      process.kill(server.pid(), 'SIGCONT');
    }
  });

  it('refuses more commands than may be in flight', async () => {
    const opened = await connectRedisStore({ url: url(), limits: { ...QUICK, inFlight: 3 } });
    store = opened;
    const reads = await Promise.allSettled(Array.from({ length: 10 }, () => opened.read(['k'])));
    const refused = reads.filter((read) => read.status === 'rejected');
    expect(reads.length - refused.length).to.equal(3);
    expect(String(refused[0]?.reason)).to.contain('3 keys wait');
    expect(await opened.read(['k'])).to.deep.equal([null]);
  });

  it('says what to do when there is no server', async () => {
    await server.stop();
    const error = await failure(open());
    expect(error.code).to.equal('store_unavailable');
    expect(error.message)
      .to.contain(`127.0.0.1:${String(server.port)}`)
      .and.to.contain('connection refused')
      .and.to.contain('REDIS_URL')
      .and.not.to.contain('sesame');
  });

  it('waits for a server that is still starting', async () => {
    await server.stop();
    const opening = connectRedisStore({ url: url(), limits: { ...QUICK, openWithin: 30_000 } });
    await server.start();
    store = await opening;
    await store.ping();
  });

  it('says so when the password is wrong or missing', async () => {
    for (const wrong of [server.url, server.url.replace('//', '//:guess@')]) {
      const error = await failure(
        connectRedisStore({ url: wrong, limits: { ...QUICK, openWithin: 30_000 } }),
      );
      expect(error.code).to.equal('store_unavailable');
      expect(error.message)
        .to.match(/NOAUTH|WRONGPASS/)
        .and.to.contain('password');
      expect(error.message).not.to.contain('guess');
    }
  });

  it('merges on a server that has forgotten the script', async () => {
    const opened = await open();
    const segment = encodeSegment(viewId('v'), new RecordLayout([], undefined), 1, {});
    await opened.mergeSegments([{ key: 'a', segment }]);
    const client = new Redis(url());
    await client.script('FLUSH');
    client.disconnect();
    expect(
      await opened.mergeSegments([
        { key: 'a', segment },
        { key: 'b', segment },
      ]),
    ).to.deep.equal(['stored', 'stored']);
    expect(await opened.read(['a', 'b'])).to.deep.equal([segment, segment]);
  });

  it('tells which writes are confirmed, and why the others are not', async () => {
    const opened = await open();
    const client = new Redis(url());
    await client.rpush('list', 'x');
    const segment = encodeSegment(viewId('v'), new RecordLayout([], undefined), 1, {});
    const merge = await writeFailure(
      opened.mergeSegments(['a', 'list', 'b'].map((key) => ({ key, segment }))),
    );
    expect(merge.confirmed).to.deep.equal([true, false, true]);
    expect(merge.message).to.contain('WRONGTYPE');
    await client.config('SET', 'maxmemory', '1');
    const write = await writeFailure(opened.write([{ key: 'k', value }]));
    expect(write.confirmed).to.deep.equal([false]);
    expect(write.message).to.contain('OOM');
    client.disconnect();
  });
});
