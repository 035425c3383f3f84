import type { EngineStore, StoredKeys, StoredValue } from '../../../ground/api/store-engine.js';

/** The engine of the store of one case: records in memory. */
export class CaseEngine implements EngineStore {
  readonly #records = new Map<string, Uint8Array>();

  clear(): void {
    this.#records.clear();
  }

  read(keys: readonly string[]): Promise<(Uint8Array | null)[]> {
    return Promise.resolve(keys.map((key) => this.#records.get(key) ?? null));
  }

  write(values: readonly StoredValue[]): Promise<void> {
    for (const { key, value } of values) this.#records.set(key, value);
    return Promise.resolve();
  }

  remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#records.delete(key);
    return Promise.resolve();
  }

  update(key: string, change: (before: Uint8Array | null) => Uint8Array | null | undefined): Promise<void> {
    const value = change(this.#records.get(key) ?? null);
    if (value === null) this.#records.delete(key);
    else if (value !== undefined) this.#records.set(key, value);
    return Promise.resolve();
  }

  scan(start: string, cursor: string | undefined, count: number): Promise<StoredKeys> {
    const all = [...this.#records.keys()].filter((key) => key.startsWith(start)).sort();
    const left = all.filter((key) => cursor === undefined || key > cursor);
    const keys = left.slice(0, count);
    return Promise.resolve({ keys, cursor: left.length > count ? keys.at(-1) : undefined });
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
