import type { Column } from '../../api/columns.js';
import { copyCell } from '../../frame/cells.js';
import type { RecordDecoder } from '../../resident/table-part.js';
import type { BatchRead } from './batch-read.js';

/** Reads records of one kind, and knows which layouts it has not met. */
export interface LayoutDecoder extends RecordDecoder {
  missingLayouts(record: Buffer, start: number, end: number, into: Set<string>): void;
}

/**
 * The cells of one hydration node or feature read in one request: made before the round trip, which it asks for what it
 * needs, and poured into columns after it.
 */
export interface CellRead {
  /** Rows of the node; elements, for a node of lists. */
  readonly count: number;
  /** False where there is no id, so that nothing was read; such a row is the caller's to fill. */
  hasId(row: number): boolean;
  /** How many of its ids the store has no record of. Call after the round trip. */
  missing(): number;
  /** Adds the layouts of read records that this process does not know yet. */
  missingLayouts(into: Set<string>): void;
  /** Call once after the round trip; from then until the last `fill` there must be no await. */
  begin(): void;
  /**
   * Fills a row that has an id. Rows come in ascending order.
   * @param isFinal whether nothing else will be written to the row
   */
  fill(row: number, isFinal: boolean): void;
}

/** Cells that come from the store alone. */
export class DirectRead implements CellRead {
  readonly count: number;
  readonly #decoder: LayoutDecoder;
  readonly #columns: readonly Column[];
  /** By row: number of its record, -1 where there is no id. */
  readonly #numbers: Int32Array;
  readonly #batch: BatchRead;
  readonly #now: number;
  /** Where each record was decoded first; undefined where no two rows share one. */
  readonly #first: Map<number, number> | undefined;

  constructor(
    decoder: LayoutDecoder,
    columns: readonly Column[],
    numbers: Int32Array,
    distinct: boolean,
    batch: BatchRead,
    now: number,
  ) {
    this.count = numbers.length;
    this.#decoder = decoder;
    this.#columns = columns;
    this.#numbers = numbers;
    this.#batch = batch;
    this.#now = now;
    this.#first = distinct ? undefined : new Map();
  }

  hasId(row: number): boolean {
    return (this.#numbers[row] ?? -1) >= 0;
  }

  missing(): number {
    const { memory } = this.#batch.records;
    let count = 0;
    for (const number of this.#numbers) if (number >= 0 && memory[number] === null) count++;
    return count;
  }

  missingLayouts(into: Set<string>): void {
    const { memory, starts, ends } = this.#batch.records;
    for (const number of this.#numbers) {
      const record = number < 0 ? null : (memory[number] as Buffer | null);
      if (record !== null)
        this.#decoder.missingLayouts(record, starts[number] as number, ends[number] as number, into);
    }
  }

  begin(): void {
    // Every row is decoded as it comes.
  }

  fill(row: number, isFinal: boolean): void {
    const number = this.#numbers[row] ?? -1;
    const first = this.#first?.get(number);
    if (first === undefined) {
      const { memory, starts, ends } = this.#batch.records;
      const record = memory[number] as Buffer | null;
      const [start, end] = [starts[number] as number, ends[number] as number];
      this.#decoder.decode(record, start, end, this.#columns, row, this.#now);
      if (isFinal) this.#first?.set(number, row);
    } else {
      for (const column of this.#columns) copyCell(column, first, column, row);
    }
  }
}
