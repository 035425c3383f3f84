import { setTimeout as pause } from 'node:timers/promises';
import {
  SinkError,
  type RecordBatch as SinkBatch,
  type RecordKind,
  type Sink,
} from '../../ground/api/ledger.js';
import { describeError } from '../../ground/core/describe-error.js';
import { At, FRAME_HEAD } from './format.js';
import type { LedgerObserver } from './ledger.js';
import type { DropReason, RecordBatch, RecordSink, WriteOutcome } from './record-sink.js';
import { schemaIdOf } from './schema-frame.js';
import { ColumnsBatch, EventsBatch, type EventsOf, type FramedRecord } from './sink-batch.js';

/** A sink as its file declares it, and the plugin's sink. */
export interface SinkBinding {
  readonly name: string;
  readonly take: readonly RecordKind[];
  readonly queueBytes: number;
  readonly sink: Sink;
  /** For `format: events`; undefined for `columns`. */
  readonly events: EventsOf | undefined;
}

type SinkObserver = Pick<LedgerObserver, 'retried' | 'waiting' | 'refused'>;

export interface Patience {
  /** The time limit of one attempt, in milliseconds. */
  readonly attemptMs?: number;
  /** The first pause after a failure; it doubles with each failure. In milliseconds. */
  readonly pauseMs?: number;
}

const BATCH_BYTES = 2 ** 20;
const ATTEMPT_MS = 60_000;
const PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** The longest pause that the other side may ask for. */
const LONGEST_ASKED_MS = 300_000;
/** How long a write may still run after the plugin's sink was replaced; milliseconds. */
const REPLACE_MS = 1_000;
const CLOSE_MS = 1_000;

/**
 * Writes the records of a queue to the sink of a plugin, in batches of the size that the plugin wants. A batch that fails
 * is written again until it arrives, is refused, or the queue is closed. The plugin's sink can be replaced at any time;
 * the records that wait then go to the new one.
 */
export class PluginSink implements RecordSink {
  #binding: SinkBinding;
  readonly #observer: SinkObserver;
  readonly #attemptMs: number;
  readonly #pauseMs: number;
  #replaced = new AbortController();
  #isWaiting = false;

  constructor(
    binding: SinkBinding,
    observer: SinkObserver = {},
    { attemptMs = ATTEMPT_MS, pauseMs = PAUSE_MS }: Patience = {},
  ) {
    this.#binding = binding;
    this.#observer = observer;
    this.#attemptMs = attemptMs;
    this.#pauseMs = pauseMs;
  }

  get name(): string {
    return this.#binding.name;
  }

  get takes(): readonly RecordKind[] {
    return this.#binding.take;
  }

  get queueBytes(): number {
    return this.#binding.queueBytes;
  }

  get batchBytes(): number | undefined {
    return this.#binding.sink.batchBytes;
  }

  get batchMs(): number | undefined {
    return this.#binding.sink.batchMs;
  }

  /** Writes the following batches with another sink. A batch that is being written gets a moment to arrive. */
  async replace(binding: SinkBinding): Promise<void> {
    const before = this.#binding;
    this.#binding = binding;
    this.#replaced.abort();
    this.#replaced = new AbortController();
    await this.#writing;
    await closed(before.sink);
  }

  /** The attempt that runs now. */
  #writing: Promise<unknown> | undefined;

