import type { Database } from './data-folder.js';
import { Digest, DIGEST_KEY, FOLDER_FORMAT } from './digest.js';
import { RecordMemory } from './record-memory.js';

/** The numbers of entries and bytes that LevelDB reads at a time, in another thread. */
const CHUNK_ENTRIES = 4096;
const CHUNK_BYTES = 4 * 1024 * 1024;

export interface LoadedRecords {
  readonly records: RecordMemory;
  readonly digest: Digest;
  /** How the records differ from those that were written; undefined if they do not. */
  readonly damage: string | undefined;
  /** How many records were written; undefined if the digest is missing or damaged. */
  readonly expected: number | undefined;
  /** The format of the folder, if it is newer than this version supports. */
  readonly laterFormat: number | undefined;
}

/** Reads all records of a database into memory, and verifies them against the digest. */
export async function loadRecords(database: Database): Promise<LoadedRecords> {
  const records = new RecordMemory();
  const digest = new Digest();
  let written: Buffer | undefined;
  const iterator = database.iterator({ fillCache: false, highWaterMarkBytes: CHUNK_BYTES });
  try {
    for (;;) {
      const entries = await iterator.nextv(CHUNK_ENTRIES);
      if (entries.length === 0) break;
      for (const [key, value] of entries) {
        if (key === DIGEST_KEY) written = value;
        else {
          records.put(key, value);
          digest.add(key, value);
        }
      }
    }
  } finally {
    await iterator.close();
  }
  const expected = written === undefined ? undefined : Digest.decode(written)?.count;
  const format = written?.[0] ?? FOLDER_FORMAT;
  const laterFormat = format > FOLDER_FORMAT ? format : undefined;
  return { records, digest, damage: damageOf(digest, written), expected, laterFormat };
}

/** A new database has no digest. */
function damageOf(found: Digest, written: Buffer | undefined): string | undefined {
  if (written === undefined) {
    return found.count === 0 ? undefined : `it has ${found.count} records but no digest of them`;
  }
  const expected = Digest.decode(written);
  if (expected === undefined) return 'its digest is damaged';
  if (expected.equals(found)) return undefined;
  return expected.count === found.count
    ? `some of its ${found.count} records differ from what was written`
    : `it should have ${expected.count} records but has ${found.count}`;
}
