import { describeError, type ErrorDescription } from '../../ground/core/describe-error.js';
import { schemaFrame } from './schema-frame.js';
import {
  SinkFailure,
  type DropReason,
  type RecordBatch,
  type RecordSink,
  type WriteOutcome,
} from './record-sink.js';
import type { RecordSchema } from './record-schema.js';

/** Records wait at most this long, or until they are this many bytes, before they are written. A sink may want more. */
export const FLUSH_MS = 200;
export const FLUSH_BYTES = 2 ** 20;
/** How long a write may still run when the time of the shutdown is over, to tell what it has written. */
const GRACE_MS = 500;

/** Gets the outcomes of a queue. */
export interface QueueObserver {
  written(records: number, bytes: number): void;
  dropped(reason: DropReason, records: number): void;
  /** A batch was lost, after one that was written; undefined when a batch is written again. */
  failed(error: ErrorDescription | undefined): void;
}

/**
 * The records that wait for one sink. New records are copied into the open batch. It is closed by the flush bound;
 * closed batches are written one after another. While one is being written, the open batch is closed only when it is
 * full, so that a long outage does not leave many small batches.
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
  /** True if the open batch has waited long enough. */
  #isDue = false;
  /** Ends the wait for the write in flight. */
  #giveUp: (() => void) | undefined;
  #flushedAt: number | undefined;
  #lost = 0;
  /** The batch that is being written. */
  #current: Batch | undefined;

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

  /** How many records were lost. */
  get lost(): number {
    return this.#lost;
  }

  add(schema: RecordSchema, frame: Uint8Array): void {
    if (this.#isShut) {
      this.#drop('shutdown', 1);
      return;
    }
    if (frame.length > this.sink.queueBytes) {
      this.#drop('too_large', 1);
      return;
    }
    if (this.bytes + frame.length > this.sink.queueBytes) {
      this.#drop('queue_full', 1);
      return;
    }
    // A batch that is larger than its sink wants would be written in two parts, the second of which is small.
    if (this.#open.bytes + frame.length > this.#batchBytes) this.#closeBatch();
    this.#open.add(schema, frame);
    if (this.#open.bytes >= this.#batchBytes) this.#closeBatch();
    else this.#timer ??= setTimeout(() => this.#due(), this.sink.batchMs ?? FLUSH_MS);
  }

  /** Half of the queue is the most, because the next batch fills while one is written. */
  get #batchBytes(): number {
    return Math.max(FLUSH_BYTES, Math.min(this.sink.batchBytes ?? 0, this.sink.queueBytes / 2));
  }

  /** The open batch has waited long enough. It is closed when no other is being written. */
  #due(): void {
    if (this.#writing === undefined) this.#closeBatch();
    else this.#isDue = true;
  }

  #drop(reason: DropReason, records: number): void {
    this.#lost += records;
    this.#observer.dropped(reason, records);
  }

  /**
   * Writes what waits as soon as the batch before is written, and resolves when it was written or lost. Many callers share a
   * batch, which `flush` would make for each.
   */
  async settle(): Promise<void> {
    const last = this.#open.records > 0 ? this.#open : (this.#closed.at(-1) ?? this.#current);
    const done = last?.whenDone();
    this.#due();
    await done;
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
    this.#isDue = false;
    if (this.#open.records === 0) return;
    if (this.#writing !== undefined) this.#open.trim();
    this.#closed.push(this.#open);
    this.#waitingBytes += this.#open.bytes;
    this.#open = this.#spare ?? new Batch();
    this.#spare = undefined;
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    for (let batch = this.#closed.shift(); batch !== undefined; batch = this.#closed.shift()) {
      if (this.#abort.signal.aborted) {
        const lost = [batch, ...this.#closed.splice(0)];
        this.#drop('shutdown', sumOf(lost, 'records'));
        this.#waitingBytes -= sumOf(lost, 'bytes');
        for (const one of lost) one.clear();
        break;
      }
      this.#current = batch;
      await this.#write(batch);
      this.#current = undefined;
      this.#waitingBytes -= batch.bytes;
      batch.clear();
      this.#spare = batch;
      if (this.#isDue && this.#closed.length === 0) this.#closeBatch();
    }
    this.#writing = undefined;
  }

  async #write(batch: Batch): Promise<void> {
    const { records, bytes } = batch;
    try {
      const outcome = await this.#writeOrGiveUp(batch);
      const { written, dropped } = outcome ?? { written: records, dropped: {} };
      this.#flushedAt = Date.now();
      if (written > 0) this.#observer.written(written, Math.round((bytes * written) / records));
      for (const [reason, count] of Object.entries(dropped)) this.#drop(reason as DropReason, count);
      if (this.#hasFailed) this.#observer.failed(undefined);
      this.#hasFailed = false;
    } catch (error) {
      const written = error instanceof SinkFailure ? error.written : 0;
      const reason = error instanceof SinkFailure ? error.reason : 'failed';
      if (written > 0) this.#observer.written(written, Math.round((bytes * written) / records));
      this.#drop(reason, records - written);
      if (!this.#hasFailed) this.#observer.failed(describeError(error, false));
      this.#hasFailed = true;
    }
  }

  async #writeOrGiveUp(batch: Batch): Promise<WriteOutcome | undefined> {
    const contents = batch.contents(this.#instance);
    let late: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#giveUp = () => {
          late = setTimeout(() => {
            reject(new SinkFailure('shutdown', 'the time of the shutdown is over'));
          }, GRACE_MS);
        };
        this.sink.write(contents, this.#abort.signal).then(resolve, reject);
      });
    } finally {
      clearTimeout(late);
      this.#giveUp = undefined;
    }
  }
}

function sumOf(batches: readonly Batch[], what: 'records' | 'bytes'): number {
  return batches.reduce((sum, batch) => sum + batch[what], 0);
}

const FIRST_BYTES = 64 * 1024;

/** A growable buffer of record frames, and the schemas that they use. */
class Batch {
  readonly #schemas = new Set<RecordSchema>();
  #buffer = new Uint8Array(FIRST_BYTES);
  bytes = 0;
  records = 0;
  readonly #waiters: (() => void)[] = [];

  /** Resolves when the batch was written or lost. */
  whenDone(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  add(schema: RecordSchema, frame: Uint8Array): void {
    const end = this.bytes + frame.length;
    if (end > this.#buffer.length) this.#grow(end);
    this.#buffer.set(frame, this.bytes);
    this.bytes = end;
    this.records++;
    this.#schemas.add(schema);
  }

  /** Releases the memory that the records do not use. */
  trim(): void {
    if (this.#buffer.length > 1.25 * this.bytes) this.#buffer = this.#buffer.slice(0, this.bytes);
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
    if (this.#buffer.length > 4 * FLUSH_BYTES) this.#buffer = new Uint8Array(FIRST_BYTES);
    this.#schemas.clear();
    this.bytes = 0;
    this.records = 0;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  #grow(bytes: number): void {
    const grown = new Uint8Array(Math.max(bytes, this.#buffer.length * 2));
    grown.set(this.#buffer.subarray(0, this.bytes));
    this.#buffer = grown;
  }
}
