import type { Column } from '../../../ground/api/columns.js';
import type { CountsReader } from '../../../state/counters/counter-decoder.js';
import type { AllCounters } from './all-counters.js';
import type { CellRead } from './cell-read.js';

/** The cells of counters without an entity: every row has the same values. */
export class GlobalCounterCells implements CellRead {
  readonly count: number;
  readonly #decoder: CountsReader;
  readonly #columns: readonly Column[];
  readonly #all: AllCounters;
  readonly #now: number;

  constructor(
    decoder: CountsReader,
    columns: readonly Column[],
    count: number,
    all: AllCounters,
    now: number,
  ) {
    this.count = count;
    this.#decoder = decoder;
    this.#columns = columns;
    this.#all = all;
    this.#now = now;
  }

  hasId(): boolean {
    return true;
  }

  missing(): number {
    return 0; // without counted events there is no record
  }

  missingLayouts(): void {
    // The records of counters have no layouts.
  }

  begin(): void {
    this.#all.arrive();
    const { memory, start, end } = this.#all;
    this.#decoder.begin(memory, start, end, this.#now);
  }

  fill(row: number): number {
    const { memory, start, end } = this.#all;
    this.#decoder.decode(memory, start, end, this.#columns, row);
    return 0;
  }
}
