import { describeError, type ErrorDescription } from '../core/describe-error.js';
import { schemaFrame } from './schema-frame.js';
import { SinkFailure, type DropReason, type RecordBatch, type RecordSink } from './record-sink.js';
import type { RecordSchema } from './record-schema.js';

/** Records wait at most this long, or until they are this many bytes, before they are written. */
export const FLUSH_MS = 200;
export const FLUSH_BYTES = 2 ** 20;

/** What a queue tells of its work. */
export interface QueueObserver {
  written(records: number, bytes: number): void;
  dropped(reason: DropReason, records: number): void;
  /** A batch was lost, after one that was written; undefined when a batch is written again. */
  failed(error: ErrorDescription | undefined): void;
}

/**
 * The records that wait for one sink. New records are copied into the open batch. It is closed by the flush bound;
 * closed batches are written one after another.
 */
export class SinkQueue {
  readonly sink: RecordSink;
  readonly #instance: string;
  readonly #observer: QueueObserver;
  readonly #abort = new AbortController();
  readonly #closed: Batch[] = [];
  #open = new Batch();
  #spare: Batch | undefined;
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #hasFailed = false;
  #isShut = false;
  /** Ends the wait for the write in flight. */
  #giveUp: (() => void) | undefined;
  #flushedAt: number | undefined;

  constructor(sink: RecordSink, instance: string, observer: QueueObserver) {
    this.sink = sink;
    this.#instance = instance;
    this.#observer = observer;
  }

  /** The bytes that wait, those being written included. */
  get bytes(): number {
    return this.#waitingBytes + this.#open.bytes;
  }

  /** When the last batch was written, in epoch milliseconds. */
  get flushedAt(): number | undefined {
    return this.#flushedAt;
  }

  add(schema: RecordSchema, frame: Uint8Array): void {
    if (this.#isShut) {
      this.#observer.dropped('shutdown', 1);
      return;
    }
    if (frame.length > this.sink.queueBytes) {
      this.#observer.dropped('too_large', 1);
      return;
    }
    if (this.bytes + frame.length > this.sink.queueBytes) {
      this.#observer.dropped('queue_full', 1);
      return;
    }
    this.#open.add(schema, frame);
    if (this.#open.bytes >= FLUSH_BYTES) this.#closeBatch();
    else
      this.#timer ??= setTimeout(() => {
        this.#closeBatch();
      }, FLUSH_MS);
  }

  /** Resolves when all records that were added before were written or lost. */
  async flush(): Promise<void> {
    this.#closeBatch();
    await this.#writing;
  }

  /** Writes what waits, and closes the sink. What is not written when the signal fires is lost. */
  async close(signal: AbortSignal): Promise<void> {
    this.#closeBatch();
    this.#isShut = true;
    const giveUp = (): void => {
      this.#abort.abort(signal.reason);
      this.#giveUp?.();
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    await this.#writing;
    signal.removeEventListener('abort', giveUp);
    await this.sink.close?.();
  }

  #closeBatch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#open.records === 0) return;
    this.#closed.push(this.#open);
    this.#waitingBytes += this.#open.bytes;
    this.#open = this.#spare ?? new Batch();
    this.#spare = undefined;
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (let batch = this.#closed.shift(); batch !== undefined; batch = this.#closed.shift()) {
      await this.#write(batch);
      this.#waitingBytes -= batch.bytes;
      batch.clear();
      this.#spare = batch;
    }
    this.#writing = undefined;
  }

  async #write(batch: Batch): Promise<void> {
    const { records, bytes } = batch;
    if (this.#abort.signal.aborted) {
      this.#observer.dropped('shutdown', records);
      return;
    }
    try {
      await this.#writeOrGiveUp(batch);
      this.#flushedAt = Date.now();
      this.#observer.written(records, bytes);
      if (this.#hasFailed) this.#observer.failed(undefined);
      this.#hasFailed = false;
    } catch (error) {
      const written = error instanceof SinkFailure ? error.written : 0;
      const reason = error instanceof SinkFailure ? error.reason : 'failed';
      if (written > 0) this.#observer.written(written, Math.round((bytes * written) / records));
      this.#observer.dropped(reason, records - written);
      if (!this.#hasFailed) this.#observer.failed(describeError(error, false));
      this.#hasFailed = true;
    }
  }

  async #writeOrGiveUp(batch: Batch): Promise<void> {
    const contents = batch.contents(this.#instance);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#giveUp = () => {
          reject(new SinkFailure('shutdown', 'the time of the shutdown is over'));
        };
        this.sink.write(contents, this.#abort.signal).then(resolve, reject);
      });
    } finally {
      this.#giveUp = undefined;
    }
  }
}

/** A growable buffer of record frames, and the schemas that they use. */
class Batch {
  readonly #schemas = new Set<RecordSchema>();
  #buffer = new Uint8Array(64 * 1024);
  bytes = 0;
  records = 0;

  add(schema: RecordSchema, frame: Uint8Array): void {
    const end = this.bytes + frame.length;
    if (end > this.#buffer.length) this.#grow(end);
    this.#buffer.set(frame, this.bytes);
    this.bytes = end;
    this.records++;
    this.#schemas.add(schema);
  }

  contents(instance: string): RecordBatch {
    return {
      instance,
      schemas: [...this.#schemas].map((schema) => ({ schema, frame: schemaFrame(schema) })),
      frames: this.#buffer.subarray(0, this.bytes),
      records: this.records,
    };
  }

  /** Empties the batch. A buffer that one long record made large is released. */
  clear(): void {
    if (this.#buffer.length > 4 * FLUSH_BYTES) this.#buffer = new Uint8Array(64 * 1024);
    this.#schemas.clear();
    this.bytes = 0;
    this.records = 0;
  }

  #grow(bytes: number): void {
    const grown = new Uint8Array(Math.max(bytes, this.#buffer.length * 2));
    grown.set(this.#buffer.subarray(0, this.bytes));
    this.#buffer = grown;
  }
}
