import { mergeSegment } from '../../runtime/state/store/codec/feature-record.js';
import type { RecordBatch } from '../../runtime/state/store/codec/record-batch.js';
import { isStored } from '../../runtime/state/store/compare-records.js';
import { recordKeysOf, recordsOfMarks, swapUnmarked } from '../../runtime/state/store/marks.js';
import {
  StoreWriteError,
  type Erasure,
  type KeyPage,
  type MarkedIds,
  type Marks,
  type RecordSwap,
  type SegmentOutcome,
  type SegmentWrite,
  type Store,
  type StoreRecord,
  type SwapOutcome,
} from '../../runtime/state/store/store.js';

/** A store in memory whose writes can be made to fail. It never expires anything. */
export class MemoryStore implements Store {
  readonly records = new Map<string, Buffer>();
  reads = 0;
  /** Decides which writes of a batch fail, by position and key. The other writes succeed. */
  failing: ((position: number, key: string) => boolean) | undefined;

  read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    this.reads++;
    return Promise.resolve(keys.map((key) => this.records.get(key) ?? null));
  }

  async readInto(keys: readonly string[], batch: RecordBatch, first: number): Promise<void> {
    const records = await this.read(keys);
    records.forEach((record, i) => batch.put(first + i, record, 0, record?.length ?? 0));
  }

  write(records: readonly StoreRecord[]): Promise<void> {
    return this.#each(records, ({ key, value }) => void this.records.set(key, value));
  }

  remove(keys: readonly string[]): Promise<void> {
    return this.#each(
      keys.map((key) => ({ key })),
      ({ key }) => void this.records.delete(key),
    );
  }

  async mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    const outcomes: SegmentOutcome[] = [];
    await this.#each(segments, ({ key, segment, replaces }) => {
      const merged = mergeSegment(this.records.get(key) ?? null, segment, -Infinity, replaces);
      if (merged.outcome !== 'changed') this.records.set(key, merged.record);
      outcomes.push(merged.outcome);
    });
    return outcomes;
  }

  swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    return swapUnmarked(swaps, this, async (free) => {
      const outcomes: SwapOutcome[] = [];
      await this.#each(free, (swap) => {
        const isNow = isStored(this.records.get(swap.key) ?? null, swap);
        if (isNow) this.records.set(swap.key, swap.after);
        outcomes.push(isNow ? 'stored' : 'changed');
      });
      return outcomes;
    });
  }

  mark(marks: readonly Marks[]): Promise<void> {
    return this.write(recordsOfMarks(marks));
  }

  marked(sets: readonly MarkedIds[]): Promise<boolean[][]> {
    return Promise.resolve(sets.map((set) => recordKeysOf(set).map((key) => this.records.has(key))));
  }

  sampleKeys(start: string, most: number): Promise<string[]> {
    return Promise.resolve([...this.records.keys()].filter((key) => key.startsWith(start)).slice(0, most));
  }

  scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    const keys = [...this.records.keys()].filter((key) => key.startsWith(start)).sort();
    const left = cursor === undefined ? keys : keys.filter((key) => key > cursor);
    const page = left.slice(0, count);
    return Promise.resolve({ keys: page, cursor: left.length > count ? page.at(-1) : undefined });
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  erase(): Promise<Erasure> {
    return Promise.resolve({ files: 'server', copies: [] });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #each<T extends { readonly key: string }>(items: readonly T[], apply: (item: T) => void): Promise<void> {
    const confirmed = items.map((item, i) => {
      if (this.failing?.(i, item.key) === true) return false;
      apply(item);
      return true;
    });
    if (!confirmed.includes(false)) return Promise.resolve();
    return Promise.reject(new StoreWriteError('the store failed on purpose', confirmed, 'store_unavailable'));
  }
}
