import type { FileHandle } from 'node:fs/promises';
import {
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type AsyncBuffer,
  type FileMetaData,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { ColumnTypes } from './csv.js';
import { decimalScales, PARSERS, toRow, UnfitCell, type CellTypes } from './parquet-cells.js';
import { InputError, type BadRow, type InputRow, type RowChunk } from './rows.js';

/** Rows that are decoded at a time; where a row group has more, its columns are read again for each lot of them. */
const DECODED_ROWS = 50_000;
const ROWS_PER_CHUNK = 1000;

type Records = readonly Readonly<Record<string, unknown>>[];

/** A Parquet file, its footer read. */
export interface ParquetInput {
  readonly columns: readonly string[];
  /** How much of the file has been turned into rows, as a share of 1. */
  done(): number;
  /** @param after rows up to this number are left out */
  chunks(after: number): AsyncGenerator<RowChunk>;
}

/**
 * Reads the footer of a Parquet file (Apache Parquet format 2; any of its compressions). Its rows come in order, some ten
 * thousand decoded at a time.
 * @param handle closed when the rows are read, or if it cannot be read
 * @param types of the columns that the project declares: whole numbers become texts where a text is declared
 * @throws InputError if it is no Parquet file, or damaged
 */
export async function openParquet(handle: FileHandle, types: ColumnTypes): Promise<ParquetInput> {
  let metadata: FileMetaData;
  let cells: CellTypes;
  const file = new FileBytes(handle, (await handle.stat()).size);
  try {
    metadata = await parquetMetadataAsync(file, { parsers: PARSERS });
    cells = { declared: types, scales: decimalScales(parquetSchema(metadata)) };
  } catch (error) {
    await handle.close();
    throw unreadable(file.fault ?? error);
  }
  const total = Number(metadata.num_rows);
  let read = 0;
  return {
    columns: parquetSchema(metadata).children.map(({ element }) => element.name),
    done: () => (total === 0 ? 1 : read / total),
    async *chunks(after) {
      try {
        for (const [start, end] of lotsOf(metadata, after)) {
          const decoded = await decode(file, metadata, start, end);
          for (let from = 0; from < decoded.length; from += ROWS_PER_CHUNK) {
            const records = decoded.slice(from, from + ROWS_PER_CHUNK);
            read = start + from + records.length;
            yield toChunk(records, start + from, cells);
          }
        }
      } finally {
        await handle.close();
      }
    },
  };
}

/** A file as hyparquet reads it. */
class FileBytes implements AsyncBuffer {
  /** What first went wrong. It is kept, and not thrown: hyparquet asks for many parts at once and awaits them in turn. */
  fault: unknown;

  constructor(
    readonly handle: FileHandle,
    readonly byteLength: number,
  ) {}

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    try {
      // A damaged footer may ask for anything.
      if (start < 0 || end < start || end > this.byteLength)
        throw new Error(`bytes ${String(start)} to ${String(end)} of a file of ${String(this.byteLength)}`);
      const bytes = new ArrayBuffer(end - start);
      const { bytesRead } = await this.handle.read(new Uint8Array(bytes), 0, bytes.byteLength, start);
      if (bytesRead < bytes.byteLength) throw new Error('the file became shorter while it was read');
      return bytes;
    } catch (error) {
      this.fault ??= error;
      return new ArrayBuffer(0);
    }
  }
}

/** Ranges of rows, none across two row groups, from the first row after `after`. */
function* lotsOf(metadata: FileMetaData, after: number): Generator<readonly [start: number, end: number]> {
  let first = 0;
  for (const { num_rows: count } of metadata.row_groups) {
    const end = first + Number(count);
    for (let start = Math.max(first, after); start < end; start += DECODED_ROWS)
      yield [start, Math.min(end, start + DECODED_ROWS)];
    first = end;
  }
}

async function decode(
  file: FileBytes,
  metadata: FileMetaData,
  rowStart: number,
  rowEnd: number,
): Promise<Records> {
  const part = { rowStart, rowEnd, useOffsetIndex: true };
  try {
    const records = await parquetReadObjects({ file, metadata, compressors, parsers: PARSERS, ...part });
    if (file.fault === undefined) return records;
  } catch (error) {
    throw unreadable(file.fault ?? error);
  }
  throw unreadable(file.fault);
}

function unreadable(error: unknown): InputError {
  const reason = error instanceof Error ? error.message : String(error);
  return new InputError(`not Parquet, or damaged: ${reason}`, { cause: error });
}

function toChunk(records: Records, before: number, cells: CellTypes): RowChunk {
  const rows: InputRow[] = [];
  const bad: BadRow[] = [];
  for (const [i, record] of records.entries()) {
    const line = before + i + 1;
    try {
      rows.push(toRow(record, line, cells));
    } catch (error) {
      if (!(error instanceof UnfitCell)) throw error;
      bad.push({ line, problem: error.message });
    }
  }
  return { rows, bad };
}
