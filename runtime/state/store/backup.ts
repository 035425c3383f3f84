import { createHash } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { expiryAt } from './check-records.js';
import { segmentsOf } from './codec/feature-record.js';
import { mergedEventCodes } from './event-codes.js';
import { allKeys, eventCodesKey, isMetaKey, isVersionedKey, partsOf } from './keys.js';
import type { Store, StoreRecord } from './store.js';

/**
 * A backup file, little-endian:
 *
 *   16 bytes  "millrace-backup\n"
 *   u32       format: 1
 *   records, each: u32 length of the key, u32 length of the value, the key without its prefix in UTF-8, the value
 *   u32       0xffffffff, the end mark
 *   f64       number of records
 *   32 bytes  SHA-256 of everything before
 *
 * A record that was written during the backup may occur twice in the file; the last occurrence wins.
 */
const MAGIC = 'millrace-backup\n';
const FORMAT = 1;
const END = 0xffffffff;
const HEAD = MAGIC.length + 4;
const TAIL = 4 + 8 + 32;
const PAGE = 500;
const CHUNK = 1024 * 1024;

/** The file is not a backup, or is incomplete. */
export class BackupFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupFileError';
  }
}

/**
 * Yields all data records under a prefix, page by page. It may yield a record twice.
 * @throws as `Store.scan` and `Store.read`
 */
export async function* recordsOf(store: Store, prefix: string): AsyncGenerator<StoreRecord[]> {
  let cursor: string | undefined;
  do {
    const page = await store.scan(allKeys(prefix), cursor, PAGE);
    ({ cursor } = page);
    // Remembered event ids are of use for minutes only, and Redis keeps them as sets.
    const keys = page.keys.filter((key) => !isMetaKey(key, prefix) && partsOf(key)?.kind !== 'marks');
    const values = await store.read(keys);
    yield keys.flatMap((key, i) => {
      const value = values[i] ?? null;
      return value === null ? [] : [{ key, value }];
    });
  } while (cursor !== undefined);
}

/**
 * Writes all records under a prefix to a file. The file gets its name only when it is complete.
 * @returns number of records
 */
export async function writeBackup(store: Store, prefix: string, path: string): Promise<number> {
  const part = `${path}.part`;
  const file = await open(part, 'w');
  let count = 0;
  try {
    const hash = createHash('sha256');
    const write = async (bytes: Buffer): Promise<void> => {
      hash.update(bytes);
      await file.writeFile(bytes);
    };
    const head = Buffer.alloc(HEAD);
    head.write(MAGIC, 'latin1');
    head.writeUInt32LE(FORMAT, MAGIC.length);
    await write(head);
    for await (const records of recordsOf(store, prefix)) {
      count += records.length;
      if (records.length > 0) await write(Buffer.concat(records.flatMap((record) => framed(record, prefix))));
    }
    const end = Buffer.alloc(12);
    end.writeUInt32LE(END);
    end.writeDoubleLE(count, 4);
    await write(end);
    await file.writeFile(hash.digest());
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(part, { force: true });
    throw error;
  }
  await file.close();
  await rename(part, path);
  return count;
}

function framed({ key, value }: StoreRecord, prefix: string): Buffer[] {
  const name = Buffer.from(key.slice(allKeys(prefix).length));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(name.length);
  head.writeUInt32LE(value.length, 4);
  return [head, name, value];
}

export interface Restored {
  readonly restored: number;
  /** Number of records that have expired since the backup. */
  readonly expired: number;
}

/**
 * Stores the records of a file under a prefix: layouts first, then all other records. The bytes and the expiry time of
 * each record stay the same. The whole file is checked before any record is stored.
 * @throws BackupFileError; StoreWriteError if a write is not confirmed
 */
export async function restoreBackup(
  store: Store,
  prefix: string,
  path: string,
  now: number,
): Promise<Restored> {
  const file = await open(path, 'r');
  try {
    await checkFile(file);
    let restored = await restoreEventCodes(store, prefix, file);
    let expired = 0;
    for (const isLayouts of [true, false]) {
      for await (const all of recordsIn(file, prefix)) {
        const records = all.filter(
          ({ key }) => (partsOf(key)?.kind === 'layout') === isLayouts && key !== eventCodesKey(prefix),
        );
        const live = records.filter(({ key, value }) => expiryAt(key, value) > now);
        await storeAll(store, live);
        restored += live.length;
        expired += records.length - live.length;
      }
    }
    return { restored, expired };
  } finally {
    await file.close();
  }
}

