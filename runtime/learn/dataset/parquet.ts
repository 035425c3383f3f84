import { closeSync, openSync, writeSync } from 'node:fs';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { writeColumnChunk, type ParquetValues } from './parquet-column.js';

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

export type { ParquetValues };

/** How many rows a row group should have. A row group is in memory until it is written. */
export const ROW_GROUP = 32_768;

const PHYSICAL = {
  number: 'DOUBLE',
  int: 'INT64',
  bool: 'BOOLEAN',
  time: 'INT64',
  text: 'BYTE_ARRAY',
} as const;

/**
 * Writes a Parquet file (Apache Parquet format 2), one row group at a time. This is the only place that writes Parquet.
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
      createdBy: 'millrace',
    });
  }

  get rows(): number {
    return this.#rows;
  }

  /**
   * Writes a row group; without rows it does nothing.
   * @param values by column: texts or numbers (a bool is 0 or 1), at least as many as rows
   */
  write(values: readonly ParquetValues[], rows: number): void {
    if (rows === 0) return;
    const start = this.#bytes.offset;
    const columns = this.#columns.map(({ name, type, nullable }, at) => {
      const offset = this.#bytes.offset;
      const chunk = writeColumnChunk(
        this.#bytes,
        { name, type: PHYSICAL[type], nullable },
        values[at] ?? [],
        rows,
      );
      return { meta_data: chunk, file_offset: BigInt(offset) };
    });
    this.#writer.row_groups.push({
      columns,
      total_byte_size: columns.reduce((sum, { meta_data: its }) => sum + its.total_uncompressed_size, 0n),
      num_rows: BigInt(rows),
      total_compressed_size: BigInt(this.#bytes.offset - start),
    });
    this.#writer.num_rows += BigInt(rows);
    this.#bytes.flush();
    this.#rows += rows;
  }

  /** Writes the footer, and closes the file. Without a footer it is not readable. */
  close(): void {
    // It writes synchronously, as `FileBytes` does.
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
  const element = { name, type: PHYSICAL[type], repetition_type } as const;
  if (type === 'text') return { ...element, converted_type: 'UTF8' };
  if (type !== 'time') return element;
  return {
    ...element,
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  };
}
