import kafkajs from 'kafkajs';
import { startKafka } from '../../support/kafka-broker.js';
import { startRedisServer } from '../../support/redis-server.js';
import { redisSource, ShopStream } from './shop.js';

const TOPIC = 'web';
const GROUP = 'millrace-web';

/** The server that a source reads from. It can be killed, and keeps what it has acknowledged. */
export interface ShopServer {
  readonly title: string;
  /** The lines of the source's file that name it. */
  readonly yaml: string;
  /** The pause between two kills, in milliseconds. */
  readonly pauseMs: number;
  /** @throws Error if a message was not acknowledged; others may have arrived then */
  add(messages: readonly string[]): Promise<void>;
  /** True if the group has settled all messages. */
  isSettled(): Promise<boolean>;
  /** The number of rejected messages. */
  rejected(): Promise<number>;
  kill(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export async function redisShop(): Promise<ShopServer> {
  const server = await startRedisServer(['--appendonly', 'yes', '--appendfsync', 'always']);
  const stream = new ShopStream(server.url);
  await stream.connect();
  return {
    title: 'Redis stream',
    yaml: redisSource(server.url),
    pauseMs: 350,
    add: (messages) => stream.add(messages),
    isSettled: () => stream.isSettled(),
    rejected: () => stream.rejected(),
    kill: () => server.stop(),
    start: () => server.start(),
    remove: () => {
      stream.close();
      return server.remove();
    },
  };
}

export async function kafkaShop(jars: string): Promise<ShopServer> {
  const broker = await startKafka(jars);
  const { Kafka, logLevel, Partitioners } = kafkajs;
  const client = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions: 3 }] });
  const producer = client.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    retry: { retries: 0 },
  });
  await producer.connect();
  const countOf = async (topic: string): Promise<number> =>
    (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0);
  return {
    title: `Kafka ${broker.version}`,
    yaml: `use: kafka\nwith: { brokers: ["${broker.address}"], topic: ${TOPIC}, timeout: 5s }\n`,
    // A group waits for 30 s until it gives the partitions of a killed consumer to others.
    pauseMs: 15_000,
    async add(messages) {
      await producer.connect();
      await producer.send({ topic: TOPIC, acks: -1, messages: messages.map((value) => ({ value })) });
    },
    async isSettled() {
      const found = await admin.fetchOffsets({ groupId: GROUP, topics: [TOPIC] });
      const committed = found
        .flatMap(({ partitions }) => partitions)
        .reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
      return committed === (await countOf(TOPIC));
    },
    rejected: async () =>
      (await admin.listTopics()).includes(`${TOPIC}.rejected`) ? countOf(`${TOPIC}.rejected`) : 0,
    kill: () => broker.stop('SIGKILL'),
    start: () => broker.start(),
    async remove() {
      await Promise.all([producer.disconnect(), admin.disconnect()].map((one) => one.catch(() => undefined)));
      await broker.remove();
    },
  };
}
