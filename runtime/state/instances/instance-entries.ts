import { jsonRecord, readJsonList } from '../store/codec/json-record.js';
import type { Store } from '../store/store.js';

/** Time to live of the record after the last write of any instance, in milliseconds. */
export const FORGOTTEN_AFTER = 10 * 60_000;
const MOST_TRIES = 8;

/** What an instance publishes. */
export interface InstanceEntry {
  /** Host and process id; unique among running instances. */
  readonly instance: string;
  /** When the instance last published the entry, epoch milliseconds. */
  readonly seen: number;
}

/** One record of the store, with an entry of each running instance. */
export class InstanceEntries<T extends InstanceEntry> {
  readonly #store: Store;
  readonly #key: string;
  readonly #isEntry: (value: unknown) => value is T;

  /** @param isEntry entries of another form are ignored, because another version may write them */
  constructor(store: Store, key: string, isEntry: (value: unknown) => value is T) {
    this.#store = store;
    this.#key = key;
    this.#isEntry = isEntry;
  }

  /** @throws MillraceError with a code of STORE_READ_FAILURES */
  async read(): Promise<readonly T[]> {
    const [record = null] = await this.#store.read([this.#key]);
    return this.#entriesIn(record);
  }

  /**
   * Replaces the entries by compare-and-swap.
   * @param change the new entries; called again if another instance changed the record in between
   * @returns the entries before the change
   * @throws MillraceError, StoreWriteError; Error if other instances change the record all the time
   */
  async change(now: number, change: (before: readonly T[]) => readonly T[]): Promise<readonly T[]> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [before = null] = await this.#store.read([this.#key]);
      const entries = this.#entriesIn(before);
      const after = jsonRecord(change(entries), now + FORGOTTEN_AFTER);
      const [outcome] = await this.#store.swap([{ key: this.#key, before, after }]);
      if (outcome === 'stored') return entries;
    }
    throw new Error(`other instances change ${this.#key} all the time`);
  }

  #entriesIn(record: Buffer | null): readonly T[] {
    return readJsonList(record).filter(this.#isEntry);
  }
}
