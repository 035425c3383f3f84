import { PassThrough } from 'node:stream';
import { entityReader } from '../../../project/foreign/entity-reader.js';
import { feedbackReader } from '../../../project/foreign/feedback-reader.js';
import type { EventOutput, ForeignEvent, RowReader } from '../../../project/foreign/foreign-event.js';
import type { FileSample } from './file-guess.js';
import { isReady, type ImportSource } from '../../../project/foreign/mapping.js';
import { rankingReader } from './ranking-reader.js';
import { readyReader } from '../../../project/foreign/ready-logs.js';
import { rowShaper } from '../../../project/foreign/row-shape.js';
import type { Console } from '../../../ground/core/console.js';
import { openInput, type Input } from '../../../project/rows/open-input.js';
import { inFile } from '../../../project/rows/rows.js';
import { startProgress } from '../../../ground/core/progress.js';
import type { FilesOfSource, ForeignFile } from './input-files.js';
import type { Rejects } from './rejects.js';

/** The rows of a file that a guess looks at. */
const SAMPLE_ROWS = 5000;

/**
 * Opens a file, and reads it.
 * @throws InputError that names the file
 */
async function withInput(file: ForeignFile, read: (input: Input) => Promise<void>): Promise<void> {
  try {
    const input = await openInput(file.path, {
      stdin: new PassThrough(),
      isForeign: true,
      columnTypes: () => Promise.resolve(new Map()),
    });
    try {
      await read(input);
    } finally {
      await input.close();
    }
  } catch (error) {
    throw inFile(file.name, error);
  }
}

/** Reads the first rows of a file. @throws InputError */
export async function sampleOf(file: ForeignFile): Promise<FileSample> {
  const rows: FileSample['rows'][number][] = [];
  await withInput(file, async (input) => {
    for await (const chunk of input.chunks()) {
      rows.push(...chunk.rows.map(({ value }) => value));
      if (rows.length >= SAMPLE_ROWS) break;
    }
  });
  return { file: file.name, rows: rows.slice(0, SAMPLE_ROWS) };
}

/** Counts of what was read. */
export interface ReadCounts {
  rows: number;
}

/**
 * Reads all files of all sources.
 * @param take receives each event; what it returns is awaited
 * @throws InputError if the rest of a file cannot be read
 */
export async function readFiles(
  { stderr }: Console,
  sources: readonly FilesOfSource[],
  candidateType: string,
  rejects: Rejects,
  take: (event: ForeignEvent) => Promise<void> | undefined,
): Promise<ReadCounts> {
  const counts: ReadCounts = { rows: 0 };
  const total = [...sourcesByFile(sources).keys()].reduce((sum, { bytes }) => sum + bytes, 0);
  const progress = startProgress(stderr, 'reading', total);
  let done = 0;
  let number = 0;
  try {
    for (const [file, own] of sourcesByFile(sources)) {
      number += 1;
      const readers = own.map((source) => readerOf(source, candidateType, number));
      await withInput(file, (input) => {
        const onRows = (rows: number): void => {
          counts.rows += rows;
          progress.update(done + input.bytesRead(), counts.rows);
        };
        return readRows(input, { file: file.name, readers, rejects }, take, onRows);
      });
      done += file.bytes;
    }
  } finally {
    progress.stop();
  }
  return counts;
}

/** The files, and the sources that each of them is read for. A file is read once. */
function sourcesByFile(sources: readonly FilesOfSource[]): ReadonlyMap<ForeignFile, readonly ImportSource[]> {
  const byFile = new Map<ForeignFile, ImportSource[]>();
  for (const { source, files } of sources)
    for (const file of files) {
      const own = byFile.get(file);
      if (own === undefined) byFile.set(file, [source]);
      else own.push(source);
    }
  return byFile;
}

interface Reading {
  /** The name of the file. */
  readonly file: string;
  readonly readers: readonly RowReader[];
  readonly rejects: Rejects;
}

/** @param onRows is called after each chunk */
async function readRows(
  input: Input,
  { file, readers, rejects }: Reading,
  take: (event: ForeignEvent) => Promise<void> | undefined,
  onRows: (count: number) => void,
): Promise<void> {
  const events: ForeignEvent[] = [];
  let line = 0;
  let row: Parameters<RowReader['read']>[0] = {};
  const output: EventOutput = {
    event: (event) => events.push(event),
    reject: (reason, detail) => rejects.add({ file, line, reason, detail, row }),
  };
  for await (const chunk of input.chunks()) {
    for (const { line: at, problem } of chunk.bad)
      rejects.add({ file, line: at, reason: 'unreadable', detail: problem });
    for (const { line: at, value } of chunk.rows) {
      [line, row] = [at, value];
      for (const reader of readers) reader.read(value, output);
    }
    for (const event of events.splice(0)) {
      const waiting = take(event);
      if (waiting !== undefined) await waiting;
    }
    onRows(chunk.rows.length + chunk.bad.length);
  }
  for (const reader of readers) reader.end?.(output);
  for (const event of events.splice(0)) await take(event);
}

function readerOf(source: ImportSource, candidateType: string, file: number): RowReader {
  const reader = readerOfRows(source, candidateType, file);
  if (isReady(source)) return reader;
  const shape = rowShaper(source);
  return { ...reader, read: (row, output) => reader.read(shape(row), output) };
}

function readerOfRows(source: ImportSource, candidateType: string, file: number): RowReader {
  if (isReady(source)) return readyReader(source.map, candidateType);
  switch (source.into) {
    case 'entities':
      return entityReader(source);
    case 'rankings':
      return rankingReader(source, candidateType, file);
    case 'feedback':
      return feedbackReader(source, candidateType);
  }
}
