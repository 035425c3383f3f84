import type { Column, ColumnOf } from '../../../ground/api/columns.js';
import { Status } from '../../../ground/api/status.js';
import { copyCell, RepeatedLists, writeList } from '../../../language/frame/cells.js';
import { NO_ID, NOT_HERE } from '../../resident/entity-table.js';
import { LeasedCounters } from '../../resident/leased-counters.js';
import type { PartBinding } from '../../resident/resident-tables.js';
import { writeHeldList, writeHeldTexts, type HeldTexts } from '../../resident/row-columns.js';
import type { BatchRead } from './batch-read.js';
import { MANY_ELEMENTS, MANY_ROWS, type CellRead, type LayoutDecoder } from './cell-read.js';
import type { ResidentSession } from './resident-session.js';

/** Code of the first miss; the next ones count down. */
const FIRST_MISS = -3;

const NO_REPEATS = new Uint8Array(0);

/** A column of lists of numbers, and its values by row for the rows that were hits. */
interface HeldNumbers {
  readonly column: ColumnOf<'numbers'>;
  readonly partColumn: number;
  readonly held: readonly (Float64Array | undefined)[];
  readonly status: Uint8Array;
}

/** The same for a column of lists of texts. */
interface TextCells {
  readonly column: ColumnOf<'texts'>;
  readonly partColumn: number;
  readonly held: HeldTexts;
  readonly status: Uint8Array;
}

/**
 * Cells that are partly in a resident table. Hits are copied before the round trip, while the row numbers of the table
 * are valid. Misses are read from the store, and written to the table and to the request.
 */
export class ResidentRead implements CellRead {
  readonly count: number;
  readonly #binding: PartBinding;
  readonly #columns: readonly Column[];
  readonly #batch: BatchRead;
  readonly #session: ResidentSession;
  readonly #now: number;
  /** By row: the row of the table, NO_ID, or FIRST_MISS - m for miss m. */
  readonly #from: Int32Array;
  /** Ids by miss. */
  readonly #missing: string[] = [];
  readonly #numbers: number[] = [];
  readonly #texts: TextCells[] = [];
  readonly #numberLists: HeldNumbers[] = [];
  /** By row: whether an earlier row has the same record. Only list columns need it. */
  #repeats = NO_REPEATS;
  #repeated: RepeatedLists | undefined;
  #scratch: readonly Column[] = [];
  /** Hits that are known to be missing from the store. */
  #knownMissing = 0;
  #hasAllIds = true;

  /**
   * @param rows the result of `EntityTable.rowsOf` in the same turn of the event loop
   * @param distinct whether no two rows share an id, and no other read of the plan reads the same keys
   */
  constructor(
    binding: PartBinding,
    columns: readonly Column[],
    ids: readonly string[],
    rows: Int32Array,
    distinct: boolean,
    batch: BatchRead,
    session: ResidentSession,
    now: number,
  ) {
    this.count = rows.length;
    this.#binding = binding;
    this.#columns = columns;
    this.#batch = batch;
    this.#session = session;
    this.#now = now;
    this.#from = this.#sort(ids, rows, distinct);
    this.#takeHits(distinct);
  }

