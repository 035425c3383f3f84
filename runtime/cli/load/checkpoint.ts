import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CommandFailure } from '../failure.js';
import { openFile } from '../input/open-input.js';

/** How much of a file's start and end is compared, to notice that it has changed. */
const SAMPLE_BYTES = 64 * 1024;

/** How far the load of a file has come: what it takes to go on after an interruption, also after kill -9. */
export interface Checkpoint {
  /** Rows up to this number are in the store, or were refused; 0 at the start. */
  readonly after: number;
  /** Says that all rows up to this number are acknowledged. */
  reached(line: number): void;
  /** Says that the load has come to the file's end. */
  finished(): void;
}

export interface CheckpointPlace {
  /** A folder that this process may write to. */
  readonly folder: string;
  readonly file: string;
  /** What is loaded, and into what: another one is another load. */
  readonly load: readonly string[];
}

interface State {
  readonly file: string;
  readonly fingerprint: string;
  readonly after: number;
}

/**
 * The checkpoint of a load: a small file, replaced whole each time.
 * @param resume whether to go on where an interrupted load of the same file stopped, else from the start
 * @throws InputError if there is no such file; CommandFailure if it has changed since
 */
export async function openCheckpoint(place: CheckpointPlace, resume: boolean): Promise<Checkpoint> {
  const file = resolve(place.file);
  const name = createHash('sha256')
    .update(JSON.stringify([file, ...place.load]))
    .digest('hex');
  const path = join(place.folder, `${name.slice(0, 32)}.json`);
  const fingerprint = await fingerprintOf(place.file);
  const state = resume ? readState(path) : undefined;
  if (state !== undefined && state.fingerprint !== fingerprint) {
    throw new CommandFailure(
      `${place.file} has changed since its load was interrupted after row ${String(state.after)}`,
      'load it from the start, without --resume: what is stored already is written again, which is safe',
    );
  }
  return {
    after: state?.after ?? 0,
    reached(after) {
      mkdirSync(place.folder, { recursive: true });
      const next = `${path}.${String(process.pid)}`;
      writeFileSync(next, JSON.stringify({ file, fingerprint, after } satisfies State));
      renameSync(next, path);
    },
    finished: () => rmSync(path, { force: true }),
  };
}

function readState(path: string): State | undefined {
  try {
    const { file, fingerprint, after } = JSON.parse(readFileSync(path, 'utf8')) as Partial<State>;
    if (file === undefined || fingerprint === undefined || !Number.isInteger(after)) return undefined;
    return { file, fingerprint, after: after ?? 0 };
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Of a file's size, time, start and end. */
async function fingerprintOf(file: string): Promise<string> {
  const { handle, stat } = await openFile(file);
  try {
    const { size, mtimeMs } = stat;
    const hash = createHash('sha256').update(`${String(size)} ${String(mtimeMs)} `);
    for (const at of [0, Math.max(0, size - SAMPLE_BYTES)]) {
      const bytes = Buffer.alloc(Math.min(SAMPLE_BYTES, size));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, at);
      hash.update(bytes.subarray(0, bytesRead));
    }
    return hash.digest('hex');
  } finally {
    await handle.close();
  }
}
