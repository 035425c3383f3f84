import type { Redis } from 'ioredis';
import { ProbeError, type RecordBatch, type ServerProbe, type Sink, type SinkMessage } from 'millrace/api';
import { clientOf, hostOf } from './connect.js';
import type { Options } from './options.generated.js';

type Field = string | Buffer;

/**
 * Adds batches to a stream. It has a connection of its own, made at the first batch and after each failure, so a
 * connection that hangs is not used again.
 */
export class StreamWriter implements Sink {
  readonly batchBytes: number;
  readonly probe: ServerProbe;
  readonly #options: Options;
  readonly #timeoutMs: number;
  #client: Redis | undefined;
  /** Why the connection failed. The commands that it rejects only say that it is closed. */
  #cause: Error | undefined;

  constructor(options: Options, timeoutMs: number, batchBytes: number) {
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.batchBytes = batchBytes;
    this.probe = { server: hostOf(options.url), ask: () => this.#ask() };
  }

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    let stop: (() => void) | undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`Redis did not answer within ${this.#timeoutMs} ms`)),
        this.#timeoutMs,
      );
      const abort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      stop = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
    });
    try {
      await Promise.race([this.#add(entriesOf(batch, this.#options.entry)), stopped]);
    } catch (error) {
      this.close();
      throw this.#cause ?? error;
    } finally {
      stop?.();
    }
  }

  async #ask(): Promise<string> {
    const { stream } = this.#options;
    const client = this.#open();
    try {
      await client.connect();
      const type = await client.type(stream);
      if (type === 'none') return `it answers; the first record creates the stream ${stream}`;
      if (type === 'stream') return `it answers and has the stream ${stream}`;
      throw new ProbeError(
        `the key ${stream} is a ${type}, not a stream`,
        'choose another name for `stream`',
      );
    } catch (error) {
      throw error instanceof ProbeError ? error : (this.#cause ?? error);
    } finally {
      client.disconnect();
    }
  }

  close(): void {
    this.#client?.disconnect();
    this.#client = undefined;
  }

  async #add(entries: readonly (readonly Field[])[]): Promise<void> {
    const client = (this.#client ??= this.#open());
    if (client.status === 'wait') await client.connect();
    const { stream, max_length: maxLength } = this.#options;
    const pipeline = client.pipeline();
    for (const fields of entries) pipeline.xadd(stream, 'MAXLEN', '~', maxLength, '*', ...fields);
    // The pipeline resolves even if commands in it failed.
    const results = (await pipeline.exec()) ?? [];
    const failure = results.find(([error]) => error !== null)?.[0];
    if (failure !== undefined && failure !== null) throw failure;
  }

  #open(): Redis {
    const client = clientOf(this.#options, { connectTimeout: this.#timeoutMs });
    this.#cause = undefined;
    client.on('error', (error) => {
      this.#cause = error;
    });
    return client;
  }
}

/** The fields of each entry. */
function entriesOf(batch: RecordBatch, entry: Options['entry']): readonly (readonly Field[])[] {
  if (entry === 'record') return batch.messages().map((message) => fieldsOf(batch, message));
  return [
    [
      ...['type', batch.contentType, 'kinds', batch.kinds.join(','), 'count', String(batch.count)],
      ...['data', batch.body()],
    ],
  ];
}

function fieldsOf({ contentType }: RecordBatch, { kind, requestId, bytes }: SinkMessage): readonly Field[] {
  return [
    ...['type', contentType, 'kind', kind],
    ...(requestId === undefined ? [] : ['request_id', requestId]),
    ...['data', Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)],
  ];
}
