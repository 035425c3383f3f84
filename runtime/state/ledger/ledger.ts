import { randomUUID } from 'node:crypto';
import type { ErrorDescription } from '../../ground/core/describe-error.js';
import { RECORD_KINDS, type RecordKind } from '../../ground/api/ledger.js';
import type { RecordSchema } from './record-schema.js';
import type { DropReason, RecordSink } from './record-sink.js';
import { RecordWriter, type RecordRows } from './record-writer.js';
import { SinkQueue } from './sink-queue.js';

/** Where requests leave their records. `add` never throws and never waits. */
export interface Ledger {
  /** Whether a sink takes records of this kind. If not, there is nothing to prepare. */
  takes(kind: RecordKind): boolean;
  /**
   * Adds a record.
   * @param rows how many candidates and changes it has
   * @param write writes all columns of the schema, in their order; it is called at once, or not at all
   */
  add(schema: RecordSchema, rows: RecordRows, write: (writer: RecordWriter) => void): void;
  /**
   * Begins to watch the sinks of a kind. A ledger without queues has none to watch.
   * @returns waits until these sinks have all records that were added; true if they lost none since the watch began
   */
  watch?(kind: RecordKind): () => Promise<boolean>;
}

/** A ledger without sinks. */
export const NO_LEDGER: Ledger = { takes: () => false, add: () => undefined };

/** Gets the outcomes of each sink, by its name. */
export interface LedgerObserver {
  added?(kind: RecordKind): void;
  written?(sink: string, records: number, bytes: number): void;
  dropped?(sink: string, reason: DropReason, records: number): void;
  /** A batch was lost, after one that was written; undefined when a batch is written again. */
  failed?(sink: string, error: ErrorDescription | undefined): void;
  /** An attempt to write failed, and will be repeated. */
  retried?(sink: string): void;
  /** The first such attempt after one that succeeded; undefined when the sink takes records again. */
  waiting?(sink: string, error: ErrorDescription | undefined): void;
  /** Why a sink refused a record, which is lost. */
  refused?(sink: string, error: ErrorDescription): void;
}

export interface SinkState {
  readonly sink: string;
  readonly queueBytes: number;
  /** When its last batch was written, in epoch milliseconds. */
  readonly flushedAt: number | undefined;
}

/**
 * The ledger of one process. It has an instance id, new at each start, and numbers the records of each kind from 1, so a
 * reader sees by a gap that a record is missing. A record is encoded once and copied into the queue of each sink that takes
 * its kind.
 */
export class RunningLedger implements Ledger {
  readonly instance = randomUUID();
  readonly #instanceBytes = Buffer.from(this.instance.replaceAll('-', ''), 'hex');
  readonly #writer = new RecordWriter();
  #queues: readonly SinkQueue[] = [];
  #takers: Readonly<Record<RecordKind, readonly SinkQueue[]>> = { ranking: [], feedback: [], history: [] };
  /** Aborted when the time of the shutdown is over. */
  readonly #ending = new AbortController();
  /** The sinks that were left out and still write. */
  readonly #leaving = new Set<Promise<void>>();
  #isClosed = false;
  readonly #sequences: Record<RecordKind, number> = { ranking: 0, feedback: 0, history: 0 };
  readonly #observer: LedgerObserver;

  constructor(sinks: readonly RecordSink[], observer: LedgerObserver = {}) {
    this.#observer = observer;
    void this.use(sinks, 0);
  }

  /**
   * Sends the following records to other sinks. A sink that was there before keeps its queue.
   * @param withinMs how long a sink that is left out may still write what waits for it
   * @returns when those sinks are closed
   */
  async use(sinks: readonly RecordSink[], withinMs: number): Promise<void> {
    if (this.#isClosed) return;
    const before = this.#queues;
    this.#queues = sinks.map((sink) => before.find((queue) => queue.sink === sink) ?? this.#queueOf(sink));
    const takersOf = (kind: RecordKind): readonly SinkQueue[] =>
      this.#queues.filter(({ sink }) => sink.takes.includes(kind));
    this.#takers = Object.fromEntries(RECORD_KINDS.map((kind) => [kind, takersOf(kind)])) as Record<
      RecordKind,
      SinkQueue[]
    >;
    const left = before.filter((queue) => !this.#queues.includes(queue));
    await Promise.all(left.map((queue) => this.#leave(queue, withinMs)));
  }

  async #leave(queue: SinkQueue, withinMs: number): Promise<void> {
    const closing = queue.close(AbortSignal.any([AbortSignal.timeout(withinMs), this.#ending.signal]));
    this.#leaving.add(closing);
    await closing.finally(() => this.#leaving.delete(closing));
  }

  #queueOf(sink: RecordSink): SinkQueue {
    return new SinkQueue(sink, this.instance, {
      written: (records, bytes) => this.#observer.written?.(sink.name, records, bytes),
      dropped: (reason, records) => this.#observer.dropped?.(sink.name, reason, records),
      failed: (error) => this.#observer.failed?.(sink.name, error),
    });
  }

  takes(kind: RecordKind): boolean {
    return this.#takers[kind].length > 0;
  }

  add(schema: RecordSchema, rows: RecordRows, write: (writer: RecordWriter) => void): void {
    const takers = this.#takers[schema.kind];
    if (takers.length === 0) return;
    const sequence = ++this.#sequences[schema.kind];
    this.#observer.added?.(schema.kind);
    let frame: Uint8Array;
    try {
      this.#writer.begin(schema, rows, { instance: this.#instanceBytes, sequence, time: Date.now() });
      write(this.#writer);
      frame = this.#writer.finish();
    } catch (error) {
      this.#lost(takers, error);
      return;
    }
    for (const queue of takers) queue.add(schema, frame);
  }

  watch(kind: RecordKind): () => Promise<boolean> {
    const before = this.#takers[kind].map((queue) => ({ queue, lost: queue.lost }));
    return async () => {
      await Promise.all(before.map(({ queue }) => queue.settle()));
      return before.every(({ queue, lost }) => queue.lost === lost);
    };
  }

  /** Resolves when all records that were added before were written or lost. */
  async flush(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.flush()));
  }

  /** Writes what waits, and lets every sink start another file. */
  async rotate(): Promise<void> {
    await this.flush();
    await Promise.all(this.#queues.map(async ({ sink }) => sink.rotate?.()));
  }

  /**
   * Writes what waits, and closes the sinks, including those that were left out. Later records are dropped.
   * @param withinMs what is not written by then is lost
   */
  async close(withinMs: number): Promise<void> {
    this.#isClosed = true;
    const { signal } = this.#ending;
    const timer = setTimeout(() => this.#ending.abort(), Math.max(0, withinMs));
    await Promise.all([...this.#queues.map((queue) => queue.close(signal)), ...this.#leaving]);
    clearTimeout(timer);
  }

  /** The state of each sink, for metrics. */
  sinks(): readonly SinkState[] {
    return this.#queues.map(({ sink, bytes, flushedAt }) => ({
      sink: sink.name,
      queueBytes: bytes,
      flushedAt,
    }));
  }

  #lost(takers: readonly SinkQueue[], error: unknown): void {
    const reason = error instanceof RangeError ? 'too_large' : 'encoding';
    for (const { sink } of takers) this.#observer.dropped?.(sink.name, reason, 1);
  }
}
