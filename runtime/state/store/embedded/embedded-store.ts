import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoreFailure } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';
import type { RecordBatch } from '../codec/record-batch.js';
import {
  CursorError,
  StoreWriteError,
  type Erasure,
  type KeyPage,
  type MarkedIds,
  type Marks,
  type RecordSwap,
  type SegmentOutcome,
  type SegmentWrite,
  type Store,
  type StoreRecord,
  type SwapOutcome,
} from '../store.js';
import { damaged, newer, openDataFolder, reasonOf, type DataFolder } from './data-folder.js';
import { probeKey } from '../keys.js';
import { recordKeysOf, recordsOfMarks, remembers, swapUnmarked } from '../marks.js';
import { loadRecords } from './load-records.js';
import { scanKeys } from './scan-keys.js';
import type { RecordMemory } from './record-memory.js';
import { WriteQueue, type Change, type Outcome } from './write-queue.js';

/** The number of keys that are compared in one turn of the event loop. */
const LOOKS = 5000;

export interface EmbeddedSettings {
  /** Created if it does not exist. */
  readonly dataDir: string;
  /** Whether a write is acknowledged only after it is synced to disk, so that it survives a power loss. */
  readonly sync?: boolean;
}

/**
 * Opens the store in this process: all records in memory, and on disk in LevelDB.
 * @throws MillraceError data_folder_in_use, data_folder_damaged, invalid_setting
 */
export async function openEmbeddedStore({ dataDir, sync = false }: EmbeddedSettings): Promise<Store> {
  const folder = await openDataFolder(dataDir, sync);
  try {
    const { records, digest, damage, laterFormat } = await loadRecords(folder.database);
    if (laterFormat !== undefined) throw newer(dataDir, laterFormat);
    if (damage !== undefined) throw damaged(dataDir, damage);
    return new EmbeddedStore(folder, records, new WriteQueue(folder, records, digest, sync));
  } catch (error) {
    await folder.release();
    // At this point the folder is open, so anything that LevelDB cannot read is damage.
    throw error instanceof MillraceError ? error : damaged(dataDir, reasonOf(error), error);
  }
}

class EmbeddedStore implements Store {
  readonly #folder: DataFolder;
  readonly #records: RecordMemory;
  readonly #queue: WriteQueue;
  #closed = false;
  /** The reason why the last write failed; undefined if it succeeded. */
  #failure: StoreWriteError | undefined;
  /** The rewrite in progress, and the one that starts after it for all callers in the meantime. */
  #erasing: Promise<void> | undefined;
  #eraseNext: Promise<void> | undefined;

  constructor(folder: DataFolder, records: RecordMemory, queue: WriteQueue) {
    this.#folder = folder;
    this.#records = records;
    this.#queue = queue;
  }

  read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    if (this.#closed) return Promise.reject(closedError());
    const found = new Array<Buffer | null>(keys.length);
    for (let i = 0; i < keys.length; i++) found[i] = this.#records.get(keys[i] as string) ?? null;
    return Promise.resolve(found);
  }

  readInto(keys: readonly string[], batch: RecordBatch, first: number): Promise<void> | undefined {
    if (this.#closed) return Promise.reject(closedError());
    for (let i = 0; i < keys.length; i++) {
      const record = this.#records.get(keys[i] as string) ?? null;
      batch.put(first + i, record, 0, record === null ? 0 : record.length);
    }
    return undefined;
  }

  async write(records: readonly StoreRecord[]): Promise<void> {
    await this.#commit({ kind: 'put', of: records });
  }

  async remove(keys: readonly string[]): Promise<void> {
    await this.#commit({ kind: 'remove', of: keys });
  }

  async mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    return (await this.#commit({ kind: 'merge', of: segments })) as SegmentOutcome[];
  }

  swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    return swapUnmarked(
      swaps,
      this,
      (free) => this.#commit({ kind: 'swap', of: free }) as Promise<SwapOutcome[]>,
    );
  }

  async mark(marks: readonly Marks[]): Promise<void> {
    await this.#commit({ kind: 'put', of: recordsOfMarks(marks) });
  }

  marked(sets: readonly MarkedIds[]): Promise<boolean[][]> {
    if (this.#closed) return Promise.reject(closedError());
    const now = Date.now();
    const isMarked = (key: string): boolean => remembers(this.#records.get(key), now);
    return Promise.resolve(sets.map((set) => recordKeysOf(set).map(isMarked)));
  }

  async #commit(change: Change): Promise<Outcome[]> {
    try {
      if (this.#closed) throw closedError();
      const outcomes = await this.#queue.commit(change);
      this.#failure = undefined;
      return outcomes;
    } catch (error) {
      this.#failure = new StoreWriteError(
        `The embedded store could not write: ${reasonOf(error)}`,
        change.of.map(() => false),
        failureOf(reasonOf(error)),
        { cause: error },
      );
      throw this.#failure;
    }
  }

  async sampleKeys(start: string, most: number, signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    let looked = 0;
    for (const key of this.#records.keys()) {
      if (found.length === most || signal.aborted || this.#closed) break;
      if (key.startsWith(start)) found.push(key);
      if (++looked % LOOKS === 0) await nextTurn();
    }
    return found;
  }

  async scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    if (this.#closed) throw closedError();
    if (cursor !== undefined && !cursor.startsWith(start))
      throw new CursorError('the cursor is of another scan');
    for (;;) {
      await this.#folder.replacing;
      const { database } = this.#folder;
      try {
        const keys = await scanKeys(database, start, cursor, count);
        return { keys, cursor: keys.length < count ? undefined : keys.at(-1) };
      } catch (error) {
        if (this.#folder.replacing !== undefined || database !== this.#folder.database) continue;
        const detail = `The embedded store could not list its keys: ${reasonOf(error)}`;
        throw new MillraceError('store_unavailable', detail, { cause: error });
      }
    }
  }

  async erase(): Promise<Erasure> {
    if (this.#closed) throw closedError();
    try {
      await this.#rewrite();
      return { files: 'rewritten', copies: await this.#folder.copies() };
    } catch (error) {
      const detail = `The embedded store could not rewrite its files: ${reasonOf(error)}`;
      throw new MillraceError(failureOf(reasonOf(error)), detail, { cause: error });
    }
  }

  /** A rewrite in progress may have copied a record before it was removed, so a later call needs another one. */
  #rewrite(): Promise<void> {
    if (this.#erasing === undefined)
      return (this.#erasing = this.#queue.rewriteAll().finally(() => (this.#erasing = undefined)));
    return (this.#eraseNext ??= this.#erasing
      .catch(() => undefined)
      .then(() => {
        this.#eraseNext = undefined;
        return this.#rewrite();
      }));
  }

  async ping(): Promise<void> {
    if (this.#closed) throw closedError();
    if (this.#failure === undefined) return;
    // No record has this key, so this writes only the digest.
    await this.remove([probeKey('', 0)]).catch((error: unknown) => {
      const { code, message } = error as StoreWriteError;
      throw new MillraceError(code, message, { cause: error });
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#queue.stop();
    await this.#erasing?.catch(() => undefined);
    await this.#folder.release();
    this.#records.clear();
  }
}

/** Classifies an error of LevelDB. LevelDB reports errors of the operating system only as text. */
function failureOf(reason: string): StoreFailure {
  if (/ENOSPC|EDQUOT|no space left|quota exceeded/i.test(reason)) return 'store_disk_full';
  return /EROFS|read-only file system/i.test(reason) ? 'store_read_only' : 'store_unavailable';
}

function closedError(): MillraceError {
  return new MillraceError('store_unavailable', 'The embedded store is closed');
}
