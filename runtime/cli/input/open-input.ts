import type { Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { pipeline, type Readable } from 'node:stream';
import { nearest } from '../../core/nearest.js';
import { UsageError } from '../failure.js';
import { readCsv, type ColumnTypes } from './csv.js';
import { readJsonLines } from './json-lines.js';
import { readJsonList } from './json-list.js';
import { openParquet } from './parquet.js';
import { InputError, type RowChunk } from './rows.js';

export const INPUT_FORMATS = ['jsonl', 'json', 'csv', 'parquet'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

const EXTENSIONS: Readonly<Record<string, InputFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'json',
  '.csv': 'csv',
  '.parquet': 'parquet',
};
const CHUNK_BYTES = 256 * 1024;

/** An open file of records. */
export interface Input {
  /** How rows are numbered: by `line`, by `item` of a JSON list, by `row` of a Parquet file. */
  readonly unit: 'line' | 'item' | 'row';
  /** Size of the file; undefined for a pipe. */
  readonly totalBytes: number | undefined;
  /** How much of the file has been read. */
  bytesRead(): number;
  /** Columns read so far that the project does not declare, while it declares one of nearly that name. */
  misspelt(): readonly MisspeltColumn[];
  /**
   * The rows, in order; once.
   * @param after rows up to this number are left out
   * @throws InputError
   */
  chunks(after?: number): AsyncIterable<RowChunk>;
  /** Gives the file back, read or not. */
  close(): Promise<void>;
}

export interface MisspeltColumn {
  readonly name: string;
  readonly near: string;
}

export interface InputOptions {
  readonly stdin: Readable;
  /** Wins over the file's name. */
  readonly format?: InputFormat | undefined;
  /** Types of columns; asked for only when the file is CSV or Parquet. */
  columnTypes(): Promise<ColumnTypes>;
  /** Given the names of all columns of such a file, before any row. @throws InputError for a file without one it needs */
  checkColumns?(names: readonly string[]): void;
}

/**
 * Opens a file of records, `-` for standard input: JSON lines, a JSON list, CSV or Parquet, by its name; with `.gz`
 * inflated.
 * @throws InputError if it cannot be opened, UsageError if its format cannot be told.
 */
export async function openInput(path: string, options: InputOptions): Promise<Input> {
  const gzip = path.endsWith('.gz');
  const format = options.format ?? (path === '-' ? 'jsonl' : formatOf(gzip ? path.slice(0, -3) : path));
  if (format === 'parquet') return openParquetFile(path, gzip, options);
  const types = format === 'csv' ? await options.columnTypes() : new Map<string, never>();
  const { stream, totalBytes } = await openBytes(path, options.stdin);
  let read = 0;
  let columns: readonly string[] = [];
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      read += bytes.length;
      yield bytes;
    }
  }
  const bytes = gzip ? inflate(counted()) : counted();
  return {
    unit: format === 'json' ? 'item' : 'line',
    totalBytes,
    bytesRead: () => read,
    misspelt: () => misspeltOf(columns, types),
    chunks: (after = 0) =>
      later(
        format === 'csv'
          ? readCsv(bytes, types, (names) => {
              columns = names;
              options.checkColumns?.(names);
            })
          : format === 'json'
            ? readJsonList(bytes)
            : readJsonLines(bytes),
        after,
      ),
    close() {
      stream.destroy();
      return Promise.resolve();
    },
  };
}

/** Its end says what is where, so that it has to be a file. */
async function openParquetFile(path: string, gzip: boolean, options: InputOptions): Promise<Input> {
  if (path === '-') throw new UsageError('Parquet cannot be read from standard input; name a file');
  if (gzip) throw new UsageError(`${path}: Parquet is compressed inside; unpack the file first`);
  const types = await options.columnTypes();
  const { handle, stat } = await openFile(path);
  const parquet = await openParquet(handle, types);
  try {
    options.checkColumns?.(parquet.columns);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    unit: 'row',
    totalBytes: stat.size,
    bytesRead: () => Math.round(parquet.done() * stat.size),
    misspelt: () => misspeltOf(parquet.columns, types),
    chunks: (after = 0) => parquet.chunks(after),
    close: () => handle.close(),
  };
}

function misspeltOf(columns: readonly string[], types: ColumnTypes): MisspeltColumn[] {
  const absent = [...types.keys()].filter((name) => !columns.includes(name));
  return columns.flatMap((name) => {
    const near = types.has(name) ? undefined : nearest(name, absent);
    return near === undefined ? [] : [{ name, near }];
  });
}

async function* later(chunks: AsyncIterable<RowChunk>, after: number): AsyncGenerator<RowChunk> {
  for await (const chunk of chunks) {
    if (after === 0) yield chunk;
    else {
      const rows = chunk.rows.filter(({ line }) => line > after);
      const bad = chunk.bad.filter(({ line }) => line > after);
      if (rows.length + bad.length > 0) yield { rows, bad };
    }
  }
}

function formatOf(path: string): InputFormat {
  const found = Object.entries(EXTENSIONS).find(([extension]) => path.toLowerCase().endsWith(extension));
  if (found !== undefined) return found[1];
  const known = Object.keys(EXTENSIONS).join(', ');
  throw new UsageError(
    `cannot tell the format of ${path} by its name; expected ${known} (or one of these and .gz), ` +
      `or say it with --format ${INPUT_FORMATS.join('|')}`,
  );
}

async function openBytes(
  path: string,
  stdin: Readable,
): Promise<{ readonly stream: Readable; readonly totalBytes: number | undefined }> {
  if (path === '-') return { stream: stdin, totalBytes: undefined };
  const { handle, stat } = await openFile(path);
  const totalBytes = stat.isFile() ? stat.size : undefined;
  return { stream: handle.createReadStream({ highWaterMark: CHUNK_BYTES }), totalBytes };
}

/** @throws InputError */
export async function openFile(path: string): Promise<{ readonly handle: FileHandle; readonly stat: Stats }> {
  let handle: FileHandle;
  try {
    handle = await open(path);
  } catch (error) {
    throw new InputError(`cannot open ${path}: ${openProblem(error)}`, { cause: error });
  }
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw new InputError(`cannot open ${path}: it is a folder`);
  }
  return { handle, stat };
}

function openProblem(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES') return 'permission denied';
  return code ?? String(error);
}

async function* inflate(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // An error reaches the reader of gunzip; the callback is there because pipeline wants one.
  pipeline(bytes, gunzip, () => undefined);
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw error;
    throw new InputError('not gzip, or cut short', { cause: error });
  }
}
