import { createHash } from 'node:crypto';
import {
  type Bucket,
  ObjectError,
  type ObjectPlace,
  ProbeError,
  type RecordBatch,
  SEGMENT_ENDING,
  segmentName,
  type ServerProbe,
  type Sink,
  SinkError,
  type SinkFormat,
} from 'millrace/api';

/** Answers by which a server says that it will never take these bytes. */
const REFUSING: ReadonlySet<number | undefined> = new Set([400, 413]);

interface ObjectWriterOptions extends ObjectPlace {
  /** The start of the names of its segments: the process and the sink. */
  readonly writer: string;
  readonly format: SinkFormat;
  readonly ageMs: number;
  readonly bytes: number;
}

/**
 * Stores each batch as one object, which is a segment. An object is stored whole or not at all, and a batch that is written
 * again gets the name that it had, so a repetition replaces it.
 */
export class ObjectWriter implements Sink {
  readonly batchBytes: number;
  readonly batchMs: number;
  readonly probe: ServerProbe;
  readonly #options: ObjectWriterOptions;
  readonly #bucket: Bucket;
  /** The number of the last object, and what it has. Numbers are times, so they go on after a reload. */
  #last = { number: 0, content: '' };

  constructor(options: ObjectWriterOptions) {
    this.#options = options;
    this.#bucket = options.bucket;
    this.batchBytes = options.bytes;
    this.batchMs = options.ageMs;
    this.probe = { server: options.bucket.endpoint, ask: () => this.#asked() };
  }

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const body = batch.body();
    const content = createHash('sha256').update(body).digest('hex');
    if (content !== this.#last.content)
      this.#last = { number: Math.max(Date.now(), this.#last.number + 1), content };
    try {
      await this.#bucket.writeOnce(this.#keyOf(this.#last.number), body, signal, batch.contentType);
    } catch (error) {
      if (!(error instanceof ObjectError)) throw error;
      const { status, retryAfterMs, message } = error;
      // A wrong clock or region is answered with 400, too; only a document that says so is about the bytes.
      const isRefused = REFUSING.has(status) && /TooLarge|BadDigest|InvalidRequest/.test(message);
      throw new SinkError(message, { cause: error, retryAfterMs, ...(isRefused ? { lost: 'refused' } : {}) });
    }
  }

  #keyOf(number: number): string {
    const { key, writer, format } = this.#options;
    const name = segmentName(writer, number, number);
    return [
      ...key.split('/').filter((one) => one !== ''),
      format === 'events' ? name.replace(SEGMENT_ENDING, '.ndjson') : name,
    ].join('/');
  }

  async #asked(): Promise<string> {
    const { key, bucket } = this.#options;
    try {
      for await (const one of bucket.list(key, 1)) return `it answers, and has ${one.key}`;
      return 'it answers, and has no segment yet';
    } catch (error) {
      if (error instanceof ObjectError && error.help !== undefined)
        throw new ProbeError(error.message, error.help);
      throw error;
    }
  }
}
