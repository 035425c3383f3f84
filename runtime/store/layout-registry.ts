import { layoutKey } from './keys.js';
import { knownLayouts, type KnownLayouts } from './codec/known-layouts.js';
import { parseLayout, type RecordLayout } from './codec/record-layout.js';
import type { Store, StoreRecord } from './store.js';

/** How long a layout that the store does not have is not asked for again, in milliseconds. */
const ASK_AGAIN = 1000;

/** The layouts of a store: under which its records were written. */
export class LayoutRegistry {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #known: KnownLayouts;
  readonly #reading = new Map<string, Promise<void>>();
  readonly #missing = new Map<string, number>();

  constructor(store: Store, prefix: string, known: KnownLayouts = knownLayouts) {
    this.#store = store;
    this.#prefix = prefix;
    this.#known = known;
  }

  /**
   * The record that keeps a layout in the store. It goes before the first record of each batch that uses the layout,
   * and not just before the first of all: a store that was emptied or evicts keys must not lose it.
   */
  record(layout: RecordLayout): StoreRecord {
    this.#known.add(layout);
    return { key: layoutKey(this.#prefix, layout.hex), value: Buffer.from(layout.text) };
  }

  get(hex: string): RecordLayout | undefined {
    return this.#known.get(hex);
  }

  /**
   * Reads the layouts that this process does not know, in one round trip. Those that the store does not have stay
   * unknown; records under them read as failed.
   * @throws MillraceError store_unavailable
   */
  async resolve(hexIds: Iterable<string>): Promise<void> {
    const now = performance.now();
    const waiting = new Set<Promise<void>>();
    const toRead: string[] = [];
    for (const hex of new Set(hexIds)) {
      if (this.#known.get(hex) !== undefined || now - (this.#missing.get(hex) ?? -Infinity) < ASK_AGAIN)
        continue;
      const reading = this.#reading.get(hex);
      if (reading === undefined) toRead.push(hex);
      else waiting.add(reading);
    }
    if (toRead.length > 0) {
      const reading = this.#read(toRead).finally(() => {
        for (const hex of toRead) this.#reading.delete(hex);
      });
      for (const hex of toRead) this.#reading.set(hex, reading);
      waiting.add(reading);
    }
    await Promise.all(waiting);
  }

  async #read(hexIds: readonly string[]): Promise<void> {
    const records = await this.#store.read(hexIds.map((hex) => layoutKey(this.#prefix, hex)));
    hexIds.forEach((hex, i) => {
      const layout = readLayout(records[i] ?? null, hex);
      if (layout === undefined) this.#missing.set(hex, performance.now());
      else {
        this.#missing.delete(hex);
        this.#known.add(layout);
      }
    });
  }
}

/** A layout whose text does not give its id is damaged, and one of a later format is not for this version. */
function readLayout(record: Buffer | null, hex: string): RecordLayout | undefined {
  if (record === null) return undefined;
  try {
    const layout = parseLayout(record.toString());
    return layout.hex === hex ? layout : undefined;
  } catch {
    return undefined;
  }
}
