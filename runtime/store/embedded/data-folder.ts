import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { MillraceError } from '../../api/errors.js';

export type Database = ClassicLevel<string, Buffer>;

/** A data folder that this process owns. */
export interface DataFolder {
  readonly database: Database;
  /** Closes the database and gives the folder up. */
  release(): Promise<void>;
}

/**
 * Opens the database in a data folder, which one process at a time may own; LevelDB's lock decides, `owner.pid` beside
 * it only says who.
 * @throws MillraceError data_folder_in_use with the owner's process id, invalid_setting if the folder cannot be used
 */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  const pidFile = join(dataDir, 'owner.pid');
  const database: Database = new ClassicLevel<string, Buffer>(join(dataDir, 'records'), {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
  });
  try {
    await mkdir(dataDir, { recursive: true });
    await database.open();
    await writeFile(pidFile, `${process.pid}\n`);
  } catch (error) {
    await database.close().catch(() => undefined);
    if (isLocked(error)) throw await inUse(dataDir, pidFile);
    throw new MillraceError(
      'invalid_setting',
      `The data folder ${dataDir} cannot be used: ${reasonOf(error)}`,
      {
        cause: error,
      },
    );
  }
  return {
    database,
    async release() {
      // Before the lock is free: afterwards the file may be the next owner's.
      await rm(pidFile, { force: true });
      await database.close();
    },
  };
}

function isLocked(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as NodeJS.ErrnoException).code === 'LEVEL_LOCKED' || isLocked(error.cause);
}

async function inUse(dataDir: string, pidFile: string): Promise<MillraceError> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  const owner =
    pid === String(process.pid)
      ? `this process (${pid})`
      : /^\d+$/.test(pid)
        ? `process ${pid}`
        : 'another process';
  return new MillraceError(
    'data_folder_in_use',
    `The data folder ${dataDir} is in use by ${owner}. ` +
      'If that is a running service, talk to it with --url http://HOST:PORT; or stop it; or name another folder with MILLRACE_DATA_DIR',
    { extensions: /^\d+$/.test(pid) ? { owner_pid: Number(pid) } : {} },
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}
