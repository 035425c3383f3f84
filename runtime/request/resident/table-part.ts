import type { Column } from '../../ground/api/columns.js';
import type { ColumnShape } from '../../language/frame/frame-layout.js';
import { RowColumns } from './row-columns.js';
import type { Room } from './text-codes.js';

/** Decodes the records of one kind of key into columns. */
export interface RecordDecoder {
  /**
   * Writes one row.
   * @param record the memory that holds the record, from `start` to `end`; null if the store has none
   * @param now epoch milliseconds
   * @returns until when the row stays valid, epoch milliseconds; -Infinity if it must not be kept
   */
  decode(
    record: Buffer | null,
    start: number,
    end: number,
    columns: readonly Column[],
    row: number,
    now: number,
  ): number;
}

/** The columns to cache from the records of one kind of key. */
export interface PartWants {
  /** `entity`, or the key group of feature views. */
  readonly group: string;
  /** Prefix of the store keys; the id follows. */
  readonly keyPrefix: string;
  readonly shapes: readonly ColumnShape[];
  /** By column: everything that determines its decoded value, as text. */
  readonly definitions: readonly string[];
  readonly decoder: RecordDecoder;
}

/** Larger scratch columns are replaced before the next use. */
const KEPT_SCRATCH = 4096;

/**
 * The part of a table that one kind of store key fills: an entity's attributes, or its feature views of one group. A
 * row holds one record as a whole or not at all. Missing records are cached as well.
 */
export class TablePart {
  readonly group: string;
  readonly keyPrefix: string;
  readonly decoder: RecordDecoder;
  readonly definitions: readonly string[];
  readonly columns: RowColumns;
  /** By row: until when it may be served, epoch milliseconds; -Infinity if the part does not hold the row. */
  validUntil = new Float64Array(0);
  #scratch: readonly Column[] = [];
  #scratchRows = 0;

  constructor({ group, keyPrefix, shapes, definitions, decoder }: PartWants, room: Room) {
    this.group = group;
    this.keyPrefix = keyPrefix;
    this.decoder = decoder;
    this.definitions = definitions;
    this.columns = new RowColumns(shapes, room);
  }

  get rowBytes(): number {
    return this.columns.rowBytes + 8;
  }

  /** Scratch columns for the misses of a request; the next call returns the same columns. */
  scratch(rows: number): readonly Column[] {
    if (rows > this.#scratchRows || this.#scratchRows > KEPT_SCRATCH) {
      this.#scratchRows = Math.max(32, rows);
      this.#scratch = this.columns.scratch(this.#scratchRows);
    }
    return this.#scratch;
  }

  grow(rows: number): void {
    const validUntil = new Float64Array(rows).fill(-Infinity);
    validUntil.set(this.validUntil);
    this.validUntil = validUntil;
    this.columns.grow(rows);
  }

  reset(): void {
    this.validUntil = new Float64Array(0);
    this.columns.reset();
  }

  has(row: number): boolean {
    return this.validUntil[row] !== -Infinity;
  }

  /** Replaces a row. */
  put(row: number, from: readonly Column[], fromRow: number, validUntil: number): void {
    this.columns.put(row, from, fromRow);
    this.validUntil[row] = validUntil;
  }

  /** Drops a row. */
  drop(row: number): void {
    this.validUntil[row] = -Infinity;
    this.columns.clear(row);
  }
}