  async write(batch: RecordBatch, signal: AbortSignal): Promise<WriteOutcome> {
    const records = framesOf(batch);
    const dropped: Partial<Record<DropReason, number>> = {};
    let written = 0;
    let at = 0;
    /** The largest number of records of the next part: small after a part was refused. */
    let atMost = Infinity;
    let pauseMs = this.#pauseMs;
    const drop = (reason: DropReason, count: number): void => {
      if (count > 0) dropped[reason] = (dropped[reason] ?? 0) + count;
    };
    while (at < records.length) {
      if (signal.aborted) {
        drop('shutdown', records.length - at);
        break;
      }
      const { sink, events } = this.#binding;
      const replaced = this.#replaced.signal;
      let part: SinkBatch;
      try {
        part = partOf(records, at, atMost, sink.batchBytes ?? BATCH_BYTES, events);
      } catch (error) {
        this.#observer.refused?.(this.name, describeError(error, false));
        drop('encoding', 1);
        at++;
        continue;
      }
      const failure = await this.#attempt(sink, part, signal, replaced);
      if (failure === undefined) {
        written += part.count;
        at += part.count;
        atMost *= 2;
        pauseMs = this.#pauseMs;
        this.#tellWaiting(undefined);
        continue;
      }
      const { lost, written: arrived, retryAfterMs } = asSinkError(failure);
      written += arrived;
      at += arrived;
      const left = part.count - arrived;
      if (lost === 'refused' && left > 1) atMost = left >> 1;
      else if (lost !== undefined) {
        drop(lost, left);
        at += left;
        atMost *= 2;
        this.#observer.refused?.(this.name, describeError(failure, false));
      } else if (![replaced, signal].some(({ aborted }) => aborted)) {
        this.#tellWaiting(failure);
        this.#observer.retried?.(this.name);
        const ms = retryAfterMs === undefined ? pauseMs * (0.5 + Math.random()) : retryAfterMs;
        await pauseUnless(Math.min(ms, LONGEST_ASKED_MS), [signal, replaced]);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
    return { written, dropped };
  }

  async rotate(): Promise<void> {
    await this.#binding.sink.rotate?.();
  }

  async close(): Promise<void> {
    await closed(this.#binding.sink);
  }

  /** @returns the failure; undefined if the batch arrived */
  async #attempt(sink: Sink, batch: SinkBatch, signal: AbortSignal, replaced: AbortSignal): Promise<unknown> {
    const limit = new AbortController();
    const timers = [
      setTimeout(() => {
        limit.abort(new Error(`the sink did not write a batch within ${this.#attemptMs / 1000} s`));
      }, this.#attemptMs),
    ];
    const onEnd = (): void => limit.abort(signal.reason);
    const onReplaced = (): void => {
      timers.push(setTimeout(() => limit.abort(new Error('the sink was replaced')), REPLACE_MS));
    };
    signal.addEventListener('abort', onEnd, { once: true });
    replaced.addEventListener('abort', onReplaced, { once: true });
    try {
      const writing = sink.write(batch, limit.signal);
      this.#writing = writing.catch(() => undefined);
      await writing;
      return undefined;
    } catch (error) {
      return error ?? new Error('the sink failed without an error');
    } finally {
      this.#writing = undefined;
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', onEnd);
      replaced.removeEventListener('abort', onReplaced);
    }
  }

  #tellWaiting(failure: unknown): void {
    const isWaiting = failure !== undefined;
    if (isWaiting !== this.#isWaiting)
      this.#observer.waiting?.(this.name, isWaiting ? describeError(failure, false) : undefined);
    this.#isWaiting = isWaiting;
  }
}

/** The records of a batch: each frame begins with its length. */
function framesOf({ schemas, frames }: RecordBatch): FramedRecord[] {
  const byId = new Map(schemas.map(({ schema }) => [schema.id, schema]));
  const bytes = Buffer.from(frames.buffer, frames.byteOffset, frames.byteLength);
  const records: FramedRecord[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + FRAME_HEAD + bytes.readUInt32LE(at + At.length);
    const frame = bytes.subarray(at, end);
    const schema = byId.get(schemaIdOf(frame));
    if (schema === undefined) throw new Error('a batch lacks the schema of a record');
    records.push({ schema, frame });
    at = end;
  }
  return records;
}

/** @throws Error if the first record cannot be turned into the format of the sink */
function partOf(
  records: readonly FramedRecord[],
  from: number,
  atMost: number,
  maxBytes: number,
  events: EventsOf | undefined,
): SinkBatch {
  let to = from;
  for (let bytes = 0; to < records.length && to - from < Math.max(1, atMost); to++) {
    bytes += records[to]?.frame.length ?? 0;
    if (to > from && bytes > maxBytes) break;
  }
  const taken = records.slice(from, to);
  return events === undefined ? new ColumnsBatch(taken) : new EventsBatch(taken, events, maxBytes);
}

function asSinkError(failure: unknown): Pick<SinkError, 'lost' | 'written' | 'retryAfterMs'> {
  return failure instanceof SinkError ? failure : { lost: undefined, written: 0, retryAfterMs: undefined };
}

async function pauseUnless(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  for (const signal of signals) {
    if (signal.aborted) return;
    signal.addEventListener('abort', onAbort, { once: true });
  }
  await pause(ms, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
  for (const signal of signals) signal.removeEventListener('abort', onAbort);
}

/** Closes a sink, and waits for it only for a while. Its failure has no consequence. */
async function closed(sink: Sink): Promise<void> {
  const stop = new AbortController();
  const late = pause(CLOSE_MS, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
  const closing = (async () => sink.close?.())().catch(() => undefined);
  await Promise.race([closing, late]);
  stop.abort();
}
