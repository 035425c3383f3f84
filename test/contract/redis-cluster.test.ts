import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { encodeSegment, viewId } from '../../runtime/state/store/codec/feature-record.js';
import { RecordLayout } from '../../runtime/state/store/codec/record-layout.js';
import { keySlot } from '../../runtime/state/store/redis/cluster/key-slot.js';
import { connectRedisStore, type RedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { counterKey, markKey } from '../../runtime/state/store/keys.js';
import { newVersioned, VERSIONED_HEAD } from '../../runtime/state/store/codec/versioned-record.js';
import { StoreWriteError, type RecordSwap } from '../../runtime/state/store/store.js';
import { startRedisCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { startRedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { untilItWorks } from '../support/until.js';

const QUICK = {
  connectTimeout: 500,
  socketTimeout: 400,
  commandTimeout: 1500,
  longestPause: 50,
  openWithin: 5000,
};
const MASTERS = 3;

const ownerOf = (key: string): number => Math.floor((keySlot(key) * MASTERS) / 16_384);
const segment = (time: number): Buffer =>
  encodeSegment(viewId('v'), new RecordLayout([['n', { kind: 'int' }]], undefined), time, { n: time });

async function failed(attempt: Promise<unknown>): Promise<MillraceError | StoreWriteError> {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  if (error instanceof StoreWriteError) return error;
  if (error instanceof MillraceError && error.code === 'store_unavailable') return error;
  throw new Error(`expected a store that is unavailable, got ${String(error)}`);
}

describeWith('redis-server', 'the redis store over a cluster', function () {
  this.timeout(60_000);
  let cluster: PrivateCluster;
  let store: RedisStore;
  /** Keys of one slot that lies on the first master. */
  const tagged = Array.from({ length: 20 }, (_, i) => `{${tagOn(0)}}:${i}`);
  const value = (text: string): Buffer => Buffer.from(text);

  before(async function () {
    cluster = await startRedisCluster({ masters: MASTERS, replicas: true });
  });
  after(() => (cluster as PrivateCluster | undefined)?.remove());
  beforeEach(async () => {
    store = await connectRedisStore({ cluster: cluster.addresses.slice(1, 2), limits: QUICK });
  });
  afterEach(() => store.close());

  it('spreads keys over all masters, and knows them from one', async () => {
    const keys = Array.from({ length: 300 }, (_, i) => `k${i}`);
    await store.write(keys.map((key) => ({ key, value: value(key) })));
    const sizes = await Promise.all([0, 1, 2].map((master) => cluster.client(master).dbsize()));
    expect(Math.min(...sizes)).to.be.greaterThan(50);
    expect(await store.read(keys)).to.deep.equal(keys.map(value));
    const ports = store.masters.current().map(({ port }) => port);
    expect(ports.sort()).to.deep.equal(
      cluster.addresses
        .slice(0, MASTERS)
        .map(({ port }) => port)
        .sort(),
    );
  });

  it('follows a slot on its way (ASK) and after it has moved (MOVED)', async () => {
    await store.write(tagged.map((key) => ({ key, value: value('before') })));
    const slot = keySlot(tagged[0] ?? '');
    const check = async (round: string): Promise<void> => {
      const fresh = tagged.map((key) => `${key}:${round}`);
      await store.write([...tagged, ...fresh].map((key) => ({ key, value: value(round) })));
      expect(await store.read([...tagged, ...fresh])).to.deep.equal(
        [...tagged, ...fresh].map(() => value(round)),
      );
      await store.remove(fresh);
      expect(await store.read(fresh)).to.deep.equal(fresh.map(() => null));
      const merges = fresh.flatMap((key) => [3, 1, 2].map((time) => ({ key, segment: segment(time) })));
      const outcomes = await store.mergeSegments(merges);
      expect(outcomes).to.deep.equal(fresh.flatMap(() => ['stored', 'older', 'older']));
      expect(await store.read(fresh)).to.deep.equal(fresh.map(() => segment(3)));
    };
    await cluster.migrate(slot, 0, 1, () => check('half way'));
    await check('moved');
    await cluster.agree(slot);
    await cluster.migrate(slot, 1, 0, () => check('half way back'));
    await check('back');
    await cluster.agree(slot);
  });

  it('looks for remembered ids while their slot is on its way', async () => {
    const keys = Array.from({ length: 10 }, (_, i) => counterKey('moving', ['product'], [`p${i}`]));
    const key = keys.find((one) => ownerOf(one) === 0) ?? '';
    const [id, other] = [Buffer.from('known id'), Buffer.from('other id')];
    const record = (before: Buffer | null): RecordSwap & { before: Buffer | null } => ({
      ...{ key, before, after: newVersioned(VERSIONED_HEAD, Date.now() + 60_000) },
    });
    const unless = (ids: Buffer) => [1, 2].map((slice) => ({ key: markKey(key, slice), ids }));
    await store.mark(unless(id).map((set) => ({ ...set, expires: Date.now() + 60_000 })));
    const first = record(null);
    expect(await store.swap([first])).to.deep.equal(['stored']);
    let last = first.after;
    const check = async (): Promise<void> => {
      const next = record(last);
      expect(await store.swap([{ ...next, unless: unless(id) }])).to.deep.equal(['marked']);
      expect(await store.swap([{ ...next, unless: unless(other) }])).to.deep.equal(['stored']);
      expect(await store.swap([{ ...record(last), unless: unless(other) }])).to.deep.equal(['changed']);
      last = next.after;
    };
    await cluster.migrate(keySlot(key), 0, 1, check);
    await check();
    await cluster.agree(keySlot(key));
    await cluster.migrate(keySlot(key), 1, 0, check);
    await check();
    await cluster.agree(keySlot(key));
  });

  it('waits for nodes that name each other as the owner of a slot', async () => {
    const key = `{${tagOn(0)}agree}`;
    const slot = keySlot(key);
    const owner = ownerOf(key);
    const next = (owner + 1) % MASTERS;
    const idOf = (at: number): Promise<string> => cluster.client(at).cluster('MYID');
    const setOwner = async (at: number): Promise<unknown> =>
      cluster.client(at).cluster('SETSLOT', slot, 'NODE', await idOf(next));
    await cluster.client(next).cluster('SETSLOT', slot, 'IMPORTING', await idOf(owner));
    await cluster.client(owner).cluster('SETSLOT', slot, 'MIGRATING', await idOf(next));
    // The old owner comes first: until the new one knows, each names the other.
    await setOwner(owner);
    const written = store.write([{ key, value: value('v') }]);
    await pause(60);
    await setOwner(next);
    await written;
    expect(await store.read([key])).to.deep.equal([value('v')]);
    await store.remove([key]);
    // In the order of redis-cli, so that all nodes agree again.
    await cluster.agree(slot);
    await cluster.migrate(slot, next, owner);
    await cluster.agree(slot);
  });

  it('stores the first record of a batch before any other', async () => {
    const [lead, other] = [`{${tagOn(0)}}lead`, `{${tagOn(2)}}other`];
    await cluster.client(0).config('SET', 'maxmemory', '1');
    try {
      const error = await failed(store.write([lead, other].map((key) => ({ key, value: value('v') }))));
      expect(error).to.have.property('confirmed').that.deep.equals([false, false]);
      expect(error.message).to.contain('OOM');
      expect(await store.read([other])).to.deep.equal([null]);
      // The other way round, the first is stored, and what failed is told.
      const partial = await failed(store.write([other, lead].map((key) => ({ key, value: value('v') }))));
      expect(partial).to.have.property('confirmed').that.deep.equals([true, false]);
    } finally {
      await cluster.client(0).config('SET', 'maxmemory', '0');
    }
  });

  it('merges on servers that have forgotten the script', async () => {
    for (const master of [0, 1, 2]) await cluster.client(master).script('FLUSH');
    const keys = Array.from({ length: 30 }, (_, i) => `merge ${i}`);
    const outcomes = await store.mergeSegments(keys.map((key) => ({ key, segment: segment(1) })));
    expect(outcomes).to.deep.equal(keys.map(() => 'stored'));
  });

  it('fails clearly for the keys of a stalled master alone, and sees it replaced', async () => {
    const [here, there] = [`{${tagOn(0)}}x`, `{${tagOn(1)}}x`];
    await store.write([here, there].map((key) => ({ key, value: value('v') })));
    expect(await cluster.client(0).call('WAIT', 1, 5000)).to.equal(1);
    const changes: number[] = [];
    store.masters.on('change', (masters) => changes.push(masters.length));
    const pid = cluster.servers[0]?.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      const error = await failed(store.read([there, here]));
      expect(error.message).to.contain(String(cluster.addresses[0]?.port));
      expect(await store.read([there])).to.deep.equal([value('v')]);
      const write = await failed(store.write([there, here].map((key) => ({ key, value: value('w') }))));
      expect(write).to.have.property('confirmed').that.deep.equals([true, false]);
      expect(await untilItWorks(() => store.read([here, there]))).to.deep.equal([value('v'), value('w')]);
      expect(changes.length).to.be.greaterThan(0);
      const ports = store.masters.current().map(({ port }) => port);
      expect(ports)
        .to.contain(cluster.addresses[MASTERS]?.port)
        .and.not.to.contain(cluster.addresses[0]?.port);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await untilItWorks(() => store.ping());
  });

  it('says so where the server is in no cluster, or where slots have no master', async () => {
    const alone = await startRedisServer();
    const address = { host: '127.0.0.1', port: alone.port };
    try {
      const error = await failed(
        connectRedisStore({ cluster: [address], limits: { ...QUICK, openWithin: 300 } }),
      );
      expect(error.message).to.contain('cluster support disabled').and.to.contain('REDIS_URL');
    } finally {
      await alone.remove();
    }
    const gone = await failed(
      connectRedisStore({ cluster: [address], limits: { ...QUICK, openWithin: 300 } }),
    );
    expect(gone.message).to.contain('connection refused').and.to.contain('REDIS_CLUSTER');
  });
});

/** A hash tag whose slot lies on a master. */
function tagOn(master: number): string {
  for (let i = 0; ; i++) if (ownerOf(`{t${i}}`) === master) return `t${i}`;
}