/**
 * Restores the codes of histories. Codes that do not fit those of the store end the restore before it begins.
 * @returns the number of restored records
 */
async function restoreEventCodes(store: Store, prefix: string, file: FileHandle): Promise<number> {
  const key = eventCodesKey(prefix);
  let restored: Buffer | undefined;
  for await (const records of recordsIn(file, prefix))
    restored = records.findLast((record) => record.key === key)?.value ?? restored;
  if (restored === undefined) return 0;
  const [before = null] = await store.read([key]);
  const [outcome] = await store.swap([{ key, before, after: mergedEventCodes(before, restored) }]);
  if (outcome !== 'stored') throw new Error('the codes of kinds of feedback were written during the restore');
  return 1;
}

/** True if a store has no record under a prefix, apart from codes, which a restore can add to. */
export async function isEmpty(store: Store, prefix: string): Promise<boolean> {
  for await (const records of recordsOf(store, prefix))
    if (records.some(({ key }) => key !== eventCodesKey(prefix))) return false;
  return true;
}

/** Stores records unchanged. Expiring records are written by swaps and merges, which set their lifetime in the store. */
async function storeAll(store: Store, records: readonly StoreRecord[]): Promise<void> {
  const isLasting = ({ key, value }: StoreRecord): boolean => expiryAt(key, value) === Infinity;
  const isVersioned = ({ key }: StoreRecord): boolean => isVersionedKey(key);
  // If a record occurs twice in the batch, only the last occurrence is written.
  const unique = [...new Map(records.map((record) => [record.key, record])).values()];
  await store.write(unique.filter(isLasting));
  const expiring = unique.filter((record) => !isLasting(record));
  await store.remove(expiring.map(({ key }) => key));
  const versioned = expiring.filter(isVersioned);
  const outcomes = await store.swap(versioned.map(({ key, value }) => ({ key, before: null, after: value })));
  const changed = outcomes.filter((outcome) => outcome === 'changed').length;
  if (changed > 0)
    throw new Error(`${changed} interactions or counters were written by others during the restore`);
  // A merge prepends a new segment, so segments are merged in reverse order.
  await store.mergeSegments(
    expiring
      .filter((record) => !isVersioned(record))
      .flatMap(({ key, value }) =>
        segmentsOf(value)
          .reverse()
          .map(({ start, end }) => ({ key, segment: value.subarray(start, end) })),
      ),
  );
}

/** @throws BackupFileError if the file is not a complete backup */
async function checkFile(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const head = await read(file, 0, Math.min(HEAD, size));
  if (head.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new BackupFileError('it is not a backup of Millrace');
  const format = head.length < HEAD ? 0 : head.readUInt32LE(MAGIC.length);
  if (format !== FORMAT && format !== 0)
    throw new BackupFileError(`it has format ${format}, and this version reads format ${FORMAT}`);
  if (size < HEAD + TAIL) throw new BackupFileError('it is cut short');
  const hash = createHash('sha256');
  for (let at = 0; at < size - 32; at += CHUNK)
    hash.update(await read(file, at, Math.min(CHUNK, size - 32 - at)));
  const end = await read(file, size - TAIL, TAIL);
  if (end.readUInt32LE(0) !== END) throw new BackupFileError('it is cut short: the end mark is missing');
  if (!hash.digest().equals(end.subarray(12)))
    throw new BackupFileError('it is damaged: its checksum is wrong');
}

/** Yields the records of a checked file in batches. */
async function* recordsIn(file: FileHandle, prefix: string): AsyncGenerator<StoreRecord[]> {
  const last = (await file.stat()).size - TAIL;
  let records: StoreRecord[] = [];
  let rest = Buffer.alloc(0);
  for (let at = HEAD; at < last;) {
    const chunk = await read(file, at, Math.min(CHUNK, last - at));
    at += chunk.length;
    rest = Buffer.concat([rest, chunk]);
    let used = 0;
    while (rest.length - used >= 8) {
      const key = used + 8;
      const value = key + rest.readUInt32LE(used);
      const next = value + rest.readUInt32LE(used + 4);
      if (next > rest.length) break;
      const name = rest.toString('utf8', key, value);
      records.push({ key: allKeys(prefix) + name, value: rest.subarray(value, next) });
      used = next;
    }
    rest = rest.subarray(used);
    if (records.length > 0) yield records;
    records = [];
  }
  if (rest.length > 0) throw new BackupFileError('it is damaged: a record is cut short');
}

async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) throw new BackupFileError('it was cut short while it was read');
    done += bytesRead;
  }
  return bytes;
}
