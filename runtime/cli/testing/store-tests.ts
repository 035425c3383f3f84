import assert from 'node:assert/strict';
import type { EngineStore } from '../../ground/api/store-engine.js';
import { engineFaults } from '../../state/store/engine-adapter.js';
import type { ConformanceTest } from './conformance-test.js';

/** Opens an engine for a test. Every call gets the same data if `again` is true, and an empty store otherwise. */
export type OpenStore = (again: boolean) => Promise<EngineStore>;

export interface StoreTestOptions {
  /** Whether data outlives `close`. By default true. */
  readonly keeps?: boolean;
}

/** What every store engine must do. */
export function storeTests(open: OpenStore, { keeps = true }: StoreTestOptions = {}): ConformanceTest[] {
  const test = (name: string, check: (store: EngineStore) => Promise<void>): ConformanceTest => ({
    name,
    run: async () => {
      const store = await open(false);
      try {
        await check(store);
      } finally {
        await store.close();
      }
    },
  });
  const tests = [
    test('has every method of the contract', async (store) => {
      assert.deepEqual(engineFaults(store), []);
      await store.ping();
    }),
    test('reads values in the order of the keys, and null for a key without one', async (store) => {
      await store.write([entry('a', 'one'), entry('b', 'two')]);
      assert.deepEqual(texts(await store.read(['b', 'none', 'a', 'b'])), ['two', null, 'one', 'two']);
      assert.deepEqual(await store.read([]), []);
    }),
    test('keeps bytes exactly, also empty values and keys of any text', async (store) => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      const keys = ['é:*[x]', 'a/../b', '__proto__', 'constructor', ' '];
      await store.write([...keys.map((key) => ({ key, value: bytes })), entry('empty', '')]);
      for (const found of await store.read(keys)) assert.deepEqual(Buffer.from(found ?? []), bytes);
      assert.deepEqual(texts(await store.read(['empty'])), ['']);
    }),
    test('keeps its own copy of a value', async (store) => {
      const value = Buffer.from('one');
      await store.write([{ key: 'a', value }]);
      value.fill(0);
      assert.deepEqual(texts(await store.read(['a'])), ['one']);
    }),
    test('replaces and removes values', async (store) => {
      await store.write([entry('a', 'one')]);
      await store.write([entry('a', 'two'), entry('b', 'b')]);
      await store.remove(['b', 'none']);
      assert.deepEqual(texts(await store.read(['a', 'b'])), ['two', null]);
    }),
    test('updates a value by a function, and removes or leaves it', async (store) => {
      const seen: (string | null)[] = [];
      const set = (to: string | null | undefined): Promise<void> =>
        store.update('a', (before) => {
          seen.push(textOf(before));
          return typeof to === 'string' ? Buffer.from(to) : to;
        });
      await set('one');
      await set('two');
      await set(undefined);
      assert.deepEqual(texts(await store.read(['a'])), ['two']);
      await set(null);
      assert.deepEqual(texts(await store.read(['a'])), [null]);
      assert.deepEqual(seen.slice(0, 2), [null, 'one']);
    }),
    test('loses no update of one key that happens at the same time as others', async (store) => {
      const add = (): Promise<void> =>
        store.update('n', (before) => Buffer.from(String(Number(textOf(before) ?? 0) + 1)));
      await Promise.all(Array.from({ length: 50 }, add));
      assert.deepEqual(texts(await store.read(['n'])), ['50']);
    }),
    test('rejects an update whose function throws, and leaves the value', async (store) => {
      await store.write([entry('a', 'one')]);
      const failing = store.update('a', () => {
        throw new Error('no');
      });
      await assert.rejects(failing, /no/);
      assert.deepEqual(texts(await store.read(['a'])), ['one']);
      await store.update('a', () => Buffer.from('two'));
      assert.deepEqual(texts(await store.read(['a'])), ['two']);
    }),
    test('lists the keys with a start, page by page, and no other', async (store) => {
      const start = 's:*[x]:';
      const keys = Array.from({ length: 57 }, (_, i) => `${start}é${String(i)}`);
      await store.write([...keys.map((key) => entry(key, 'v')), entry('s:x:other', 'v')]);
      for (const count of [1, 10, 1000]) {
        const found = new Set<string>();
        let cursor: string | undefined;
        let pages = 0;
        do {
          const page = await store.scan(start, cursor, count);
          for (const key of page.keys) found.add(key);
          ({ cursor } = page);
          assert.ok(++pages < 1000, 'the scan does not end');
        } while (cursor !== undefined);
        assert.deepEqual([...found].sort(), [...keys].sort());
      }
    }),
  ];
  if (!keeps) return tests;
  return [
    ...tests,
    {
      name: 'keeps its values when it is closed',
      run: async () => {
        const first = await open(false);
        await first.write([entry('a', 'one')]);
        await first.close();
        const second = await open(true);
        try {
          assert.deepEqual(texts(await second.read(['a'])), ['one']);
        } finally {
          await second.close();
        }
      },
    },
  ];
}

const entry = (key: string, text: string): { key: string; value: Buffer } => ({
  key,
  value: Buffer.from(text),
});
const textOf = (value: Uint8Array | null | undefined): string | null =>
  value === null || value === undefined ? null : Buffer.from(value).toString();
const texts = (values: readonly (Uint8Array | null)[]): (string | null)[] => values.map(textOf);
