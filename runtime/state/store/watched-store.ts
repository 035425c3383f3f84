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

/**
 * A store that reports the keys of every write, after the write and before its caller continues.
 * @param written called with the keys; after a failed write, with all of its keys
 */
export function watchWrites(store: Store, written: (keys: Iterable<string>) => void): Store {
  return new WatchedStore(store, written);
}

class WatchedStore implements Store {
  readonly #store: Store;
  readonly #written: (keys: Iterable<string>) => void;

  constructor(store: Store, written: (keys: Iterable<string>) => void) {
    this.#store = store;
    this.#written = written;
  }

  read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]> {
    return this.#store.read(keys, signal);
  }

  readInto(keys: readonly string[], batch: RecordBatch, first: number, signal?: AbortSignal): Promise<void> {
    return this.#store.readInto(keys, batch, first, signal);
  }

  async write(records: readonly StoreRecord[]): Promise<void> {
    try {
      await this.#store.write(records);
    } finally {
      this.#written(keysOf(records));
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    try {
      await this.#store.remove(keys);
    } finally {
      this.#written(keys);
    }
  }

  async mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    try {
      return await this.#store.mergeSegments(segments);
    } finally {
      this.#written(keysOf(segments));
    }
  }

  async swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    try {
      return await this.#store.swap(swaps);
    } finally {
      this.#written(keysOf(swaps));
    }
  }

  mark(marks: readonly Marks[]): Promise<void> {
    return this.#store.mark(marks);
  }

  marked(sets: readonly MarkedIds[]): Promise<boolean[][]> {
    return this.#store.marked(sets);
  }

  sampleKeys(start: string, most: number, signal: AbortSignal): Promise<string[]> {
    return this.#store.sampleKeys(start, most, signal);
  }

  scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    return this.#store.scan(start, cursor, count);
  }

  erase(): Promise<Erasure> {
    return this.#store.erase();
  }

  ping(): Promise<void> {
    return this.#store.ping();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

function* keysOf(writes: readonly { readonly key: string }[]): Iterable<string> {
  for (const { key } of writes) yield key;
}
