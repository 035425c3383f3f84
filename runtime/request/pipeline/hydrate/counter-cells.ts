import type { Column } from '../../../ground/api/columns.js';
import type { CountsReader } from '../../../state/counters/counter-decoder.js';
import { copyCell } from '../../../language/frame/cells.js';
import type { AllCounters } from './all-counters.js';
import type { BatchRead } from './batch-read.js';
import type { CellRead } from './cell-read.js';

const NONE = { memory: null, start: 0, end: 0 };

/** The cells of counters of entities in one request. They are read from the store. */
export class CounterCells implements CellRead {
  readonly count: number;
  readonly #decoder: CountsReader;
  readonly #columns: readonly Column[];
  /** By row: number of its record; -1 if it has no id. */
  readonly #numbers: Int32Array;
  /** Undefined if no feature compares with all entities. */
  readonly #all: AllCounters | undefined;
  readonly #batch: BatchRead;
  readonly #now: number;
  /** By record: the row that it was decoded into first; undefined if no two rows share a record. */
  readonly #first: Map<number, number> | undefined;

  constructor(
    decoder: CountsReader,
    columns: readonly Column[],
    numbers: Int32Array,
    all: AllCounters | undefined,
    distinct: boolean,
    batch: BatchRead,
    now: number,
  ) {
    this.count = numbers.length;
    this.#decoder = decoder;
    this.#columns = columns;
    this.#numbers = numbers;
    this.#all = all;
    this.#batch = batch;
    this.#now = now;
    this.#first = distinct ? undefined : new Map();
  }

  hasId(row: number): boolean {
    return (this.#numbers[row] ?? -1) >= 0;
  }

  missing(): number {
    return 0; // an entity without counted events has no record
  }

  missingLayouts(): void {
    // The records of counters have no layouts.
  }

  begin(): void {
    this.#all?.arrive();
    const { memory, start, end } = this.#all ?? NONE;
    this.#decoder.begin(memory, start, end, this.#now);
  }

  fill(row: number): number {
    const number = this.#numbers[row] as number;
    const first = this.#first?.get(number);
    if (first === undefined) {
      const { memory, starts, ends } = this.#batch.records;
      const record = memory[number] as Buffer | null;
      this.#decoder.decode(record, starts[number] as number, ends[number] as number, this.#columns, row);
      this.#first?.set(number, row);
    } else {
      for (const column of this.#columns) copyCell(column, first, column, row);
    }
    return 0;
  }
}
