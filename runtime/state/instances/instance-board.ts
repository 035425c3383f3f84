import { newVersioned, VERSIONED_HEAD } from '../store/codec/versioned-record.js';
import { instancesKey } from '../store/keys.js';
import type { Store } from '../store/store.js';

/** After so many milliseconds of silence, an instance is forgotten; it says something every few seconds. */
const FORGOTTEN_AFTER = 10 * 60_000;
/** The most instances, and the most bytes of one. */
const MOST_INSTANCES = 200;
const MOST_BYTES = 16 * 1024;
const MOST_TRIES = 8;

/** What an instance says of itself. */
export interface Told {
  readonly instance: string;
  /** When, epoch milliseconds. */
  readonly seen: number;
}

/** One record of the store in which each instance says how it is, so that every process can show all of them. */
export class InstanceBoard<T extends Told> {
  readonly #store: Store;
  readonly #key: string;

  /** @param prefix start of every store key */
  constructor(store: Store, prefix: string) {
    this.#store = store;
    this.#key = instancesKey(prefix);
  }

  /** What all instances said last. @throws MillraceError with a code of STORE_READ_FAILURES */
  async list(now: number): Promise<readonly T[]> {
    const [record = null] = await this.#store.read([this.#key]);
    return toldIn(record, now) as readonly T[];
  }

  /**
   * Replaces what an instance said.
   * @param told null: the instance has ended @throws MillraceError, StoreWriteError
   */
  async tell(instance: string, told: T | null, now: number): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [before = null] = await this.#store.read([this.#key]);
      const others = toldIn(before, now).filter((one) => one.instance !== instance);
      const own = told === null || JSON.stringify(told).length > MOST_BYTES ? [] : [told];
      const latest = others.toSorted((a, b) => b.seen - a.seen).slice(0, MOST_INSTANCES - own.length);
      const text = Buffer.from(JSON.stringify([...own, ...latest]));
      const after = newVersioned(VERSIONED_HEAD + text.length, now + FORGOTTEN_AFTER);
      text.copy(after, VERSIONED_HEAD);
      const [outcome] = await this.#store.swap([{ key: this.#key, before, after }]);
      if (outcome === 'stored') return;
    }
  }
}

/** Entries of another form are ignored: another version may write them. */
function toldIn(record: Buffer | null, now: number): readonly Told[] {
  if (record === null) return [];
  try {
    const list: unknown = JSON.parse(record.toString('utf8', VERSIONED_HEAD));
    return Array.isArray(list)
      ? list.filter((one): one is Told => isTold(one) && now - one.seen < FORGOTTEN_AFTER)
      : [];
  } catch {
    return [];
  }
}

function isTold(value: unknown): value is Told {
  if (typeof value !== 'object' || value === null) return false;
  const { instance, seen } = value as Partial<Record<keyof Told, unknown>>;
  return typeof instance === 'string' && typeof seen === 'number';
}
