import { Redis } from 'ioredis';
import { expect } from 'chai';
import { sink as plugin } from '../../plugins/redis_stream/index.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import {
  createSink,
  requestIdsIn,
  sinkLedger,
  type SinkLedger,
  type SinkLedgerOptions,
} from '../support/sink-ledger.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

/** The sink against a real Redis. */
describeWith('redis-server', 'the redis_stream sink', () => {
  let server: PrivateRedis;
  let opened: SinkLedger[];
  beforeEach(async () => {
    server = await startRedisServer(['--appendonly', 'yes', '--appendfsync', 'always']);
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map(({ ledger }) => ledger.close(0)));
    await server.remove();
  });

  async function open(options: object = {}, how: SinkLedgerOptions = {}): Promise<SinkLedger> {
    const given = { url: server.url, stream: 'records', timeout: '500ms', ...options };
    const one = sinkLedger(await createSink(plugin, given, { format: how.format ?? 'columns' }), how);
    opened.push(one);
    return one;
  }

  /** The entries of the stream: their fields. */
  async function entries(): Promise<Map<string, Buffer>[]> {
    const client = new Redis(server.url, { maxRetriesPerRequest: 1 });
    try {
      const found = (await client.callBuffer('XRANGE', 'records', '-', '+')) as [Buffer, Buffer[]][];
      return found.map(([, fields]) => {
        const entry = new Map<string, Buffer>();
        for (let i = 0; i < fields.length; i += 2)
          entry.set(String(fields[i]), fields[i + 1] ?? Buffer.alloc(0));
        return entry;
      });
    } finally {
      client.disconnect();
    }
  }

  const ids = async (): Promise<string[]> =>
    (await entries()).flatMap((entry) => requestIdsIn(entry.get('data') ?? Buffer.alloc(0)));

  it('adds an entry for each batch', async () => {
    const { add, ledger, counts } = await open();
    add(3);
    await ledger.flush();
    add(2);
    await ledger.flush();
    const found = await entries();
    expect(found.map((entry) => [...entry.keys()])).to.deep.equal(
      Array(2).fill(['type', 'kinds', 'count', 'data']),
    );
    expect(String(found[0]?.get('type'))).to.equal('application/vnd.millrace.records');
    expect(found.map((entry) => String(entry.get('count')))).to.deep.equal(['3', '2']);
    expect(await ids()).to.deep.equal(['r0', 'r1', 'r2', 'r3', 'r4']);
    expect(counts).to.include({ put: 5, delivered: 5, dropped: 0 });
  });

  it('adds an entry for each record, or for each event', async () => {
    const columns = await open({ entry: 'record' });
    columns.add(2);
    await columns.ledger.flush();
    const events = await open({ entry: 'record' }, { format: 'events' });
    events.add(1);
    await events.ledger.flush();
    const found = await entries();
    expect(found.map((entry) => String(entry.get('request_id')))).to.deep.equal(['r0', 'r1', 'r0']);
    expect(requestIdsIn(found[1]?.get('data') ?? Buffer.alloc(0))).to.deep.equal(['r1']);
    expect(JSON.parse(String(found[2]?.get('data')))).to.include({ request_id: 'r0', event_type: 'FEATURE' });
  });

  it('keeps about as many entries as max_length says', async () => {
    const { add, ledger, counts } = await open({ entry: 'record', max_length: 100 });
    add(1000);
    await ledger.flush();
    expect(counts.delivered).to.equal(1000);
    // Redis removes whole nodes of 100 entries.
    expect((await entries()).length).to.be.within(100, 200);
  });

  it('waits while the key has another type, and loses nothing', async () => {
    const client = new Redis(server.url);
    await client.set('records', 'a text');
    const { add, ledger, counts } = await open({ max_length: 10 });
    add(2);
    await until('two failures', () => counts.retries >= 2);
    expect(counts.waits).to.have.length(1);
    expect(counts.waits[0]).to.match(/^WRONGTYPE /);
    await client.del('records');
    client.disconnect();
    await ledger.flush();
    expect(counts).to.include({ put: 2, delivered: 2, dropped: 0 });
    expect(await ids()).to.deep.equal(['r0', 'r1']);
  });

  it('logs in with a password that no message shows', async () => {
    const client = new Redis(server.url);
    await client.call('CONFIG', 'SET', 'requirepass', 'geheim-123');
    client.disconnect();
    const wrong = await open({ password: 'falsch-456' });
    wrong.add(1);
    await until('a failure', () => wrong.counts.waits.length > 0);
    expect(wrong.counts.waits[0])
      .to.match(/WRONGPASS|NOAUTH/)
      .and.not.include('falsch');
    const right = await open({ password: 'geheim-123' });
    right.add(1);
    await right.ledger.flush();
    expect(right.counts.delivered).to.equal(1);
  });

  it('waits while Redis is down, and loses nothing', async () => {
    const { add, ledger, counts } = await open();
    add(10);
    await ledger.flush();
    await server.stop();
    add(10);
    await until('failures', () => counts.retries > 3);
    await server.start();
    await ledger.flush();
    expect(counts).to.include({ put: 20, delivered: 20, dropped: 0 });
    expect(new Set(await ids()).size).to.equal(20);
  });

  it('counts what does not fit while Redis stands still, and delivers the rest', async () => {
    const { add, ledger, counts } = await open({}, { queueBytes: 2 ** 20 });
    add(1);
    await ledger.flush();
    process.kill(server.pid(), 'SIGSTOP');
    try {
      for (let i = 0; i < 30; i++) add(100, 1000);
      await until('a timeout', () => counts.retries > 0);
      expect(counts.waits[0]).to.match(/did not answer within 500 ms/);
      expect(ledger.sinks()[0]?.queueBytes).to.be.at.most(2 ** 20);
    } finally {
      process.kill(server.pid(), 'SIGCONT');
    }
    await ledger.flush();
    expect(counts.drops.queue_full).to.be.above(1500);
    expect(counts.delivered + counts.dropped).to.equal(3001);
    // A batch that was added before the timeout is there twice.
    expect(new Set(await ids()).size).to.equal(counts.delivered);
  });

  it('survives ten kills: every record is delivered or counted', async function () {
    this.timeout(60_000);
    const { add, ledger, counts } = await open({}, { queueBytes: 2 ** 20 });
    for (let kill = 0; kill < 10; kill++) {
      add(50, 1000);
      process.kill(server.pid(), 'SIGKILL');
      await server.stop();
      add(50, 1000);
      await server.start();
      await until('a delivery', () => counts.delivered > kill * 50);
    }
    await ledger.flush();
    expect(counts.put).to.equal(1000);
    expect(counts.delivered + counts.dropped).to.equal(1000);
    expect(new Set(await ids()).size).to.equal(counts.delivered);
  });

  it('refuses an address that is not one of Redis', async () => {
    for (const url of ['http://streams:6379', 'streams:6379', 'redis://streams/1?x=2'])
      expect(
        await open({ url }).then(
          () => 'made',
          (error: unknown) => (error as Error).message,
        ),
        url,
      ).to.match(/^`url`: /);
  });
});
