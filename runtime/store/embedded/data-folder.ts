import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { MillraceError } from '../../api/errors.js';
import { announceOwner, ownerOf, withdrawOwner } from './owner.js';

export type Database = ClassicLevel<string, Buffer>;

/** A data folder that this process owns. */
export interface DataFolder {
  readonly database: Database;
  /** Closes the database and gives the folder up. */
  release(): Promise<void>;
}

/**
 * What LevelDB gathers in memory and in its log before it writes a table: more makes bulk loads quicker and opening
 * after a crash slower (64 ms for 32 MB).
 */
const WRITE_BUFFER_BYTES = 32 * 1024 * 1024;
/** All is read once, when it is opened: a cache of blocks would be of no use. */
const CACHE_BYTES = 1024 * 1024;

/**
 * Opens the database in a data folder, which one process at a time may own; LevelDB's lock, which dies with its
 * process, decides, and `owner.pid` beside it says who.
 * @throws MillraceError data_folder_in_use with the owner's process id, data_folder_damaged, invalid_setting if the
 *   folder cannot be used
 */
export async function openDataFolder(dataDir: string, sync: boolean): Promise<DataFolder> {
  const location = join(dataDir, 'records');
  const database: Database = new ClassicLevel<string, Buffer>(location, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
    writeBufferSize: WRITE_BUFFER_BYTES,
    cacheSize: CACHE_BYTES,
  });
  try {
    const made = await mkdir(dataDir, { recursive: true });
    await database.open();
    await announceOwner(dataDir);
    if (sync) await syncFolders(dataDir, made);
  } catch (error) {
    await database.close().catch(() => undefined);
    throw await openFailure(error, dataDir, join(location, 'LOCK'));
  }
  return {
    database,
    async release() {
      await withdrawOwner(dataDir);
      await database.close();
    },
  };
}

/** The folders' own entries have to be on the disk too, up to the first that was there before. */
async function syncFolders(dataDir: string, made: string | undefined): Promise<void> {
  const last = made === undefined ? dataDir : dirname(made);
  for (let folder = dataDir; ; folder = dirname(folder)) {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (folder === last || folder === dirname(folder)) return;
  }
}

/** What an error of LevelDB's means to those who started the process. */
export async function openFailure(error: unknown, dataDir: string, lockFile: string): Promise<MillraceError> {
  if (error instanceof MillraceError) return error;
  if (hasCode(error, 'LEVEL_LOCKED')) return inUse(dataDir, lockFile);
  if (hasCode(error, 'LEVEL_CORRUPTION')) return damaged(dataDir, reasonOf(error), error);
  const reason = hasCode(error, 'EEXIST') || hasCode(error, 'ENOTDIR') ? 'it is no folder' : reasonOf(error);
  return new MillraceError(
    'invalid_setting',
    `The data folder ${dataDir} cannot be used: ${reason}. ` +
      'Check that this user may write there and that the disk has room, or name another folder with MILLRACE_DATA_DIR',
    { cause: error },
  );
}

/** The folder's content is not what was written to it. */
export function damaged(dataDir: string, reason: string, cause?: unknown): MillraceError {
  return new MillraceError(
    'data_folder_damaged',
    `The data folder ${dataDir} is damaged: ${reason}. ` +
      'Put a copy of it in its place, or remove it and load the data again',
    { cause },
  );
}

async function inUse(dataDir: string, lockFile: string): Promise<MillraceError> {
  const owner = await ownerOf(dataDir, lockFile);
  const where = owner?.host === undefined ? '' : ` on ${owner.host}`;
  const name =
    owner === undefined
      ? 'another process'
      : owner.pid === process.pid && owner.host === undefined
        ? `this process (${owner.pid})`
        : `process ${owner.pid}${where}`;
  return new MillraceError(
    'data_folder_in_use',
    `The data folder ${dataDir} is in use by ${name}. ` +
      'If that is a running service, talk to it with --url http://HOST:PORT; or stop it; or name another folder with MILLRACE_DATA_DIR',
    { extensions: owner === undefined ? {} : { owner_pid: owner.pid } },
  );
}

function hasCode(error: unknown, code: string): boolean {
  if (!(error instanceof Error)) return false;
  return (error as NodeJS.ErrnoException).code === code || hasCode(error.cause, code);
}

/** The innermost reason, in one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}
