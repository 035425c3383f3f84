import { pathToFileURL } from 'node:url';
import type * as kafkajs from 'kafkajs';
import type { KafkaConfig, Message, Producer, SASLOptions } from 'kafkajs';
import { type RecordBatch, type ServerProbe, type Sink, SinkError, type SinkMessage } from 'millrace/api';
import type { Options } from './options.generated.js';

/** kafkajs is a CommonJS package. */
type Package = typeof kafkajs;

/** Errors of the protocol by which a broker says that it will never take a message. */
const REFUSING: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'CORRUPT_MESSAGE',
  'INVALID_TIMESTAMP',
]);

/**
 * Every message repeats the schema of its record, and a broker takes about 1 MiB for one partition at a time, so batches
 * are smaller.
 */
const BATCH_BYTES = 256 * 1024;

/**
 * Sends batches to a topic. It connects at the first batch, and again after each failure: a connection that hangs is
 * not used again. The client itself repeats nothing, because the runtime does.
 */
export class TopicWriter implements Sink {
  readonly batchBytes = BATCH_BYTES;
  readonly probe: ServerProbe;
  readonly #options: Options;
  readonly #timeoutMs: number;
  readonly #path: string;
  #producer: Promise<Producer> | undefined;

  /** @param path the main file of kafkajs */
  constructor(options: Options, timeoutMs: number, path: string) {
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#path = path;
    this.probe = { server: options.brokers.join(', '), ask: () => this.#ask() };
  }

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    let stop: (() => void) | undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      const abort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      stop = () => signal.removeEventListener('abort', abort);
    });
    try {
      await Promise.race([this.#send(batch), stopped]);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== undefined) throw new SinkError(refusal, { lost: 'refused', cause: error });
      void this.close();
      throw error;
    } finally {
      stop?.();
    }
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    // It may not have connected, or have lost its connection.
    await producer?.then((one) => one.disconnect()).catch(() => undefined);
  }

  async #ask(): Promise<string> {
    const { Kafka } = await this.#package();
    const admin = new Kafka(configOf(this.#options, this.#timeoutMs)).admin({ retry: { retries: 0 } });
    const { topic } = this.#options;
    try {
      await admin.connect();
      const topics = await admin.listTopics();
      return topics.includes(topic)
        ? `it answers and has the topic ${topic}`
        : `it answers and has no topic ${topic}; the broker may create it`;
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  async #send(batch: RecordBatch): Promise<void> {
    const { topic, key, acks, compression } = this.#options;
    const { CompressionTypes } = await this.#package();
    const producer = await (this.#producer ??= this.#connect());
    await producer.send({
      topic,
      acks: acks === 'all' ? -1 : 1,
      timeout: this.#timeoutMs,
      compression: compression === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None,
      messages: batch.messages().map((message) => messageOf(message, batch.contentType, key)),
    });
  }

  async #connect(): Promise<Producer> {
    const { Kafka, Partitioners } = await this.#package();
    const kafka = new Kafka(configOf(this.#options, this.#timeoutMs));
    const producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: true,
      retry: { retries: 0 },
    });
    await producer.connect();
    return producer;
  }

  async #package(): Promise<Package> {
    const module = (await import(pathToFileURL(this.#path).href)) as { readonly default: Package };
    return module.default;
  }
}

function configOf(options: Options, timeoutMs: number): KafkaConfig {
  const { brokers, client_id: clientId, tls, ca, cert, key_file: key } = options;
  const sasl = saslOf(options);
  const isSecure = tls || ca !== undefined || cert !== undefined;
  return {
    brokers: [...brokers],
    clientId,
    connectionTimeout: timeoutMs,
    authenticationTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    retry: { retries: 0 },
    // The runtime logs what fails; the client would print it to the console.
    logCreator: () => () => undefined,
    ...(isSecure
      ? {
          ssl: {
            ...(ca === undefined ? {} : { ca: ca.content }),
            ...(cert === undefined ? {} : { cert: cert.content }),
            ...(key === undefined ? {} : { key: key.content }),
          },
        }
      : {}),
    ...(sasl === undefined ? {} : { sasl }),
  };
}

function saslOf({ mechanism, username, password }: Options): SASLOptions | undefined {
  return username === undefined || password === undefined ? undefined : { mechanism, username, password };
}

function messageOf(
  { kind, requestId, unit, bytes }: SinkMessage,
  contentType: string,
  key: Options['key'],
): Message {
  const text = key === 'request' ? requestId : key === 'unit' ? unit : undefined;
  return {
    key: text ?? null,
    value: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    headers: { 'content-type': contentType, kind },
  };
}

/** Why a broker will never take these messages; undefined for every other error. The client wraps its errors. */
function refusalOf(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { type } = one as { readonly type?: unknown };
    if (typeof type === 'string' && REFUSING.has(type)) return `${type}: ${one.message}`;
  }
  return undefined;
}
