import type { Message, Producer } from 'kafkajs';
import { type RecordBatch, type ServerProbe, type Sink, SinkError, type SinkMessage } from 'millrace/api';
import { configOf, kafkaPackage, topicAnswer } from './client.js';
import type { Options } from './options.generated.js';

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
    this.probe = {
      server: options.brokers.join(', '),
      ask: () => topicAnswer(path, options, timeoutMs, 'the broker may create it'),
    };
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

  async #send(batch: RecordBatch): Promise<void> {
    const { topic, key, acks, compression } = this.#options;
    const { CompressionTypes } = await kafkaPackage(this.#path);
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
    const { Kafka, Partitioners } = await kafkaPackage(this.#path);
    const kafka = new Kafka(configOf(this.#options, this.#timeoutMs));
    const producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: true,
      retry: { retries: 0 },
    });
    await producer.connect();
    return producer;
  }
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
