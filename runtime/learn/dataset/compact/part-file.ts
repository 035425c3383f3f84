import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';
import type { RecordSchema } from '../../../state/ledger/record-schema.js';
import type { ParquetValues } from '../parquet-column.js';
import { ParquetFile, ROW_GROUP } from '../parquet.js';
import { columnsOf, type Table, type TableColumn } from './table-columns.js';

/** A file of a compacted ledger that is being written. It is invisible until it is published. */
export class PartFile {
  readonly path: string;
  readonly #work: string;
  readonly #columns: readonly TableColumn[];
  readonly #texts: (string | undefined)[][];
  readonly #numbers: Float64Array[];
  readonly #file: ParquetFile;
  #rows = 0;

  /**
   * @param path of the finished file
   * @param work of the file until then, in the same file system
   */
  constructor(path: string, work: string, table: Table, schema: RecordSchema) {
    this.path = path;
    this.#work = work;
    this.#columns = columnsOf(table, schema);
    this.#texts = this.#columns.map(() => []);
    this.#numbers = this.#columns.map(({ type }) => new Float64Array(type === 'text' ? 0 : 1024));
    mkdirSync(dirname(work), { recursive: true });
    this.#file = new ParquetFile(work, this.#columns);
  }

  /** The cells that are held in memory. */
  get held(): number {
    return this.#rows * this.#columns.length;
  }

  get rows(): number {
    return this.#file.rows + this.#rows;
  }

  add(record: DecodedRecord, rows: number): void {
    if (this.#rows + rows > ROW_GROUP) this.flush();
    for (const [index, column] of this.#columns.entries()) {
      const cell = column.read(record);
      if (column.type === 'text') {
        const texts = this.#texts[index];
        for (let row = 0; row < rows; row++) texts?.push(cell(row) as string | undefined);
      } else {
        const numbers = this.#room(index, this.#rows + rows);
        for (let row = 0; row < rows; row++) numbers[this.#rows + row] = Number(cell(row) ?? NaN);
      }
    }
    this.#rows += rows;
  }

  /** Writes what is held as a row group. */
  flush(): void {
    const values = this.#columns.map(({ type }, index): ParquetValues =>
      type === 'text' ? (this.#texts[index] ?? []) : (this.#numbers[index] ?? new Float64Array(0)),
    );
    this.#file.write(values, this.#rows);
    for (const texts of this.#texts) texts.length = 0;
    this.#rows = 0;
  }

  finish(): void {
    this.flush();
    this.#file.close();
  }

  /** Gives the finished file its name. */
  publish(): void {
    mkdirSync(dirname(this.path), { recursive: true });
    renameSync(this.#work, this.path);
  }

  abandon(): void {
    this.#file.abandon();
    rmSync(this.#work, { force: true });
  }

  #room(index: number, rows: number): Float64Array {
    const numbers = this.#numbers[index] ?? new Float64Array(0);
    if (numbers.length >= rows) return numbers;
    const grown = new Float64Array(Math.max(rows, 2 * numbers.length));
    grown.set(numbers);
    this.#numbers[index] = grown;
    return grown;
  }
}

/** The folder of a part: `candidates/day=2026-01-31/pipeline=search`. */
export function partFolder(
  table: Table,
  day: string,
  by: { readonly pipeline: string } | { readonly view: string } | undefined,
): string {
  const [[key, value] = []] = Object.entries(by ?? {});
  return join(table, `day=${day}`, ...(key === undefined ? [] : [`${key}=${value ?? ''}`]));
}
