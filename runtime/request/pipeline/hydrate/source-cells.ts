import type { Column } from '../../../ground/api/columns.js';
import { allLevels, type FeatureRead, type Plan } from '../../compile/plan.js';
import type { FeatureSources, SourceReader, SourceRows } from '../../../state/index/feature-source.js';
import { idsText } from '../../../ground/core/ids.js';
import { copyCell, RepeatedLists } from '../../../language/frame/cells.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { CellRead } from './cell-read.js';
import { within, type TraceSpan } from '../../../project/tracing/trace-span.js';
import type { BatchRead } from './batch-read.js';

/** Readers of a plan's features that are outside the store. */
export type SourceReaders = ReadonlyMap<FeatureRead, SourceReader>;

/** Prepares the reads of features outside the store, also those of retrievers. It runs when the pipeline is mounted. */
export function readersOf(plan: Plan, sources: FeatureSources | undefined): SourceReaders {
  const readers = new Map<FeatureRead, SourceReader>();
  for (const { features } of allLevels(plan))
    for (const read of features)
      if (read.source !== undefined && sources !== undefined)
        readers.set(read, sources.readerOf(read.wants.map(({ feature }) => feature)));
  return readers;
}

/** Cells of features outside the store, read in parallel to the round trip of their level. */
export class SourceCells implements CellRead {
  readonly count: number;
  readonly #reader: SourceReader;
  readonly #columns: readonly Column[];
  readonly #now: number;
  readonly #keys: (readonly string[])[] = [];
  /** By row: number of its key; -1 if an id is missing. */
  readonly #numbers: Int32Array;
  /** By key: the first row that was filled from it. */
  readonly #first: Int32Array;
  readonly #repeated = new RepeatedLists();
  #rows: SourceRows | undefined;

  constructor(read: FeatureRead, reader: SourceReader, columns: readonly Column[], frame: Frame) {
    this.#reader = reader;
    this.#columns = columns;
    this.#now = frame.now;
    this.count = read.scope === 'candidate' ? frame.count : 1;
    this.#numbers = new Int32Array(this.count);
    const ids = read.ids.map((slot) => frame.text(slot));
    const known = new Map<string, number>();
    for (let row = 0; row < this.count; row++) {
      const key = ids.map((column) => column.values[row * column.stride] ?? '');
      this.#numbers[row] = key.includes('') ? -1 : this.#number(key, read.distinct ? undefined : known);
    }
    this.#first = new Int32Array(this.#keys.length).fill(-1);
  }

  #number(key: readonly string[], known: Map<string, number> | undefined): number {
    if (known === undefined) return this.#keys.push(key) - 1;
    const text = idsText(key);
    const number = known.get(text) ?? this.#keys.push(key) - 1;
    known.set(text, number);
    return number;
  }

  /** @throws MillraceError store_unavailable, deadline_exceeded */
  async read(
    { deadline, outside }: Pick<BatchRead, 'deadline' | 'outside'>,
    parent?: TraceSpan,
  ): Promise<void> {
    const { view } = this.#reader;
    const keys = this.#keys.length;
    const span = view === undefined ? parent?.startFeast(keys) : parent?.startReader(view, keys);
    const work = (): Promise<SourceRows> => {
      const ask = { now: this.#now, leftMs: deadline.left, trace: span };
      return deadline.within(this.#reader.read(this.#keys, deadline.signal, ask));
    };
    this.#rows = span === undefined ? await work() : await within(span, work);
    const { report } = this.#rows;
    if (report !== undefined) {
      (outside.reads ??= []).push(report);
      span?.set({ 'millrace.read.outcome': report.outcome, 'millrace.read.asked': report.asked });
    }
    outside.roundTrips += Number(report?.asked !== 0);
    outside.keysRead += report?.asked ?? keys;
  }

  hasId(row: number): boolean {
    return (this.#numbers[row] ?? -1) >= 0;
  }

  missing(): number {
    return 0; // there are no entities
  }

  missingLayouts(): void {
    // Only records of the store have layouts.
  }

  begin(): void {
    // `fill` decodes each row.
  }

  fill(row: number): number {
    const number = this.#numbers[row] as number;
    const first = this.#first[number] as number;
    let elements = 0;
    if (first >= 0)
      for (const column of this.#columns) {
        copyCell(column, first, column, row);
        elements += this.#repeated.add(column, row);
      }
    else {
      this.#rows?.decode(number, this.#columns, row, this.#now);
      this.#first[number] = row;
    }
    return elements;
  }
}
