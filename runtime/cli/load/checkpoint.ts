import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CommandFailure } from '../failure.js';
import { openFile } from '../input/open-input.js';

/** How much of a file's start and end is compared, to notice that it has changed. */
const SAMPLE_BYTES = 64 * 1024;

/** How far the load of a file has come: what it takes to go on after an interruption, also after kill -9. */
export interface Checkpoint {
  /** Rows up to this number are in the store, or were refused; 0 at the start. */
  readonly after: number;
  /** Why it is not kept, where its folder cannot be written to: the load goes on without it. */
  readonly fault: Error | undefined;
  /** Says that all rows up to this number are acknowledged. */
  reached(line: number): void;
  /** Says that the load has come to the file's end. */
  finished(): void;
  /** Gives the checkpoint's file back; what was reached stays. */
  close(): void;
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
 * The checkpoint of a load: a small file. That of the load before is replaced whole, then each batch overwrites the same
 * file in one write: to make and rename a file for every batch would cost a tenth of the load.
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
  let open: number | undefined;
  let fault: Error | undefined;
  const keep = (write: () => void): void => {
    if (fault !== undefined) return;
    try {
      write();
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error));
    }
  };
  return {
    after: state?.after ?? 0,
    get fault() {
      return fault;
    },
    reached(after) {
      keep(() => {
        const text = JSON.stringify({ fingerprint, after, file } satisfies State);
        open ??= replaceFile(path, text);
        writeSync(open, text, 0);
      });
    },
    finished() {
      keep(() => rmSync(path, { force: true }));
    },
    close() {
      if (open !== undefined) closeSync(open);
      open = undefined;
    },
  };
}

/** @returns its descriptor, for what is to be written over the text */
function replaceFile(path: string, text: string): number {
  mkdirSync(dirname(path), { recursive: true });
  const next = `${path}.${String(process.pid)}`;
  writeFileSync(next, text);
  renameSync(next, path);
  return openSync(path, 'r+');
}

function readState(path: string): State | undefined {
  try {
    const { file, fingerprint, after } = JSON.parse(readFileSync(path, 'utf8')) as Partial<State>;
    if (file === undefined || fingerprint === undefined || !Number.isInteger(after)) return undefined;
    return { file, fingerprint, after: after ?? 0 };
  } catch (error) {
    if (
      error instanceof SyntaxError ||
      ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    )
      return undefined;
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
