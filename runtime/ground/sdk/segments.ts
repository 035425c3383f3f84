import { basename, join } from 'node:path';
import { storedFiles } from '../core/stored-files.js';

/** The ending of a segment's file name. */
export const SEGMENT_ENDING = '.mlr';

/** A writer closes its segment at this size, or at this age. */
export const SEGMENT_BYTES = 64 * 2 ** 20;
export const SEGMENT_MS = 3_600_000;

/** A writer that closes a segment makes it read-only: nobody will add to it. */
export const SEALED_MODE = 0o400;
const WRITABLE = 0o200;

/** A segment that nobody wrote to for so long is closed: its writer closed it by age, or is gone. */
const SURELY_CLOSED_MS = SEGMENT_MS + 60_000;

export interface SegmentFile {
  readonly path: string;
  readonly bytes: number;
  /** When it was last written to, in epoch milliseconds. */
  readonly writtenAt: number;
  /** False while its writer may still add to it. */
  readonly isClosed: boolean;
}

/** The name of a segment: a folder for each day, and in it the name of the writer and the number of the segment. */
export function segmentName(writer: string, number: number, time: number): string {
  const day = new Date(time).toISOString().slice(0, 10);
  return `${day}/${writer}-${String(number).padStart(6, '0')}${SEGMENT_ENDING}`;
}

/** The path of a segment in a folder. */
export function segmentPath(folder: string, writer: string, number: number, time: number): string {
  return join(folder, segmentName(writer, number, time));
}

/**
 * The path of the mark that asks a writer to close a segment. The writer looks for it before each batch, starts another
 * segment, and removes the mark. So a process can replace a segment that another process writes.
 */
export function closeMark(path: string): string {
  return `${path}.close`;
}

/**
 * The paths of all segments of a folder and of the folders in it, in order; for a file, the file itself.
 * @param path a folder or a file, or s3://bucket/prefix
 */
export async function segmentPaths(path: string): Promise<string[]> {
  return (await storedFiles(path, SEGMENT_ENDING)).map((file) => file.path);
}

/** The segments of a folder, those written to longest ago first. A segment that is removed meanwhile is left out. */
export async function segmentFiles(folder: string, now = Date.now()): Promise<SegmentFile[]> {
  const found = await storedFiles(folder, SEGMENT_ENDING);
  const newest = newestNumbers(found.map(({ path }) => path));
  return found
    .map(({ path, bytes, writtenAt, mode }): SegmentFile => {
      const { writer, number } = nameOf(path);
      // An object is stored when it is whole.
      const isSealed = mode === undefined || (mode & WRITABLE) === 0;
      const isNotLast = number < (newest.get(writer) ?? 0);
      const isClosed = isSealed || isNotLast || now - writtenAt > SURELY_CLOSED_MS;
      return { path, bytes, writtenAt, isClosed };
    })
    .sort((a, b) => a.writtenAt - b.writtenAt);
}

function newestNumbers(paths: readonly string[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const path of paths) {
    const { writer, number } = nameOf(path);
    newest.set(writer, Math.max(number, newest.get(writer) ?? 0));
  }
  return newest;
}

function nameOf(path: string): { readonly writer: string; readonly number: number } {
  const name = basename(path, SEGMENT_ENDING);
  const dash = name.lastIndexOf('-');
  return { writer: name.slice(0, dash), number: Number(name.slice(dash + 1)) };
}