  /** Separates hits from misses, and adds the misses to the round trip. */
  #sort(ids: readonly string[], rows: Int32Array, distinct: boolean): Int32Array {
    const { table, part } = this.#binding;
    const { validUntil } = part;
    const from = new Int32Array(rows.length);
    const missOf = distinct ? undefined : new Map<number, number>();
    let hits = 0;
    let misses = 0;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      if (row === NO_ID) {
        from[i] = NO_ID;
        this.#hasAllIds = false;
      } else if (row !== NOT_HERE && (validUntil[row] as number) >= this.#now) {
        from[i] = row;
        hits++;
      } else {
        from[i] = FIRST_MISS - this.#ask(ids[i] as string, missOf);
        misses++;
      }
    }
    table.touch(from);
    table.counts.hits += hits;
    table.counts.misses += misses;
    return from;
  }

  #ask(id: string, missOf: Map<number, number> | undefined): number {
    const key = this.#binding.part.keyPrefix + id;
    const number = missOf === undefined ? this.#batch.askDistinct(key) : this.#batch.ask(key);
    const known = missOf?.get(number);
    if (known !== undefined) return known;
    const miss = this.#missing.length;
    this.#missing.push(id);
    this.#numbers.push(number);
    missOf?.set(number, miss);
    return miss;
  }

  #takeHits(distinct: boolean): void {
    const { part, columns: partColumns } = this.#binding;
    part.columns.tidy();
    const odd = part.columns.gather(this.#from, partColumns, this.#columns);
    this.#knownMissing = this.#countMissing(odd);
    for (let c = 0; c < this.#columns.length; c++) {
      const column = this.#columns[c] as Column;
      if (column.kind === 'texts' || column.kind === 'numbers')
        this.#takeLists(column, partColumns[c] as number);
    }
    if (!distinct && this.#texts.length + this.#numberLists.length > 0) this.#repeats = repeatsIn(this.#from);
  }

  #takeLists(column: ColumnOf<'texts' | 'numbers'>, partColumn: number): void {
    const { columns } = this.#binding.part;
    const from = this.#from;
    const status = new Uint8Array(from.length);
    for (let i = 0; i < from.length; i++) {
      const row = from[i] as number;
      if (row >= 0) status[i] = columns.status(partColumn, row);
    }
    if (column.kind === 'texts')
      this.#texts.push({ column, partColumn, held: columns.takeTexts(partColumn, from, column), status });
    else {
      const held = Array.from(from, (row) => (row < 0 ? undefined : columns.numbers(partColumn, row)));
      this.#numberLists.push({ column, partColumn, held, status });
    }
  }

  hasId(row: number): boolean {
    return this.#from[row] !== NO_ID;
  }

  /**
   * Counts the hits whose record is missing from the store: all cells of such a row have the status `missing_entity`.
   * @param odd the rows with cells that are not present
   */
  #countMissing(odd: readonly number[]): number {
    const { part, columns } = this.#binding;
    const [column] = columns;
    if (column === undefined) return 0;
    let count = 0;
    for (const i of odd) {
      const row = this.#from[i] as number;
      if (row >= 0 && part.columns.status(column, row) === Status.missing_entity) count++;
    }
    return count;
  }

  missing(): number {
    const { memory } = this.#batch.records;
    let count = this.#knownMissing;
    if (this.#missing.length === 0) return count;
    for (const row of this.#from)
      if (row <= FIRST_MISS && memory[this.#numbers[FIRST_MISS - row] as number] === null) count++;
    return count;
  }

  missingLayouts(into: Set<string>): void {
    const decoder = this.#binding.part.decoder as LayoutDecoder;
    const { memory, starts, ends } = this.#batch.records;
    for (const number of this.#numbers) {
      const record = memory[number] ?? null;
      if (record !== null)
        decoder.missingLayouts(record, starts[number] as number, ends[number] as number, into);
    }
  }

  begin(): void {
    const misses = this.#missing.length;
    if (misses === 0) return;
    const { table, part, columns: partColumns } = this.#binding;
    const isLeased = part.decoder instanceof LeasedCounters;
    // If the rows are filled in several turns, other requests use the scratch columns of the part meanwhile.
    const isLong = this.count > MANY_ROWS || this.#repeats.includes(1);
    const scratch = isLong ? part.columns.scratch(misses) : part.scratch(misses);
    this.#scratch = scratch;
    const { memory, starts, ends } = this.#batch.records;
    for (let miss = 0; miss < misses; miss++) {
      const id = this.#missing[miss] as string;
      // Counters that other requests kept meanwhile may be older than what this one read. The next request sees what is kept,
      // and counts must not decrease, so this one sees the same.
      if (isLeased && table.copyValid(part, id, this.#now, scratch, miss)) continue;
      const number = this.#numbers[miss] as number;
      const record = memory[number] as Buffer | null;
      const [start, end] = [starts[number] as number, ends[number] as number];
      const validUntil = part.decoder.decode(record, start, end, scratch, miss, this.#now);
      if (validUntil !== -Infinity && this.#session.mayKeep(part.keyPrefix, id))
        table.put(part, id, scratch, miss, validUntil);
    }
    for (let c = 0; c < this.#columns.length; c++)
      this.#spread(scratch[partColumns[c] as number] as Column, this.#columns[c] as Column);
    this.#session.filled();
  }

  /** Copies decoded cells to the rows of their misses; `fill` copies lists. */
  #spread(from: Column, to: Column): void {
    const rows = this.#from;
    if (from.kind === 'number' && to.kind === 'number') {
      for (let i = 0; i < rows.length; i++) {
        const miss = FIRST_MISS - (rows[i] as number);
        if (miss < 0) continue;
        to.values[i] = from.values[miss] as number;
        to.status[i] = from.status[miss] as number;
      }
    } else if (to.kind === 'text' || to.kind === 'vector') {
      for (let i = 0; i < rows.length; i++) {
        const miss = FIRST_MISS - (rows[i] as number);
        if (miss >= 0) copyCell(from, miss, to, i);
      }
    }
  }

  fillRows(from: number): number {
    if (!this.#hasAllIds) return -1;
    if (this.#texts.length + this.#numberLists.length === 0) return this.count;
    if (this.#missing.length > 0 || this.#repeats.includes(1)) return -1;
    let end = from;
    for (let elements = 0; end < this.count && elements <= MANY_ELEMENTS; end++) {
      for (const { held } of this.#texts) elements += held.lengths[end] as number;
      for (const { held } of this.#numberLists) elements += (held[end] as Float64Array).length;
    }
    for (const { column, held, status } of this.#texts) {
      if (from === 0) column.status.set(status);
      writeHeldTexts(column, held, from, end);
    }
    for (const { column, held, status } of this.#numberLists)
      for (let row = from; row < end; row++)
        writeList(column, row, held[row] as Float64Array, status[row] as number);
    return end;
  }

  fill(row: number): number {
    const from = this.#from[row] as number;
    let elements = 0;
    const filled = (column: ColumnOf<'texts' | 'numbers'>, partColumn: number): void => {
      if (from <= FIRST_MISS) copyCell(this.#scratch[partColumn] as Column, FIRST_MISS - from, column, row);
      if (this.#repeats[row] === 1) elements += (this.#repeated ??= new RepeatedLists()).add(column, row);
    };
    for (const { column, partColumn, held, status } of this.#texts) {
      if (from >= 0) {
        column.status[row] = status[row] as number;
        writeHeldList(column, row, held);
      }
      filled(column, partColumn);
    }
    for (const { column, partColumn, held, status } of this.#numberLists) {
      if (from >= 0) writeList(column, row, held[row] as Float64Array, status[row] as number);
      filled(column, partColumn);
    }
    return elements;
  }
}

/** By position: 1 if an earlier one has the same number. */
function repeatsIn(numbers: Int32Array): Uint8Array<ArrayBuffer> {
  const met = new Set<number>();
  return Uint8Array.from(numbers, (number) => {
    if (met.has(number)) return 1;
    met.add(number);
    return 0;
  });
}
