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
import { dirname, join } from 'node:path';
import { resolveStored } from '../../ground/core/stored-files.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { openFile } from '../../project/rows/open-input.js';

/** The number of bytes at the start and at the end of a file that are compared to detect a change. */
const SAMPLE_BYTES = 64 * 1024;

/** The progress of a load. With it a load continues after an interruption, also after kill -9. */
export interface Checkpoint {
  /** Rows up to this number are stored or rejected; 0 at the start. */
  readonly after: number;
  /** Why the checkpoint cannot be written, e.g. a read-only folder. The load continues without it. */
  readonly fault: Error | undefined;
  /** Records that all rows up to this number are acknowledged. */
  reached(line: number): void;
  /** Records that the load has reached the end of the file. */
  finished(): void;
  /** Closes the checkpoint's file. Its content stays. */
  close(): void;
}

export interface CheckpointPlace {
  /** A folder that this process may write to. */
  readonly folder: string;
  readonly file: string;
  /** Identifies the load: the file and the target. A different value is a different load. */
  readonly load: readonly string[];
}

interface State {
  readonly file: string;
  readonly fingerprint: string;
  readonly after: number;
}

/**
 * Opens the checkpoint of a load, a small file. The checkpoint of the previous load is replaced as a whole; then each
 * batch overwrites the file in one write. Creating and renaming a file per batch would take a tenth of the load's
 * time.
 * @param resume true continues an interrupted load of the same file; false starts again
 * @throws InputError if there is no such file; CommandFailure if it has changed since
 */
export async function openCheckpoint(place: CheckpointPlace, resume: boolean): Promise<Checkpoint> {
  const file = resolveStored('.', place.file);
  const name = createHash('sha256')
    .update(JSON.stringify([file, ...place.load]))
    .digest('hex');
  const path = join(place.folder, `${name.slice(0, 32)}.json`);
  const fingerprint = await fingerprintOf(place.file);
  const state = resume ? readState(path) : undefined;
  if (state !== undefined && state.fingerprint !== fingerprint) {
    throw new CommandFailure(
      `${place.file} has changed since its load was interrupted after row ${String(state.after)}`,
      'load it again without --resume; rows that are stored already are written again, which is safe',
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

/** @returns the file descriptor, for overwriting the text */
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

/** Hashes a file's size, modification time, start and end. */
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
