import { within, type SpanHolder, type TraceSpan } from '../../project/tracing/trace-span.js';
import type { RecordBatch } from './codec/record-batch.js';
import type {
  Erasure,
  KeyPage,
  MarkedIds,
  Marks,
  RecordSwap,
  SegmentOutcome,
  SegmentWrite,
  Store,
  StoreRecord,
  SwapOutcome,
} from './store.js';

/** Returns the store with a span for each round trip, below the given span; the store itself if nothing is recorded. */
export function tracedStore(store: Store, span: TraceSpan | undefined): Store {
  return span?.isRecorded === true ? new TracedStore(store, { span }) : store;
}

/** A store for one request. Each round trip has a span below the current span of the request. */
export class TracedStore implements Store {
  readonly #store: Store;
  readonly #holder: SpanHolder;

  constructor(store: Store, holder: SpanHolder) {
    this.#store = store;
    this.#holder = holder;
  }

  read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]> {
    return this.#trip('read', keys.length, () => this.#store.read(keys, signal));
  }

  readInto(keys: readonly string[], batch: RecordBatch, first: number, signal?: AbortSignal): Promise<void> {
    return this.#trip('read', keys.length, () => this.#store.readInto(keys, batch, first, signal));
  }

  write(records: readonly StoreRecord[]): Promise<void> {
    return this.#trip('write', records.length, () => this.#store.write(records));
  }

  remove(keys: readonly string[]): Promise<void> {
    return this.#trip('remove', keys.length, () => this.#store.remove(keys));
  }

  mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    return this.#trip('merge', segments.length, () => this.#store.mergeSegments(segments));
  }

  swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    return this.#trip('swap', swaps.length, () => this.#store.swap(swaps));
  }

  mark(marks: readonly Marks[]): Promise<void> {
    return this.#trip('mark', marks.length, () => this.#store.mark(marks));
  }

  marked(sets: readonly MarkedIds[]): Promise<boolean[][]> {
    return this.#trip('marked', sets.length, () => this.#store.marked(sets));
  }

  sampleKeys(start: string, most: number, signal: AbortSignal): Promise<string[]> {
    return this.#trip('scan', undefined, () => this.#store.sampleKeys(start, most, signal));
  }

  scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    return this.#trip('scan', undefined, () => this.#store.scan(start, cursor, count));
  }

  erase(): Promise<Erasure> {
    return this.#trip('erase', undefined, () => this.#store.erase());
  }

  ping(): Promise<void> {
    return this.#trip('ping', undefined, () => this.#store.ping());
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  #trip<T>(operation: string, keys: number | undefined, work: () => Promise<T>): Promise<T> {
    const span = this.#holder.span?.startStore(operation, keys);
    return span === undefined ? work() : within(span, work);
  }
}
