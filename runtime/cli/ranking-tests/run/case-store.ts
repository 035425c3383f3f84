import { mergeSegment } from '../../../state/store/codec/feature-record.js';
import type { RecordBatch } from '../../../state/store/codec/record-batch.js';
import { isStored } from '../../../state/store/compare-records.js';
import { recordKeysOf, recordsOfMarks, swapUnmarked } from '../../../state/store/marks.js';
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
} from '../../../state/store/store.js';

/** The store of one case: records in memory. Nothing expires in it, because a case has one point in time. */
export class CaseStore implements Store {
  readonly #records = new Map<string, Buffer>();

  clear(): void {
    this.#records.clear();
  }

  read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    return Promise.resolve(keys.map((key) => this.#records.get(key) ?? null));
  }

  readInto(keys: readonly string[], batch: RecordBatch, first: number): Promise<void> {
    keys.forEach((key, i) => {
      const record = this.#records.get(key) ?? null;
      batch.put(first + i, record, 0, record?.length ?? 0);
    });
    return Promise.resolve();
  }

  write(records: readonly StoreRecord[]): Promise<void> {
    for (const { key, value } of records) this.#records.set(key, value);
    return Promise.resolve();
  }

  remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#records.delete(key);
    return Promise.resolve();
  }

  mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    const outcomes = segments.map(({ key, segment, replaces }) => {
      const merged = mergeSegment(this.#records.get(key) ?? null, segment, -Infinity, replaces);
      if (merged.outcome !== 'changed') this.#records.set(key, merged.record);
      return merged.outcome;
    });
    return Promise.resolve(outcomes);
  }

  swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    return swapUnmarked(swaps, this, (free) => {
      const outcomes = free.map((swap): SwapOutcome => {
        const isNow = isStored(this.#records.get(swap.key) ?? null, swap);
        if (isNow) this.#records.set(swap.key, swap.after);
        return isNow ? 'stored' : 'changed';
      });
      return Promise.resolve(outcomes);
    });
  }

  mark(marks: readonly Marks[]): Promise<void> {
    return this.write(recordsOfMarks(marks));
  }

  marked(sets: readonly MarkedIds[]): Promise<boolean[][]> {
    return Promise.resolve(sets.map((set) => recordKeysOf(set).map((key) => this.#records.has(key))));
  }

  sampleKeys(start: string, most: number): Promise<string[]> {
    return Promise.resolve(this.#keysFrom(start).slice(0, most));
  }

  scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    const left = this.#keysFrom(start).filter((key) => cursor === undefined || key > cursor);
    const keys = left.slice(0, count);
    return Promise.resolve({ keys, cursor: left.length > count ? keys.at(-1) : undefined });
  }

  #keysFrom(start: string): string[] {
    return [...this.#records.keys()].filter((key) => key.startsWith(start)).sort();
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  erase(): Promise<Erasure> {
    return Promise.resolve({ files: 'rewritten', copies: [] });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
