import { createGunzip } from 'node:zlib';
import { pipeline, type Readable } from 'node:stream';
import { nearest } from '../../ground/core/nearest.js';
import { ObjectError } from '../../ground/core/object-error.js';
import { openStored, type OpenFile } from '../../ground/core/stored-files.js';
import { UsageError } from '../config/diagnostics/failure.js';
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
  '.tsv': 'csv',
  '.parquet': 'parquet',
};
const CHUNK_BYTES = 256 * 1024;

/** An open file of records. */
export interface Input {
  /** The unit of row numbers: `line`, `item` of a JSON list, or `row` of a Parquet file. */
  readonly unit: 'line' | 'item' | 'row';
  /** Size of the file; undefined for a pipe. */
  readonly totalBytes: number | undefined;
  /** How much of the file has been read. */
  bytesRead(): number;
  /** Columns read so far that the project does not declare although it declares a similar name. */
  misspelt(): readonly MisspeltColumn[];
  /**
   * The columns read so far that are not `misspelt`, if the file has nothing that the project declares but the key;
   * otherwise none.
   */
  undeclared(): readonly string[];
  /**
   * Yields the rows in order. It can be called once.
   * @param after rows up to this number are skipped
   * @throws InputError
   */
  chunks(after?: number): AsyncIterable<RowChunk>;
  /** Closes the file, whether or not it was read. */
  close(): Promise<void>;
}

export interface MisspeltColumn {
  readonly name: string;
  readonly near: string;
}

export interface InputOptions {
  readonly stdin: Readable;
  /** Overrides the format of the file's name. */
  readonly format?: InputFormat | undefined;
  /** The flag that sets `format`; undefined if the command has none. */
  readonly formatFlag?: string | undefined;
  /**
   * Reads CSV of other systems as well: any of the usual separators, and columns without a name, which are left out.
   */
  readonly isForeign?: boolean;
  /** Returns types of columns. It is called only for CSV and Parquet. */
  columnTypes(): Promise<ColumnTypes>;
  /**
   * Receives the names of all columns of such a file, before any row. @throws InputError if a required column is
   * missing
   */
  checkColumns?(names: readonly string[]): void;
}

/**
 * Opens a file of records, or standard input for `-`: JSON lines, a JSON list, CSV or Parquet, by its name. A file
 * with `.gz` is decompressed.
 * @throws InputError if it cannot be opened, UsageError if its format is unknown
 */
export async function openInput(path: string, options: InputOptions): Promise<Input> {
  const gzip = path.endsWith('.gz');
  const format =
    options.format ??
    (path === '-' ? 'jsonl' : formatOf(gzip ? path.slice(0, -3) : path, options.formatFlag));
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
    undeclared: () => undeclaredOf(columns, types),
    chunks: (after = 0) =>
      later(
        format === 'csv'
          ? readCsv(
              bytes,
              types,
              (names) => {
                columns = names;
                options.checkColumns?.(names);
              },
              options.isForeign ?? /\.tsv(\.gz)?$/i.test(path),
            )
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

/** Parquet has its index at the end, so it must be a file. */
async function openParquetFile(path: string, gzip: boolean, options: InputOptions): Promise<Input> {
  if (path === '-') throw new UsageError('Parquet cannot be read from standard input; use a file');
  if (gzip)
    throw new UsageError(`${path}: Parquet files are compressed internally; decompress the .gz first`);
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
    undeclared: () => undeclaredOf(parquet.columns, types),
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

function undeclaredOf(columns: readonly string[], types: ColumnTypes): string[] {
  const others = columns.filter((name) => !types.has(name));
  if (types.size <= 1 || others.length < columns.length - 1) return [];
  const misspelt = new Set(misspeltOf(columns, types).map(({ name }) => name));
  return others.filter((name) => !misspelt.has(name));
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

/** The format that the name of a file tells; undefined if it tells none. */
export function formatByName(path: string): InputFormat | undefined {
  return Object.entries(EXTENSIONS).find(([extension]) => path.toLowerCase().endsWith(extension))?.[1];
}

function formatOf(path: string, flag: string | undefined): InputFormat {
  const found = formatByName(path);
  if (found !== undefined) return found;
  const known = Object.keys(EXTENSIONS).join(', ');
  throw new UsageError(
    `cannot tell the format of ${path} by its name; expected ${known} (or one of these and .gz)` +
      (flag === undefined ? '' : `, or set it with ${flag} ${INPUT_FORMATS.join('|')}`),
  );
}

/** Opens the bytes of a file or an object, or standard input for `-`. @throws InputError */
export async function openBytes(
  path: string,
  stdin: Readable,
): Promise<{ readonly stream: Readable; readonly totalBytes: number | undefined }> {
  if (path === '-') return { stream: stdin, totalBytes: undefined };
  const { handle, stat } = await openFile(path);
  const totalBytes = stat.isFile() ? stat.size : undefined;
  return { stream: handle.createReadStream({ highWaterMark: CHUNK_BYTES }), totalBytes };
}

/** @throws InputError */
export async function openFile(
  path: string,
): Promise<{ readonly handle: OpenFile; readonly stat: Awaited<ReturnType<OpenFile['stat']>> }> {
  let handle: OpenFile;
  try {
    handle = await openStored(path);
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
  if (code === 'ENOENT') return 'the file does not exist';
  if (code === 'EACCES') return 'permission denied';
  if (error instanceof ObjectError) return error.message;
  return code ?? String(error);
}

/** Decompresses gzip. @throws InputError */
export async function* inflate(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // The reader of gunzip receives errors. The callback is only required by pipeline.
  pipeline(bytes, gunzip, () => undefined);
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw error;
    throw new InputError('the file is not gzip, or it is incomplete', { cause: error });
  }
}
