import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

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

/** The path of a segment: a folder for each day, and in it the name of the writer and the number of the segment. */
export function segmentPath(folder: string, writer: string, number: number, time: number): string {
  const day = new Date(time).toISOString().slice(0, 10);
  return join(folder, day, `${writer}-${String(number).padStart(6, '0')}${SEGMENT_ENDING}`);
}

/**
 * The path of the mark that asks a writer to close a segment. The writer looks for it before each batch, starts another
 * segment, and removes the mark. So a process can replace a segment that another process writes.
 */
export function closeMark(path: string): string {
  return `${path}.close`;
}

/** The paths of all segments of a folder and of the folders in it, in order; for a file, the file itself. */
export async function segmentPaths(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true });
  return entries
    .filter((entry) => entry.endsWith(SEGMENT_ENDING))
    .map((entry) => join(path, entry))
    .sort();
}

/** The segments of a folder, those written to longest ago first. A segment that is removed meanwhile is left out. */
export async function segmentFiles(folder: string, now = Date.now()): Promise<SegmentFile[]> {
  const paths = await segmentPaths(folder);
  const newest = newestNumbers(paths);
  const files = await Promise.all(
    paths.map(async (path): Promise<SegmentFile | undefined> => {
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) return undefined;
      const { writer, number } = nameOf(path);
      const isSealed = (found.mode & WRITABLE) === 0;
      const isNotLast = number < (newest.get(writer) ?? 0);
      const isClosed = isSealed || isNotLast || now - found.mtimeMs > SURELY_CLOSED_MS;
      return { path, bytes: found.size, writtenAt: found.mtimeMs, isClosed };
    }),
  );
  return files.filter((file) => file !== undefined).sort((a, b) => a.writtenAt - b.writtenAt);
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
