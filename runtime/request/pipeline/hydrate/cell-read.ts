import type { Column } from '../../../ground/api/columns.js';
import { copyCell, RepeatedLists } from '../../../language/frame/cells.js';
import type { RecordDecoder } from '../../resident/table-part.js';
import type { BatchRead } from './batch-read.js';

/** To read so many rows, or to copy so many elements of lists, takes some milliseconds. What follows waits for the next turn. */
export const MANY_ROWS = 2048;
export const MANY_ELEMENTS = 1 << 16;

/** Decodes records of one kind, and reports unknown layouts. */
export interface LayoutDecoder extends RecordDecoder {
  missingLayouts(record: Buffer, start: number, end: number, into: Set<string>): void;
}

/**
 * The cells of one hydration node or feature read in one request. It is created before the round trip and adds its keys
 * to the round trip. Afterwards, it fills columns.
 */
export interface CellRead {
  /** Rows of the node; elements for a node of lists. */
  readonly count: number;
  /** False if there is no id, so nothing was read; the caller fills such a row. */
  hasId(row: number): boolean;
  /** Counts the ids that have no record in the store. Call it after the round trip. */
  missing(): number;
  /** Adds the layouts of the read records that this process does not know yet. */
  missingLayouts(into: Set<string>): void;
  /**
   * Call once after the round trip. Between this call and the last `fill`, the caller may wait for another turn only after
   * MANY_ROWS rows of entities, or after MANY_ELEMENTS.
   */
  begin(): void;
  /**
   * After `begin`, instead of `fill` for each row: fills rows from `from` on, about as many as one turn allows.
   * @returns the row to go on with; -1 if the rows must be filled one by one
   */
  fillRows?(from: number): number;
  /**
   * Fills a row that has an id. Rows must be filled in ascending order.
   * @param isFinal whether nothing else will be written to the row
   * @returns the number of elements of lists that it repeats
   */
  fill(row: number, isFinal: boolean): number;
}

/** Cells that are read from the store only. */
export class DirectRead implements CellRead {
  readonly count: number;
  readonly #decoder: LayoutDecoder;
  readonly #columns: readonly Column[];
  /** By row: number of its record; -1 if it has no id. */
  readonly #numbers: Int32Array;
  readonly #batch: BatchRead;
  readonly #now: number;
  /** By record: the row that it was decoded into first; undefined if no two rows share a record. */
  readonly #first: Map<number, number> | undefined;
  readonly #repeated = new RepeatedLists();

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
    // `fill` decodes each row.
  }

  fill(row: number, isFinal: boolean): number {
    const number = this.#numbers[row] ?? -1;
    const first = this.#first?.get(number);
    if (first === undefined) {
      const { memory, starts, ends } = this.#batch.records;
      const record = memory[number] as Buffer | null;
      const [start, end] = [starts[number] as number, ends[number] as number];
      this.#decoder.decode(record, start, end, this.#columns, row, this.#now);
      if (isFinal) this.#first?.set(number, row);
      return 0;
    }
    let elements = 0;
    for (const column of this.#columns) {
      copyCell(column, first, column, row);
      elements += this.#repeated.add(column, row);
    }
    return elements;
  }
}
