import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { source as plugin } from '../../plugins/kafka/index.js';
import type { Source } from '../../runtime/ground/api/source.js';
import type { Intake } from '../../runtime/serve/sources/intake.js';
import { RunningSource } from '../../runtime/serve/sources/running-source.js';
import { createSource } from '../support/create-source.js';
import { findKafka, startKafka, type KafkaBroker } from '../support/kafka-broker.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

/** The source against a real broker. */
describeWith('Kafka', 'the kafka source', function () {
  this.timeout(120_000);
  let broker: KafkaBroker | undefined;
  let running: RunningSource[];

  before(async function () {
    const found = findKafka({ download: false });
    if ('why' in found) throw new Error(found.why);
    broker = await startKafka(found.jars);
  });
  after(() => broker?.remove());
  beforeEach(() => {
    running = [];
  });
  afterEach(() => Promise.all(running.map((one) => one.stop())));

  const client = (): kafkajs.Kafka =>
    new kafkajs.Kafka({ brokers: [broker?.address ?? ''], logLevel: kafkajs.logLevel.NOTHING });

  async function send(topic: string, from: number, to: number): Promise<void> {
    const producer = client().producer();
    await producer.connect();
    const messages = Array.from({ length: to - from }, (_, i) => ({
      key: `k${(from + i) % 7}`,
      value: JSON.stringify({ n: from + i }),
      headers: { view: 'stats' },
    }));
    await producer.send({ topic, messages });
    await producer.disconnect();
  }

  async function createTopic(topic: string): Promise<void> {
    const admin = client().admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: 3 }] });
    await admin.disconnect();
  }

  const create = (topic: string, more: object = {}): Promise<Source> =>
    createSource(
      plugin,
      { brokers: [broker?.address ?? ''], topic, timeout: '5s', ...more },
      { name: topic },
    );

  /** Remembers the numbers of messages by partition. A message with a number in `poison` is rejected. */
  function remember(seen: Map<string, number[]>, poison: readonly number[] = []): Intake {
    return {
      outcomes: ['stored', 'rejected'],
      store: (messages) => {
        const rejected = [];
        for (const message of messages) {
          const { n } = JSON.parse(Buffer.from(message.content ?? []).toString()) as { n: number };
          if (poison.includes(n)) rejected.push({ message, reason: 'poison' });
          else seen.set(message.partition, [...(seen.get(message.partition) ?? []), n]);
        }
        return Promise.resolve({
          totals: { stored: messages.length - rejected.length, rejected: rejected.length },
          rejected,
        });
      },
    };
  }

  function run(source: Source, intake: Intake): RunningSource {
    const log = { info: () => undefined, warn: () => undefined };
    const one = new RunningSource(source, () => intake, { name: 'kafka', log, backlogMs: 200 });
    running.push(one);
    return one;
  }

  const numbers = (seen: ReadonlyMap<string, number[]>): number[] =>
    [...seen.values()].flat().sort((a, b) => a - b);
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

  it('reads all partitions in order, and goes on after the last settled message', async () => {
    await createTopic('orders');
    await send('orders', 0, 500);
    const seen = new Map<string, number[]>();
    const first = run(await create('orders'), remember(seen));
    await until('500 messages', () => first.messages === 500, 60_000);
    await until('no lag', () => first.backlog?.lag === 0, 60_000);
    await first.stop();
    expect(numbers(seen)).to.deep.equal(upTo(500));
    for (const own of seen.values()) expect(own).to.deep.equal([...own].sort((a, b) => a - b));
    await send('orders', 500, 600);
    const second = run(await create('orders'), remember(seen));
    await until('100 more', () => second.messages === 100, 60_000);
    expect(numbers(seen)).to.deep.equal(upTo(600));
  });

  it('sends poison to another topic, with its key, its headers and the reason', async () => {
    await createTopic('bad');
    await createTopic('bad.rejected');
    await send('bad', 0, 10);
    const seen = new Map<string, number[]>();
    const source = run(await create('bad'), remember(seen, [3, 4]));
    await until('all messages', () => source.messages === 10, 60_000);
    expect(source.counts()).to.deep.equal({ stored: 8, rejected: 2 });
    const found = new Map<string, string>();
    const consumer = client().consumer({ groupId: 'look' });
    await consumer.connect();
    await consumer.subscribe({ topic: 'bad.rejected', fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message }) => {
        found.set(String(message.value), `${String(message.key)} ${String(message.headers?.reason)}`);
        return Promise.resolve();
      },
    });
    await until('the rejected messages', () => found.size === 2, 60_000);
    await consumer.disconnect();
    expect(Object.fromEntries(found)).to.deep.equal({ '{"n":3}': 'k3 poison', '{"n":4}': 'k4 poison' });
  });

  it('delivers again what a store did not take, and survives its broker being killed', async () => {
    await createTopic('killed');
    await send('killed', 0, 50);
    const seen = new Map<string, number[]>();
    let isDown = true;
    const inner = remember(seen);
    const source = run(await create('killed'), {
      ...inner,
      store: (messages, atOnce) =>
        isDown ? Promise.reject(new Error('the store is down')) : inner.store(messages, atOnce),
    });
    await until('a retry', () => source.retries > 0, 60_000);
    await broker?.stop('SIGKILL');
    isDown = false;
    await until('the loss', () => source.lost !== undefined, 60_000);
    await broker?.start();
    await until('all messages', () => new Set(numbers(seen)).size === 50, 60_000);
    await until('no loss', () => source.lost === undefined, 60_000);
    expect([...new Set(numbers(seen))]).to.deep.equal(upTo(50));
  });

  it('begins at the end, or at a time, if its options say so', async () => {
    await createTopic('start');
    await send('start', 0, 5);
    const from = new Date(Date.now() + 1).toISOString();
    await until('a later millisecond', () => Date.now() > Date.parse(from));
    await send('start', 5, 8);
    const seen = new Map<string, number[]>();
    const source = run(await create('start', { start: from, group: 'by-time' }), remember(seen));
    await until('the later messages', () => source.messages === 3, 60_000);
    expect(numbers(seen)).to.deep.equal([5, 6, 7]);
  });
});
