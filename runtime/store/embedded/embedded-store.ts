import { MillraceError } from '../../api/errors.js';
import {
  StoreWriteError,
  type SegmentOutcome,
  type SegmentWrite,
  type Store,
  type StoreRecord,
} from '../store.js';
import { openDataFolder, type DataFolder } from './data-folder.js';
import { WriteQueue, type Change } from './write-queue.js';

export interface EmbeddedSettings {
  /** Made if it is not there. */
  readonly dataDir: string;
  /** Whether a write is acknowledged only when the disk has it, so as to survive a power loss. */
  readonly sync?: boolean;
}

/**
 * Opens the store in this process: all records in memory, and on disk in LevelDB.
 * @throws MillraceError data_folder_in_use, invalid_setting
 */
export async function openEmbeddedStore({ dataDir, sync = false }: EmbeddedSettings): Promise<Store> {
  const folder = await openDataFolder(dataDir);
  const records = new Map<string, Buffer>();
  try {
    for await (const [key, value] of folder.database.iterator({ fillCache: false })) records.set(key, value);
  } catch (error) {
    await folder.release();
    throw new MillraceError(
      'invalid_setting',
      `The data folder ${dataDir} cannot be read: ${String(error)}`,
      {
        cause: error,
      },
    );
  }
  return new EmbeddedStore(folder, records, sync);
}

class EmbeddedStore implements Store {
  readonly engine = 'embedded';
  readonly #folder: DataFolder;
  readonly #records: Map<string, Buffer>;
  readonly #queue: WriteQueue;
  #closed = false;

  constructor(folder: DataFolder, records: Map<string, Buffer>, sync: boolean) {
    this.#folder = folder;
    this.#records = records;
    this.#queue = new WriteQueue(folder.database, records, sync);
  }

  read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    if (this.#closed) return Promise.reject(closedError());
    const found = new Array<Buffer | null>(keys.length);
    for (let i = 0; i < keys.length; i++) found[i] = this.#records.get(keys[i] as string) ?? null;
    return Promise.resolve(found);
  }

  async write(records: readonly StoreRecord[]): Promise<void> {
    await this.#commit(records.map(({ key, value }) => ({ kind: 'put', key, value })));
  }

  async remove(keys: readonly string[]): Promise<void> {
    await this.#commit(keys.map((key) => ({ kind: 'remove', key })));
  }

  async mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    return this.#commit(segments.map(({ key, segment }) => ({ kind: 'merge', key, segment })));
  }

  async #commit(changes: readonly Change[]): Promise<SegmentOutcome[]> {
    try {
      if (this.#closed) throw closedError();
      return await this.#queue.commit(changes);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StoreWriteError(
        `The embedded store could not write: ${reason}`,
        changes.map(() => false),
        { cause: error },
      );
    }
  }

  ping(): Promise<void> {
    return this.#closed ? Promise.reject(closedError()) : Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#queue.idle();
    await this.#folder.release();
    this.#records.clear();
  }
}

function closedError(): MillraceError {
  return new MillraceError('store_unavailable', 'The embedded store is closed');
}
