import { strict as assert } from 'node:assert';
import type { Recipe } from './recipe.js';

interface Engines {
  readonly STORE_ENGINES: readonly string[];
}

const STORE = `import { EngineAdapter } from '../engine-adapter.js';
import type { Store } from '../store.js';

/** A store in memory, which ends with its process. */
export function openMemoryStore(): Store {
  const values = new Map<string, Buffer>();
  return new EngineAdapter({
    read: (keys) => Promise.resolve(keys.map((key) => values.get(key) ?? null)),
    write(entries) {
      for (const { key, value } of entries) values.set(key, Buffer.from(value));
      return Promise.resolve();
    },
    remove(keys) {
      for (const key of keys) values.delete(key);
      return Promise.resolve();
    },
    update(key, change) {
      const after = change(values.get(key) ?? null);
      if (after === null) values.delete(key);
      else if (after !== undefined) values.set(key, Buffer.from(after));
      return Promise.resolve();
    },
    scan: (start, cursor, count) => {
      const keys = [...values.keys()].filter((key) => key.startsWith(start)).sort();
      const from = cursor === undefined ? 0 : keys.findIndex((key) => key > cursor);
      const page = from < 0 ? [] : keys.slice(from, from + count);
      const last = page.at(-1);
      return Promise.resolve({ keys: page, cursor: last === keys.at(-1) ? undefined : last });
    },
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  });
}
`;
const TEST = `import { openMemoryStore } from '../../runtime/state/store/memory/memory-store.js';
import { storeContract } from './store.js';

storeContract('memory', {
  start: () => Promise.resolve(),
  open: () => Promise.resolve(openMemoryStore()),
  stop: () => Promise.resolve(),
});
`;

export const storeEngine: Recipe = {
  title: 'A store engine',
  most: 3,
  edits: [
    { file: 'runtime/state/store/memory/memory-store.ts', put: STORE },
    {
      file: 'runtime/serve/app/container/store-engines.ts',
      find: '  embedded: async ({ dataDir',
      put: '  memory: () => Promise.resolve(onlyWriter(openMemoryStore())),\n  embedded: async ({ dataDir',
    },
    {
      file: 'runtime/serve/app/container/store-engines.ts',
      find: 'import { connectRedisStore }',
      put: "import { openMemoryStore } from '../../../state/store/memory/memory-store.js';\nimport { connectRedisStore }",
    },
    {
      file: 'runtime/project/settings/store-engines.ts',
      find: '} as const satisfies',
      put: "  memory: { called: 'a store in memory', isShared: false, isRedis: false, isFolder: false },\n} as const satisfies",
    },
    { file: 'test/contract/memory-store.test.ts', put: TEST },
  ],
  tests: ['test/contract/memory-store.test.js'],
  async check(load) {
    const { STORE_ENGINES } = (await load('runtime/project/settings/store-engines.js')) as Engines;
    assert.equal(STORE_ENGINES.includes('memory'), true);
  },
};
