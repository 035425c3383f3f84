import {
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type AsyncBuffer,
  type FileMetaData,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { OpenFile } from '../../ground/core/stored-files.js';
import type { ColumnTypes } from './csv.js';
import { decimalScales, PARSERS, toRow, UnfitCell, type CellTypes } from './parquet-cells.js';
import { InputError, type BadRow, type InputRow, type RowChunk } from './rows.js';

/**
 * The number of rows that are decoded at a time. If a row group has more, its columns are read again for each part.
 */
const DECODED_ROWS = 50_000;
const ROWS_PER_CHUNK = 1000;

type Records = readonly Readonly<Record<string, unknown>>[];

/** A Parquet file whose footer was read. */
export interface ParquetInput {
  readonly columns: readonly string[];
  /** The fraction of the file that was converted to rows, 0 to 1. */
  done(): number;
  /** @param after rows up to this number are skipped */
  chunks(after: number): AsyncGenerator<RowChunk>;
}

/**
 * Reads the footer of a Parquet file (Apache Parquet format 2; any of its compressions). Its rows come in order, and
 * some ten thousand are decoded at a time.
 * @param handle closed when the rows are read, or if the file cannot be read
 * @param types of the columns that the project declares: a whole number becomes a string if a string is declared
 * @throws InputError if it is not a Parquet file, or is damaged
 */
export async function openParquet(handle: OpenFile, types: ColumnTypes): Promise<ParquetInput> {
  let metadata: FileMetaData;
  let cells: CellTypes;
  const file = new FileBytes(handle, (await handle.stat()).size);
  try {
    metadata = await parquetMetadataAsync(file, { parsers: PARSERS });
    checkCounts(metadata);
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

/** The file interface that hyparquet needs. */
class FileBytes implements AsyncBuffer {
  /**
   * The first error. It is kept instead of thrown, because hyparquet requests many parts at once and awaits them one
   * by one.
   */
  fault: unknown;

  constructor(
    readonly handle: OpenFile,
    readonly byteLength: number,
  ) {}

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    try {
      // A damaged footer may request any range.
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

/**
 * The footer states the number of rows in three places. hyparquet trusts the row groups and would invent rows that no
 * column has. A column of lists has one value per element, and one for an empty list.
 * @throws Error if the numbers differ
 */
function checkCounts(metadata: FileMetaData): void {
  const single = new Set(
    parquetSchema(metadata).children.flatMap(
      ({ element: { name, repetition_type: repetition }, children }) =>
        children.length === 0 && repetition !== 'REPEATED' ? [name] : [],
    ),
  );
  let total = 0n;
  for (const { num_rows: rows, columns } of metadata.row_groups) {
    total += rows;
    for (const { meta_data: column } of columns) {
      const [name = ''] = column?.path_in_schema ?? [];
      const values = BigInt(column?.num_values ?? 0);
      if (rows < 0 || values < rows || (single.has(name) && values !== rows))
        throw new Error(`a row group with ${rows} rows has ${values} values of ${name}`);
    }
  }
  if (total !== metadata.num_rows)
    throw new Error(`its row groups have ${total} rows, but its footer says ${metadata.num_rows}`);
}

/** Yields ranges of rows, starting after row `after`. No range crosses the border of a row group. */
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

/** Creates the error for an unreadable file. An internal error of the reader does not help, so the message omits it. */
function unreadable(error: unknown): InputError {
  const stumbled = error instanceof TypeError || error instanceof RangeError || !(error instanceof Error);
  const reason = stumbled ? '' : `: ${error.message}`;
  return new InputError(`not Parquet, or damaged${reason}`, { cause: error });
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
