import { closeSync, openSync, writeSync } from 'node:fs';
import { ByteWriter, ParquetWriter, type ColumnSource, type SchemaElement } from 'hyparquet-writer';

/**
 * `number` is DOUBLE, `int` INT64, `bool` BOOLEAN, `time` a timestamp of epoch milliseconds in UTC, `text` a string in
 * UTF-8.
 */
export type ParquetType = 'number' | 'int' | 'bool' | 'time' | 'text';

export interface ParquetColumn {
  readonly name: string;
  readonly type: ParquetType;
  /** In a nullable column NaN and undefined are null. */
  readonly nullable: boolean;
}

/** The values of a column: texts, or numbers (a bool is 0 or 1). There may be more of them than rows. */
export type ParquetValues = readonly (string | undefined)[] | Float64Array | Int32Array | Uint8Array;

/** How many rows a row group should have. A row group is in memory until it is written. */
export const ROW_GROUP = 32_768;

/**
 * Writes a Parquet file (Apache Parquet format 2, Snappy), one row group at a time. This is the only place that writes
 * Parquet.
 */
export class ParquetFile {
  readonly #columns: readonly ParquetColumn[];
  readonly #bytes: FileBytes;
  readonly #writer: ParquetWriter;
  #rows = 0;

  /** Creates the file, or replaces it. */
  constructor(path: string, columns: readonly ParquetColumn[]) {
    this.#columns = columns;
    this.#bytes = new FileBytes(path);
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: 'root', num_children: columns.length }, ...columns.map(elementOf)],
      statistics: false,
      createdBy: 'millrace',
    });
  }

  get rows(): number {
    return this.#rows;
  }

  /**
   * Writes a row group; without rows it does nothing.
   * @param values by column
   */
  write(values: readonly ParquetValues[], rows: number): void {
    if (rows === 0) return;
    const columnData = this.#columns.map((column, at) => sourceOf(column, values[at] ?? [], rows));
    const written = this.#writer.write({ columnData, rowGroupSize: rows });
    // The bytes are written synchronously.
    if (written !== undefined) throw new Error('the row group is not written');
    this.#bytes.flush();
    this.#rows += rows;
  }

  /** Writes the footer. Without it the file is not readable. */
  close(): void {
    // The writer's `finish` also closes the file.
    void this.#writer.finish();
  }

  /** Closes the file as it is, after an error. */
  abandon(): void {
    this.#bytes.close();
  }
}

/** The bytes that are not yet in the file. */
class FileBytes extends ByteWriter {
  #file: number | undefined;

  constructor(path: string) {
    super(1 << 20);
    this.#file = openSync(path, 'w');
  }

  flush(): void {
    const bytes = new Uint8Array(this.buffer, 0, this.index);
    for (let at = 0; at < bytes.length && this.#file !== undefined;)
      at += writeSync(this.#file, bytes, at, bytes.length - at);
    this.index = 0;
  }

  override finish(): void {
    this.flush();
    this.close();
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

function elementOf({ name, type, nullable }: ParquetColumn): SchemaElement {
  const repetition_type = nullable ? 'OPTIONAL' : 'REQUIRED';
  switch (type) {
    case 'number':
      return { name, type: 'DOUBLE', repetition_type };
    case 'int':
      return { name, type: 'INT64', repetition_type };
    case 'bool':
      return { name, type: 'BOOLEAN', repetition_type };
    case 'time':
      return {
        name,
        type: 'INT64',
        converted_type: 'TIMESTAMP_MILLIS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
        repetition_type,
      };
    case 'text':
      return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type };
  }
}

function sourceOf(
  { name, type, nullable }: ParquetColumn,
  values: ParquetValues,
  rows: number,
): ColumnSource {
  // Statistics let a reader skip row groups by time.
  const statistics = type === 'time';
  if (type === 'number' && values instanceof Float64Array) {
    const cells = values.length === rows ? values : values.subarray(0, rows);
    if (!nullable || !cells.some(Number.isNaN)) return { name, data: cells, statistics };
  }
  const data = new Array<string | number | boolean | bigint | Date | null>(rows);
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value === undefined || Number.isNaN(value)) {
      if (!nullable) throw new Error(`${name} has no value in row ${row}, and is not nullable`);
      data[row] = null;
    } else data[row] = cellOf(type, value);
  }
  return { name, data, statistics };
}

function cellOf(type: ParquetType, value: string | number): string | number | boolean | bigint | Date {
  switch (type) {
    case 'bool':
      return value !== 0;
    case 'int':
      return BigInt(value);
    case 'time':
      return new Date(Number(value));
    default:
      return value;
  }
}
