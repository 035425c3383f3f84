import type { EngineStore, StoredKeys, StoredValue } from '../../ground/api/store-engine.js';
import { segmentsOf, viewId } from './codec/feature-record.js';
import { EngineAdapter } from './engine-adapter.js';
import { isFeatureKey, isVersionedKey } from './keys.js';
import type { Store } from './store.js';

/**
 * What was known at the time of a clock, kept in memory above a store that is only read. Writes stay in memory. Histories
 * and counters are those that were written here; so are the records that `isOwn` names. All others are those of the store
 * below, unless they were written here.
 */
export class AsOfStore extends EngineAdapter {
  /** The ids of views whose rows are only those that were written here, as hex. */
  #ownViews: ReadonlySet<string> = new Set();

  constructor(
    private readonly below: Store,
    private readonly isOwn: (key: string) => boolean,
    now: () => number,
  ) {
    super(new MemoryEngine(), now);
  }

  /** From now on, rows of these views are only those that were written here. */
  ownViews(names: Iterable<string>): void {
    this.#ownViews = new Set(Array.from(names, (name) => viewId(name).toString('hex')));
  }

  override async read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]> {
    const own = await super.read(keys, signal);
    const others: number[] = [];
    own.forEach((record, i) => {
      const key = keys[i] as string;
      const isShared = this.#ownViews.size > 0 && isFeatureKey(key);
      if (isShared || (record === null && !isVersionedKey(key) && !this.isOwn(key))) others.push(i);
    });
    if (others.length === 0) return own;
    const found = await this.below.read(
      others.map((i) => keys[i] as string),
      signal,
    );
    others.forEach((i, at) => (own[i] = this.#merged(keys[i] as string, found[at] ?? null, own[i] ?? null)));
    return own;
  }

  /** One feature record holds several views: those that were written here, and the others of the store below. */
  #merged(key: string, below: Buffer | null, own: Buffer | null): Buffer | null {
    if (below === null || this.#ownViews.size === 0 || !isFeatureKey(key)) return own ?? below;
    const others = segmentsOf(below)
      .filter(({ start }) => !this.#ownViews.has(below.toString('hex', start + 4, start + 12)))
      .map(({ start, end }) => below.subarray(start, end));
    if (own !== null) others.unshift(own);
    return others.length === 0 ? null : Buffer.concat(others);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.below.close();
  }
}

/** Values in memory. Nothing scans them. */
class MemoryEngine implements EngineStore {
  readonly #values = new Map<string, Uint8Array>();

  read(keys: readonly string[]): Promise<(Uint8Array | null)[]> {
    return Promise.resolve(keys.map((key) => this.#values.get(key) ?? null));
  }

  write(values: readonly StoredValue[]): Promise<void> {
    for (const { key, value } of values) this.#values.set(key, value);
    return Promise.resolve();
  }

  remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#values.delete(key);
    return Promise.resolve();
  }

  update(key: string, change: (before: Uint8Array | null) => Uint8Array | null | undefined): Promise<void> {
    const after = change(this.#values.get(key) ?? null);
    if (after === null) this.#values.delete(key);
    else if (after !== undefined) this.#values.set(key, after);
    return Promise.resolve();
  }

  scan(): Promise<StoredKeys> {
    return Promise.resolve({ keys: [], cursor: undefined });
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
