import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Consumer, EachBatchPayload, Kafka, KafkaMessage, Producer } from 'kafkajs';
import type { Backlog, RejectedMessage, ServerProbe, Source, SourceMessage } from 'millrace/api';
import { configOf, kafkaPackage, topicAnswer, type KafkaServer } from './client.js';

/** How long a read waits for messages, in milliseconds. */
const WAIT_MS = 250;
const HEARTBEAT_MS = 2000;
const SESSION_MS = 30_000;

/** Where a new group begins; a number is a time, epoch milliseconds. */
export type Start = 'earliest' | 'latest' | number;

export interface TopicGroup {
  readonly group: string;
  /** The topic for rejected messages. */
  readonly rejected: string;
  readonly start: Start;
}

/** Messages of one partition that the client fetched, and are not all settled. */
interface Fetched {
  readonly payload: EachBatchPayload;
  /** The messages that were not read yet. */
  left: readonly KafkaMessage[];
  /** Ends the client's call. */
  readonly end: (error?: Error) => void;
}

interface Clients {
  readonly kafka: Kafka;
  readonly consumer: Consumer;
  readonly admin: Admin;
}

/**
 * Reads a topic as a consumer group. The client calls with one batch of a partition after the other, and waits until the
 * batch is settled; meanwhile it keeps the membership by heartbeats. Offsets are committed when messages are settled.
 */
export class TopicReader implements Source {
  readonly probe: ServerProbe;
  readonly #server: KafkaServer;
  readonly #group: TopicGroup;
  readonly #timeoutMs: number;
  readonly #path: string;
  #clients: Clients | undefined;
  #producer: Producer | undefined;
  #fetched: Fetched | undefined;
  #arrived: (() => void) | undefined;
  #failure: Error | undefined;
  /** False until a new group is at the time where it begins. */
  #isPlaced = true;

  /** @param path the main file of kafkajs */
  constructor(server: KafkaServer, group: TopicGroup, timeoutMs: number, path: string) {
    this.#server = server;
    this.#group = group;
    this.#timeoutMs = timeoutMs;
    this.#path = path;
    this.probe = {
      server: server.brokers.join(', '),
      ask: () => topicAnswer(path, server, timeoutMs, 'a source waits until it exists'),
    };
  }

