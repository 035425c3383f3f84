import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { MillraceError } from '../../../ground/api/errors.js';
import { isLogDamaged } from './log-check.js';
import { FOLDER_FORMAT } from './digest.js';
import { announceOwner, ownerOf, withdrawOwner } from './owner.js';

export type Database = ClassicLevel<string, Buffer>;

/** Folder names of the database, and of a repaired database before it replaces the original. */
export const RECORDS = 'records';
export const REPAIRED = 'records.repaired';
/** Folder names of a new database before it replaces the original, and of the original until it is deleted. */
const REWRITTEN = 'records.rewritten';
const ERASED = 'records.erased';

/** A data folder that this process owns. */
export interface DataFolder {
  /** The current database; `replace` changes it. */
  readonly database: Database;
  /** Settles when the replacement in progress ends; undefined if there is none. */
  readonly replacing: Promise<void> | undefined;
  /** Creates an empty database beside the current one. */
  startRewrite(): Promise<Database>;
  /**
   * Puts a complete, synced database in the place of the current one, and deletes the old files. Nothing may be written
   * meanwhile.
   */
  replace(rewritten: Database): Promise<void>;
  /** Closes the new database, and deletes it if it has not replaced the current one. */
  endRewrite(rewritten: Database): Promise<void>;
  /** Paths of older copies of the records that repairs left in the folder. */
  copies(): Promise<string[]>;
  /** Closes the database and releases the folder. */
  release(): Promise<void>;
}

/**
 * Bytes that LevelDB collects in memory and in its log before it writes a table. A larger buffer makes bulk loads
 * faster and opening after a crash slower (64 ms for 32 MB).
 */
const WRITE_BUFFER_BYTES = 32 * 1024 * 1024;
/** Every record is read once, at opening, so a cache of blocks would be useless. */
const CACHE_BYTES = 1024 * 1024;

/**
 * Opens the database in a data folder, which only one process at a time may own. LevelDB's lock decides; it is released
 * when its process ends. The file `owner.pid` names the owner.
 * @throws MillraceError data_folder_in_use with the owner's process id, data_folder_damaged, invalid_setting if the
 *   folder cannot be used
 */
export async function openDataFolder(dataDir: string, sync: boolean): Promise<DataFolder> {
  const location = join(dataDir, RECORDS);
  let opened: Database | undefined;
  try {
    const made = await mkdir(dataDir, { recursive: true });
    await finishReplacement(dataDir);
    await checkFiles(dataDir);
    opened = openDatabase(location);
    await opened.open();
    await announceOwner(dataDir);
    for (const left of [REWRITTEN, ERASED]) await rm(join(dataDir, left), { recursive: true, force: true });
    if (sync) await syncFolders(dataDir, made);
  } catch (error) {
    await opened?.close().catch(() => undefined);
    throw await openFailure(error, dataDir, join(location, 'LOCK'));
  }
  return new OpenFolder(dataDir, opened);
}

class OpenFolder implements DataFolder {
  readonly #dataDir: string;
  #database: Database;
  #replacing: Promise<void> | undefined;

  constructor(dataDir: string, database: Database) {
    this.#dataDir = dataDir;
    this.#database = database;
  }

  get database(): Database {
    return this.#database;
  }

  get replacing(): Promise<void> | undefined {
    return this.#replacing;
  }

