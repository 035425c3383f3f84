import {
  defineStoreEngine,
  type EngineStore,
  type StoredValue,
} from '../../runtime/ground/api/store-engine.js';

/** A store engine in memory, written against the contract for packages. */
export class ToyEngine implements EngineStore {
  constructor(private readonly values = new Map<string, Buffer>()) {}

  read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    return Promise.resolve(keys.map((key) => this.values.get(key) ?? null));
  }

  write(values: readonly StoredValue[]): Promise<void> {
    for (const { key, value } of values) this.values.set(key, Buffer.from(value));
    return Promise.resolve();
  }

  remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.values.delete(key);
    return Promise.resolve();
  }

  async update(
    key: string,
    change: (before: Uint8Array | null) => Uint8Array | null | undefined,
  ): Promise<void> {
    const after = change(this.values.get(key) ?? null);
    if (after === null) await this.remove([key]);
    else if (after !== undefined) await this.write([{ key, value: after }]);
  }

  scan(
    start: string,
    cursor: string | undefined,
    count: number,
  ): Promise<{ keys: string[]; cursor: string | undefined }> {
    const keys = [...this.values.keys()].filter((key) => key.startsWith(start)).sort();
    const left = cursor === undefined ? keys : keys.filter((key) => key > cursor);
    const page = left.slice(0, count);
    return Promise.resolve({ keys: page, cursor: left.length > count ? page.at(-1) : undefined });
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

export const toyEngine = defineStoreEngine({
  name: 'toy',
  summary: 'Keeps everything in memory.',
  open: () => Promise.resolve(new ToyEngine()),
});
