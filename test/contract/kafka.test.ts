import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { sink as plugin } from '../../plugins/kafka/index.js';
import { findKafka, startKafka, type KafkaBroker } from '../support/kafka-broker.js';
import { createSink, requestIdsIn, sinkLedger, type SinkLedger } from '../support/sink-ledger.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

/** The sink against a real broker. `npm run prove -- sinks` stops, kills and slows it. */
describeWith('Kafka', 'the kafka sink', function () {
  this.timeout(120_000);
  let broker: KafkaBroker | undefined;
  let opened: SinkLedger[];

  before(async function () {
    const found = findKafka({ download: false });
    if ('why' in found) throw new Error(found.why);
    broker = await startKafka(found.jars, ['auto.create.topics.enable=false']);
  });
  after(() => broker?.remove());
  beforeEach(() => {
    opened = [];
  });
  afterEach(() => Promise.all(opened.map(({ ledger }) => ledger.close(0))));

  const clientOf = (): kafkajs.Kafka =>
    new kafkajs.Kafka({ brokers: [broker?.address ?? ''], logLevel: kafkajs.logLevel.NOTHING });

  async function open(options: object): Promise<SinkLedger> {
    const given = { brokers: [broker?.address], timeout: '5s', ...options };
    const one = sinkLedger(await createSink(plugin, given));
    opened.push(one);
    return one;
  }

  async function createTopic(topic: string, ...settings: { name: string; value: string }[]): Promise<void> {
    const admin = clientOf().admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: 3, configEntries: settings }] });
    await admin.disconnect();
  }

  /** The messages of a topic: the key of each record, by its request id. A record may be there twice. */
  async function keysIn(topic: string, records: number): Promise<Record<string, string>> {
    const consumer = clientOf().consumer({ groupId: topic });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const keys: Record<string, string> = {};
    await consumer.run({
      eachMessage: ({ message: { key, value } }) => {
        for (const id of requestIdsIn(value ?? Buffer.alloc(0))) keys[id] = String(key);
        return Promise.resolve();
      },
    });
    await until('the messages', () => Object.keys(keys).length >= records, 60_000);
    await consumer.disconnect();
    return keys;
  }

  it('sends a message for each record, with its key', async () => {
    await createTopic('keyed');
    const { add, ledger, counts } = await open({ topic: 'keyed', key: 'unit', compression: 'gzip' });
    add(3);
    await ledger.flush();
    expect(counts).to.include({ put: 3, delivered: 3, dropped: 0, retries: 0 });
    expect(await keysIn('keyed', 3)).to.deep.equal({ r0: 'ur0', r1: 'ur1', r2: 'ur2' });
  });

  it('waits until its topic exists, and loses nothing', async () => {
    const { add, ledger, counts } = await open({ topic: 'late' });
    add(2);
    await until('two failures', () => counts.retries >= 2, 30_000);
    expect(counts.dropped).to.equal(0);
    expect(counts.waits[0]).to.match(/topic-partition|UNKNOWN_TOPIC/);
    await createTopic('late');
    await ledger.flush();
    expect(counts).to.include({ put: 2, delivered: 2, dropped: 0 });
    expect(await keysIn('late', 2)).to.deep.equal({ r0: 'r0', r1: 'r1' });
  });

  it('drops the one record that is larger than the topic takes', async () => {
    await createTopic('small', { name: 'max.message.bytes', value: '20000' });
    const { add, ledger, counts } = await open({ topic: 'small' });
    add(5, 1000);
    add(1, 50_000);
    add(5, 1000);
    await ledger.flush();
    expect(counts.drops).to.deep.equal({ refused: 1 });
    expect(counts).to.include({ put: 11, delivered: 10 });
    expect(counts.refusals[0]).to.match(/^MESSAGE_TOO_LARGE: /);
    const kept = ['r0', 'r1', 'r2', 'r3', 'r4', 'r6', 'r7', 'r8', 'r9', 'r10'];
    expect(await keysIn('small', 10)).to.have.all.keys(kept);
  });
});