  async startRewrite(): Promise<Database> {
    const location = join(this.#dataDir, REWRITTEN);
    await rm(location, { recursive: true, force: true });
    const database = openDatabase(location);
    await database.open();
    return database;
  }

  replace(rewritten: Database): Promise<void> {
    const replacing = this.#replace(rewritten).finally(() => (this.#replacing = undefined));
    this.#replacing = replacing;
    return replacing;
  }

  /** LevelDB creates files by path, so both databases are closed while the folders are renamed. */
  async #replace(rewritten: Database): Promise<void> {
    const at = (name: string): string => join(this.#dataDir, name);
    await rm(at(ERASED), { recursive: true, force: true });
    await rewritten.close();
    await this.#database.close();
    try {
      await rename(at(RECORDS), at(ERASED));
      await rename(at(REWRITTEN), at(RECORDS));
      await syncFolders(this.#dataDir, undefined);
    } finally {
      await finishReplacement(this.#dataDir);
      this.#database = openDatabase(at(RECORDS));
      await this.#database.open();
    }
    await rm(at(ERASED), { recursive: true, force: true });
  }

  async endRewrite(rewritten: Database): Promise<void> {
    await rewritten.close();
    await rm(join(this.#dataDir, REWRITTEN), { recursive: true, force: true });
  }

  async copies(): Promise<string[]> {
    const names = await readdir(this.#dataDir);
    return names
      .filter((name) => name.startsWith(`${RECORDS}.`) && name !== REWRITTEN && name !== ERASED)
      .map((name) => join(this.#dataDir, name));
  }

  async release(): Promise<void> {
    await this.#replacing?.catch(() => undefined);
    await withdrawOwner(this.#dataDir);
    await this.#database.close();
  }
}

/**
 * Finishes a replacement that a crash interrupted between its two renames. The new database was complete before the
 * first one.
 */
export async function finishReplacement(dataDir: string): Promise<void> {
  const names = new Set(await readdir(dataDir));
  if (names.has(RECORDS) || !names.has(ERASED)) return;
  await rename(join(dataDir, names.has(REWRITTEN) ? REWRITTEN : ERASED), join(dataDir, RECORDS));
}

/** Creates the database of a folder. It opens itself in the next turn of the event loop, so check the files before. */
export function openDatabase(location: string): Database {
  return new ClassicLevel<string, Buffer>(location, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
    writeBufferSize: WRITE_BUFFER_BYTES,
    cacheSize: CACHE_BYTES,
  });
}

/**
 * Checks for damage that LevelDB does not report. If CURRENT is missing, LevelDB creates an empty database and deletes
 * the existing files. It also drops the records after a damaged record in its log.
 * @throws MillraceError data_folder_damaged
 */
async function checkFiles(dataDir: string): Promise<void> {
  const files = await readdir(join(dataDir, RECORDS)).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (files === undefined) {
    const beside = await readdir(dataDir);
    if (!beside.includes(REPAIRED)) return;
    throw damaged(dataDir, 'its repair was interrupted');
  }
  const current = await currentManifest(dataDir);
  if (current === undefined) {
    if (files.some((file) => /\.(ldb|sst|log)$/.test(file)))
      throw damaged(dataDir, 'the file records/CURRENT is missing');
    return;
  }
  const isThere = await stat(join(dataDir, RECORDS, current)).then(
    (found) => found.isFile(),
    () => false,
  );
  // The process that owns the folder may have replaced both files in the meantime.
  if (!isThere && (await currentManifest(dataDir)) === current)
    throw damaged(dataDir, 'the file that records/CURRENT names is missing');
  for (const log of await damagedLogs(join(dataDir, RECORDS)))
    throw damaged(dataDir, `the log records/${log} has damaged records`);
}

/** Returns the names of the logs of a database that have damaged records. */
export async function damagedLogs(location: string): Promise<string[]> {
  const found: string[] = [];
  for (const file of await readdir(location)) {
    if (!file.endsWith('.log')) continue;
    try {
      if (await isLogDamaged(join(location, file))) found.push(file);
    } catch (error) {
      // The process that owns the folder removed the log.
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  return found;
}

/** Reads the name of the manifest from CURRENT; undefined if CURRENT does not exist. */
async function currentManifest(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(dataDir, RECORDS, 'CURRENT'), 'utf8')).trimEnd();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Syncs the entries of the folders themselves, up to the first folder that existed before. */
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

/** Converts an error of LevelDB to an error for the operator. */
export async function openFailure(error: unknown, dataDir: string, lockFile: string): Promise<MillraceError> {
  if (error instanceof MillraceError) return error;
  if (hasCode(error, 'LEVEL_LOCKED')) return inUse(dataDir, lockFile);
  if (hasCode(error, 'LEVEL_CORRUPTION')) return damaged(dataDir, reasonOf(error), error);
  const reason =
    hasCode(error, 'EEXIST') || hasCode(error, 'ENOTDIR') ? 'it is not a folder' : reasonOf(error);
  return new MillraceError(
    'invalid_setting',
    `The data folder ${dataDir} cannot be used: ${reason}. ` +
      'Check that this user can write to it and that the disk has free space, or set MILLRACE_DATA_DIR to another folder',
    { cause: error },
  );
}

/** The error for a folder whose content differs from what was written to it. */
export function damaged(dataDir: string, reason: string, cause?: unknown): MillraceError {
  return new MillraceError(
    'data_folder_damaged',
    `The data folder ${dataDir} is damaged: ${reason}. ` +
      'Run millrace store repair, or restore a backup into an empty folder',
    { cause },
  );
}

/** The error for a folder whose format this version does not know. */
export function newer(dataDir: string, format: number): MillraceError {
  return new MillraceError(
    'data_folder_newer',
    `The data folder ${dataDir} has format ${format}, which a later version of Millrace wrote; ` +
      `this version reads format ${FOLDER_FORMAT}`,
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
      'If that is a running service, use it with --url http://HOST:PORT or stop it; or set MILLRACE_DATA_DIR to another folder',
    { extensions: owner === undefined ? {} : { owner_pid: owner.pid } },
  );
}

function hasCode(error: unknown, code: string): boolean {
  if (!(error instanceof Error)) return false;
  return (error as NodeJS.ErrnoException).code === code || hasCode(error.cause, code);
}

/** The message of the innermost cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}
