import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { parquetMetadataAsync, parquetReadObjects, type AsyncBuffer, type FileMetaData } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { JsonValue, ValueType } from '../../api/types.js';
import type { ColumnTypes } from './csv.js';
import { InputError, type BadRow, type InputRow, type RowChunk } from './rows.js';

/** Rows that are decoded at a time; a row group's columns are read again for each lot of them. */
const DECODED_ROWS = 50_000;
const ROWS_PER_CHUNK = 1000;

/** What a cell is not allowed to be; the row is refused with it. */
class UnfitCell extends Error {}

const NOT_TEXT = Symbol('bytes that are no UTF-8');

/** Times as epoch milliseconds, as everywhere in Millrace; finer parts are cut off. */
const PARSERS = {
  timestampFromMilliseconds: (time: bigint): number => Number(time),
  timestampFromMicroseconds: (time: bigint): number => Math.floor(Number(time) / 1e3),
  timestampFromNanoseconds: (time: bigint): number => Number(time / 1_000_000n),
  dateFromDays: (days: number): number => days * 86_400_000,
  stringFromBytes: (bytes: Uint8Array | undefined): string | typeof NOT_TEXT | undefined => {
    if (bytes === undefined) return undefined;
    return isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : NOT_TEXT;
  },
};

/** A Parquet file, its footer read. */
export interface ParquetInput {
  /** How much of the file has been turned into rows, as a share of 1. */
  done(): number;
  /** @param after rows up to this number are left out */
  chunks(after: number): AsyncGenerator<RowChunk>;
}

/**
 * Reads the footer of a Parquet file (Apache Parquet format 2; any of its compressions). Its rows come in order, some ten thousand
 * decoded at a time. An empty cell, and a NaN, means that the attribute is absent.
 * @param handle closed when the rows are read, or if it cannot be read
 * @param types of the columns that the project declares: whole numbers become texts where a text is declared
 * @throws InputError if it is no Parquet file, or damaged
 */
export async function openParquet(handle: FileHandle, types: ColumnTypes): Promise<ParquetInput> {
  let metadata: FileMetaData;
  const file = await bufferOf(handle);
  try {
    metadata = await parquetMetadataAsync(file, { parsers: PARSERS });
  } catch (error) {
    await handle.close();
    throw unreadable(error);
  }
  const total = Number(metadata.num_rows);
  let read = 0;
  return {
    done: () => (total === 0 ? 1 : read / total),
    async *chunks(after) {
      try {
        for (const [start, end] of lotsOf(metadata, after)) {
          const decoded = await decode(file, metadata, start, end);
          for (let from = 0; from < decoded.length; from += ROWS_PER_CHUNK) {
            const records = decoded.slice(from, from + ROWS_PER_CHUNK);
            read = start + from + records.length;
            yield toChunk(records, start + from, types);
          }
        }
      } finally {
        await handle.close();
      }
    },
  };
}

async function bufferOf(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat();
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = Buffer.alloc(Math.max(0, end - start));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytesRead);
    },
  };
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
  file: AsyncBuffer,
  metadata: FileMetaData,
  rowStart: number,
  rowEnd: number,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  try {
    return await parquetReadObjects({ file, metadata, compressors, parsers: PARSERS, rowStart, rowEnd });
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): InputError {
  const reason = error instanceof Error ? error.message : String(error);
  return new InputError(`not Parquet, or damaged: ${reason}`, { cause: error });
}

function toChunk(
  records: readonly Readonly<Record<string, unknown>>[],
  before: number,
  types: ColumnTypes,
): RowChunk {
  const rows: InputRow[] = [];
  const bad: BadRow[] = [];
  for (const [i, record] of records.entries()) {
    const line = before + i + 1;
    try {
      rows.push(toRow(record, line, types));
    } catch (error) {
      if (!(error instanceof UnfitCell)) throw error;
      bad.push({ line, problem: error.message });
    }
  }
  return { rows, bad };
}

function toRow(record: Readonly<Record<string, unknown>>, line: number, types: ColumnTypes): InputRow {
  const fields: [string, JsonValue][] = [];
  let bytes = 0;
  for (const [name, cell] of Object.entries(record)) {
    const value = toJson(cell, name, types.get(name));
    if (value === undefined) continue;
    fields.push([name, value]);
    bytes += name.length + 6 + sizeOf(value);
  }
  return { line, value: Object.fromEntries(fields), bytes };
}

/** A cell as JSON; undefined where it holds nothing. */
function toJson(cell: unknown, name: string, type: ValueType | undefined): JsonValue | undefined {
  switch (typeof cell) {
    case 'string':
    case 'boolean':
      return cell;
    case 'number':
      if (Number.isNaN(cell)) return undefined;
      if (!Number.isFinite(cell)) throw new UnfitCell(`${name}: ${String(cell)} is no finite number`);
      return isText(type) && Number.isSafeInteger(cell) ? String(cell) : cell;
    case 'bigint':
      if (isText(type)) return String(cell);
      if (BigInt(Number(cell)) === cell && Number.isSafeInteger(Number(cell))) return Number(cell);
      throw new UnfitCell(`${name}: ${String(cell)} is too large for a number to hold exactly`);
    case 'symbol':
      throw new UnfitCell(`${name}: the text is not encoded in UTF-8`);
    case 'object':
      break;
    default:
      return undefined;
  }
  if (cell === null) return undefined;
  if (cell instanceof Uint8Array) throw new UnfitCell(`${name}: expected a text or a number, found bytes`);
  if (Array.isArray(cell) || ArrayBuffer.isView(cell)) {
    const of = type?.kind === 'list' ? type.of : undefined;
    return Array.from(cell as ArrayLike<unknown>, (element) => {
      if (typeof element === 'number' && Number.isNaN(element))
        throw new UnfitCell(`${name}: an element is not a number`);
      return toJson(element, name, of) ?? null;
    });
  }
  return Object.fromEntries(
    Object.entries(cell).flatMap(([key, inner]): [string, JsonValue][] => {
      const value = toJson(inner, `${name}.${key}`, undefined);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Whether a whole number stands for a text: ids are often kept as numbers. */
function isText(type: ValueType | undefined): boolean {
  return type?.kind === 'string' || type?.kind === 'ref';
}

function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'object' && value !== null) return Buffer.byteLength(JSON.stringify(value));
  return 8;
}
