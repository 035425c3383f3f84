import { instancesKey } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { FORGOTTEN_AFTER, InstanceEntries, type InstanceEntry } from './instance-entries.js';

/** The most instances, and the most characters of the JSON of one. */
const MOST_INSTANCES = 200;
const LONGEST = 16 * 1024;

/** The last state of each instance, so that every process can show all of them. A silent one is forgotten. */
export class InstanceBoard<T extends InstanceEntry> {
  readonly #entries: InstanceEntries<InstanceEntry>;

  /** @param prefix start of every store key */
  constructor(store: Store, prefix: string) {
    this.#entries = new InstanceEntries(store, instancesKey(prefix), isTold);
  }

  /** What all instances said last. @throws MillraceError with a code of STORE_READ_FAILURES */
  async list(now: number): Promise<readonly T[]> {
    return heard(await this.#entries.read(), now) as readonly T[];
  }

  /**
   * Replaces what an instance said.
   * @param told null: the instance has ended @throws as `InstanceEntries.change`
   */
  async tell(instance: string, told: T | null, now: number): Promise<void> {
    const own = told === null || JSON.stringify(told).length > LONGEST ? [] : [told];
    await this.#entries.change(now, (before) => {
      const others = heard(before, now).filter((one) => one.instance !== instance);
      const latest = others.toSorted((a, b) => b.seen - a.seen).slice(0, MOST_INSTANCES - own.length);
      return [...own, ...latest];
    });
  }
}

function heard(entries: readonly InstanceEntry[], now: number): readonly InstanceEntry[] {
  return entries.filter(({ seen }) => now - seen < FORGOTTEN_AFTER);
}

function isTold(value: unknown): value is InstanceEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { instance, seen } = value as Partial<Record<keyof InstanceEntry, unknown>>;
  return typeof instance === 'string' && typeof seen === 'number';
}
