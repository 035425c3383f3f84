import { cp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { MillraceError } from '../../../ground/api/errors.js';
import { checkRecord, layoutAtKey } from '../check-records.js';
import type { RecordLayout } from '../codec/record-layout.js';
import {
  damaged,
  damagedLogs,
  finishReplacement,
  newer,
  openDatabase,
  openDataFolder,
  reasonOf,
  RECORDS,
  REPAIRED,
  type Database,
} from './data-folder.js';
import { DIGEST_KEY, Digest } from './digest.js';
import { loadRecords, type LoadedRecords } from './load-records.js';
import type { RecordMemory } from './record-memory.js';

/** The readable content of a data folder, which may be damaged. */
export interface Inspection {
  readonly records: RecordMemory;
  /** A description of the damage; undefined if all records match the digest. */
  readonly damage: string | undefined;
}

/**
 * Reads all readable records of a data folder without changing it.
 * @throws MillraceError data_folder_in_use, data_folder_newer; data_folder_damaged if no record can be read
 */
export async function inspectFolder(dataDir: string): Promise<Inspection> {
  const folder = await openDataFolder(dataDir, false);
  try {
    const loaded = await loadRecords(folder.database);
    if (loaded.laterFormat !== undefined) throw newer(dataDir, loaded.laterFormat);
    return loaded;
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    throw damaged(dataDir, reasonOf(error), error);
  } finally {
    await folder.release();
  }
}

export interface Repair {
  readonly kept: number;
  /** The number of lost records; undefined if the original number is unknown. */
  readonly lost: number | undefined;
  /** The keys of records that were read but are damaged. */
  readonly damagedKeys: readonly string[];
  /** The folder that contains the original database. */
  readonly aside: string;
}

/**
 * Rebuilds the database of a data folder from its readable records. It repairs a copy. The original database is never
 * changed, and stays in the data folder under another name.
 * @param stamp suffix of the folder name of the original database
 * @throws MillraceError data_folder_in_use
 */
export async function repairFolder(dataDir: string, stamp: string): Promise<Repair> {
  const [records, repaired] = [join(dataDir, RECORDS), join(dataDir, REPAIRED)];
  const copy = join(dataDir, 'records.copy');
  const aside = join(dataDir, `records.damaged-${stamp}`);
  if (await exists(dataDir)) await finishReplacement(dataDir);
  if (!(await exists(records))) {
    if (!(await exists(repaired))) throw damaged(dataDir, 'it has no records');
    await rename(repaired, records); // an earlier repair was interrupted before its last rename
  }
  await rm(copy, { recursive: true, force: true });
  await rm(repaired, { recursive: true, force: true });
  const logs = await damagedLogs(records);
  await cp(records, copy, { recursive: true });
  await ClassicLevel.repair(copy);
  const found = await readCopy(copy);
  const { kept, damagedKeys } = soundRecords(found.records);
  await writeSound(repaired, found.records, kept);
  await rm(copy, { recursive: true, force: true });
  await rename(records, aside);
  await rename(repaired, records);
  const { expected } = found;
  // The digest does not cover the writes of a damaged log, so the number of lost records is unknown.
  const lost = expected === undefined || logs.length > 0 ? undefined : Math.max(0, expected - kept.length);
  return { kept: kept.length, lost, damagedKeys, aside };
}

async function readCopy(copy: string): Promise<LoadedRecords> {
  const database = openDatabase(copy);
  try {
    await database.open();
    return await loadRecords(database);
  } finally {
    await database.close();
  }
}

/** Splits the keys of the records: readable records are kept, damaged records are reported. */
function soundRecords(records: RecordMemory): { readonly kept: string[]; readonly damagedKeys: string[] } {
  const layouts = new Map<string, RecordLayout>();
  for (const key of records.keys()) {
    const layout = layoutAtKey(key, records.get(key) ?? Buffer.alloc(0));
    if (layout !== undefined) layouts.set(layout.hex, layout);
  }
  const kept: string[] = [];
  const damagedKeys: string[] = [];
  for (const key of records.keys()) {
    const record = records.get(key) ?? Buffer.alloc(0);
    const { problem } = checkRecord(key, record, layouts, new Map());
    (problem === undefined ? kept : damagedKeys).push(key);
  }
  return { kept, damagedKeys };
}

async function writeSound(location: string, records: RecordMemory, keys: readonly string[]): Promise<void> {
  const database: Database = openDatabase(location);
  await database.open();
  try {
    const digest = new Digest();
    for (let from = 0; from < keys.length; from += 1000) {
      const batch = database.batch();
      for (const key of keys.slice(from, from + 1000)) {
        const value = records.get(key) ?? Buffer.alloc(0);
        digest.add(key, value);
        batch.put(key, value);
      }
      await batch.write();
    }
    await database.batch().put(DIGEST_KEY, digest.encode()).write({ sync: true });
  } finally {
    await database.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
