import type { Column } from '../api/columns.js';
import type { ColumnShape } from '../frame/frame-layout.js';
import { RowColumns } from './row-columns.js';

/** Reads the records of one kind of key into columns. */
export interface RecordDecoder {
  /**
   * Writes one row.
   * @param record the memory that the record lies in, from `start` to `end`; null where the store has none
   * @param now epoch milliseconds
   * @returns until when the row stays as it is, epoch milliseconds; -Infinity where it is not to be kept
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

/** What is to be kept of the records of one kind of key. */
export interface PartWants {
  /** `entity`, or the key group of feature views. */
  readonly group: string;
  /** Start of the store keys; the id follows. */
  readonly keyPrefix: string;
  readonly shapes: readonly ColumnShape[];
  /** By column: all that decides what is decoded into it, as text. */
  readonly definitions: readonly string[];
  readonly decoder: RecordDecoder;
}

/** Columns that have been the scratch of many rows are made anew for the next. */
const KEPT_SCRATCH = 4096;

/**
 * The part of a table that one kind of store key fills: an entity's attributes, or its feature views of one group. A
 * row of it stands for one record, and is there whole or not at all; also for a key without a record.
 */
export class TablePart {
  readonly group: string;
  readonly keyPrefix: string;
  readonly decoder: RecordDecoder;
  readonly definitions: readonly string[];
  readonly columns: RowColumns;
  /** By row: until when it may be served, epoch milliseconds; -Infinity where it is not there. */
  validUntil = new Float64Array(0);
  #textBytes = new Uint32Array(0);
  #scratch: readonly Column[] = [];
  #scratchRows = 0;

  constructor({ group, keyPrefix, shapes, definitions, decoder }: PartWants) {
    this.group = group;
    this.keyPrefix = keyPrefix;
    this.decoder = decoder;
    this.definitions = definitions;
    this.columns = new RowColumns(shapes);
  }

  get rowBytes(): number {
    return this.columns.rowBytes + 12;
  }

  /** Scratch columns for a request's misses; the next caller gets the same. */
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
    const textBytes = new Uint32Array(rows);
    textBytes.set(this.#textBytes);
    this.#textBytes = textBytes;
    this.columns.grow(rows);
  }

  reset(): void {
    this.validUntil = new Float64Array(0);
    this.#textBytes = new Uint32Array(0);
    this.columns.reset();
  }

  has(row: number): boolean {
    return this.validUntil[row] !== -Infinity;
  }

  /** Replaces a row; returns by how many bytes its texts have grown. */
  put(row: number, from: readonly Column[], fromRow: number, validUntil: number): number {
    const bytes = this.columns.put(row, from, fromRow);
    const grown = bytes - (this.#textBytes[row] ?? 0);
    this.#textBytes[row] = bytes;
    this.validUntil[row] = validUntil;
    return grown;
  }

  /** Drops a row that is there; returns the bytes of its texts. */
  drop(row: number): number {
    const bytes = this.#textBytes[row] ?? 0;
    this.validUntil[row] = -Infinity;
    this.#textBytes[row] = 0;
    if (bytes > 0) this.columns.clear(row);
    return bytes;
  }
}