  async open(): Promise<void> {
    await this.close();
    this.#failure = undefined;
    const { Kafka } = await kafkaPackage(this.#path);
    const kafka = new Kafka(configOf(this.#server, this.#timeoutMs));
    const consumer = kafka.consumer({
      groupId: this.#group.group,
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      allowAutoTopicCreation: false,
      // The runtime opens the source again.
      retry: { retries: 0, restartOnFailure: () => Promise.resolve(false) },
    });
    const admin = kafka.admin({ retry: { retries: 0 } });
    const clients: Clients = { kafka, consumer, admin };
    this.#clients = clients;
    await admin.connect();
    const places = await this.#placesOfNewGroup(admin);
    this.#isPlaced = places.length === 0;
    await consumer.connect();
    const { CRASH } = consumer.events;
    consumer.on(CRASH, ({ payload: { error } }) => this.#fail(clients, error));
    await consumer.subscribe({ topic: this.#server.topic, fromBeginning: this.#group.start !== 'latest' });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 1,
      eachBatch: (payload) => this.#offer(clients, payload),
    });
    const { topic } = this.#server;
    for (const place of places) consumer.seek({ topic, ...place });
    this.#isPlaced = true;
  }

  async read(most: number, signal: AbortSignal): Promise<readonly SourceMessage[]> {
    if (this.#clients === undefined) throw new Error('the source is not open');
    if (this.#fetched === undefined && this.#failure === undefined) await this.#arrival(signal);
    if (this.#failure !== undefined) throw this.#failure;
    const fetched = this.#fetched;
    if (fetched === undefined || signal.aborted) return [];
    const { topic, partition } = fetched.payload.batch;
    return fetched.left.slice(0, most).map((message) => messageOf(`${topic}-${partition}`, message));
  }

  /** Sends rejected messages to their topic, then commits the offset after the last message. */
  async settle(messages: readonly SourceMessage[], rejected: readonly RejectedMessage[]): Promise<void> {
    const fetched = this.#fetched;
    const clients = this.#clients;
    const last = messages.at(-1);
    if (last === undefined) return;
    if (fetched === undefined || clients === undefined) throw this.#failure ?? lostPartition();
    const { payload } = fetched;
    if (!payload.isRunning() || payload.isStale()) throw lostPartition();
    if (rejected.length > 0) await this.#reject(clients, fetched, rejected);
    const { topic, partition } = payload.batch;
    const next = String(BigInt(last.id) + 1n);
    await clients.consumer.commitOffsets([{ topic, partition, offset: next }]);
    payload.resolveOffset(last.id);
    fetched.left = fetched.left.slice(messages.length);
    if (fetched.left.length > 0) {
      await payload.heartbeat();
      return;
    }
    this.#fetched = undefined;
    fetched.end();
  }

  async backlog(): Promise<Backlog> {
    const clients = this.#clients;
    if (clients === undefined) return { lag: null };
    const { topic } = this.#server;
    // The client learns the brokers from the first call.
    const ends = await clients.admin.fetchTopicOffsets(topic);
    const committed = await clients.admin.fetchOffsets({ groupId: this.#group.group, topics: [topic] });
    const offsets = new Map(
      committed.flatMap(({ partitions }) => partitions.map((one) => [one.partition, Number(one.offset)])),
    );
    let lag = 0;
    for (const { partition, high, low } of ends) {
      const offset = offsets.get(partition) ?? -1;
      const from = offset >= 0 ? offset : this.#group.start === 'latest' ? Number(high) : Number(low);
      lag += Math.max(0, Number(high) - from);
    }
    return { lag };
  }

  async close(): Promise<void> {
    const clients = this.#clients;
    this.#clients = undefined;
    this.#fetched?.end(new Error('the source is closed'));
    this.#fetched = undefined;
    const producer = this.#producer;
    this.#producer = undefined;
    for (const client of [clients?.consumer, clients?.admin, producer])
      await client?.disconnect().catch(() => undefined);
  }

  /** Called by the client; what it returns resolves when the batch is settled. */
  #offer(clients: Clients, payload: EachBatchPayload): Promise<void> {
    // What comes before the first offsets are set is fetched again.
    const isWanted = clients === this.#clients && this.#isPlaced;
    if (!isWanted || payload.batch.messages.length === 0) return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      // Without heartbeats, the group gives the partition away while the store is down.
      const timer = setInterval(() => {
        payload.heartbeat().catch((error: unknown) => this.#fail(clients, asError(error)));
      }, HEARTBEAT_MS);
      const end = (error?: Error): void => {
        clearInterval(timer);
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#fetched = { payload, left: payload.batch.messages, end };
      this.#arrived?.();
    });
  }

  /** Waits for a batch, for a failure, or for a while. */
  async #arrival(signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    signal.addEventListener('abort', abort, { once: true });
    this.#arrived = abort;
    if (!signal.aborted) await delay(WAIT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    this.#arrived = undefined;
    signal.removeEventListener('abort', abort);
  }

  #fail(clients: Clients, error: Error): void {
    if (clients !== this.#clients) return;
    this.#failure = error;
    this.#fetched?.end(error);
    this.#fetched = undefined;
    this.#arrived?.();
  }

  /** The offsets where a group begins that has none, if it begins at a time. */
  async #placesOfNewGroup(
    admin: Admin,
  ): Promise<readonly { readonly partition: number; readonly offset: string }[]> {
    const { group, start } = this.#group;
    const { topic } = this.#server;
    if (typeof start !== 'number') return [];
    // The client learns the brokers from this call, and asks them for the group in the next one.
    const places = await admin.fetchTopicOffsetsByTimestamp(topic, start);
    const known = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    const placed = new Set(
      known.flatMap(({ partitions }) =>
        partitions.filter(({ offset }) => Number(offset) >= 0).map(({ partition }) => partition),
      ),
    );
    return places.filter(({ partition }) => !placed.has(partition));
  }

  async #reject({ kafka }: Clients, { left }: Fetched, rejected: readonly RejectedMessage[]): Promise<void> {
    if (this.#producer === undefined) {
      const { Partitioners } = await kafkaPackage(this.#path);
      const producer = kafka.producer({
        createPartitioner: Partitioners.DefaultPartitioner,
        allowAutoTopicCreation: true,
        retry: { retries: 0 },
      });
      await producer.connect();
      this.#producer = producer;
    }
    const byOffset = new Map(left.map((message) => [message.offset, message]));
    await this.#producer.send({
      topic: this.#group.rejected,
      acks: -1,
      timeout: this.#timeoutMs,
      messages: rejected.map(({ message: { partition, id }, reason }) => {
        const { key = null, value = null, headers = {} } = byOffset.get(id) ?? {};
        return { key, value, headers: { ...headers, rejected_from: `${partition}:${id}`, reason } };
      }),
    });
  }
}

function messageOf(partition: string, { offset, timestamp, headers, value }: KafkaMessage): SourceMessage {
  const texts = Object.entries(headers ?? {}).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, String(Array.isArray(text) ? text[0] : text)] as const],
  );
  return {
    partition,
    id: offset,
    time: Number(timestamp),
    headers: Object.fromEntries(texts),
    content: value ?? undefined,
  };
}

function lostPartition(): Error {
  return new Error('the group gave the partition to another consumer');
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
