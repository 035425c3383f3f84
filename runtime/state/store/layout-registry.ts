import { layoutKey } from './keys.js';
import { knownLayouts, type KnownLayouts } from './codec/known-layouts.js';
import { parseLayout, type RecordLayout } from './codec/record-layout.js';
import type { Store, StoreRecord } from './store.js';

/** Minimum time between two lookups of a missing layout, in milliseconds. */
const ASK_AGAIN = 1000;

/** The record layouts of a store. */
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
   * The record of a layout. Write it before the first record of every batch that uses the layout, because the store may
   * have been flushed or may have evicted it.
   */
  record(layout: RecordLayout): StoreRecord {
    this.#known.add(layout);
    return { key: layoutKey(this.#prefix, layout.hex), value: Buffer.from(layout.text) };
  }

  get(hex: string): RecordLayout | undefined {
    return this.#known.get(hex);
  }

  /**
   * Reads the unknown layouts in one round trip. Layouts that are missing from the store stay unknown, and their records
   * read as failed.
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

/** Decodes a layout; undefined if it is damaged (its text does not match its id) or has a newer format. */
function readLayout(record: Buffer | null, hex: string): RecordLayout | undefined {
  if (record === null) return undefined;
  try {
    const layout = parseLayout(record.toString());
    return layout.hex === hex ? layout : undefined;
  } catch {
    return undefined;
  }
}
