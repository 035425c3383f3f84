import { expect } from 'chai';
import {
  around,
  STORE_OPERATIONS,
  watchWrites,
  type StoreHook,
} from '../../../../runtime/state/store/around.js';
import type { Store } from '../../../../runtime/state/store/store.js';
import { MemoryStore } from '../../../support/memory-store.js';

const OPERATIONS = Object.entries(STORE_OPERATIONS) as [
  keyof Store,
  { readonly kind: string; readonly name: string; readonly keys?: unknown },
][];

/** A store that answers every operation with the operation and its arguments. */
const echo = Object.fromEntries(
  OPERATIONS.map(([name]) => [name, (...args: unknown[]) => Promise.resolve([name, ...args])]),
) as unknown as Record<keyof Store, (...args: unknown[]) => Promise<unknown>>;

describe('around a store', () => {
  for (const [operation, { kind, name, keys }] of OPERATIONS)
    it(`runs ${operation} within the hook of its kind, with its keys and its arguments`, async () => {
      const calls: unknown[] = [];
      const hookOf =
        (of: string): StoreHook =>
        (called, given, work) => {
          calls.push([of, called, given]);
          return work();
        };
      const hooks = { read: hookOf('read'), write: hookOf('write'), upkeep: hookOf('upkeep') };
      const store = around(echo as unknown as Store, hooks) as unknown as typeof echo;
      const first =
        keys === undefined
          ? 'start'
          : /^(read|readInto|remove)$/.test(operation)
            ? ['a', 'b']
            : [{ key: 'a' }, { key: 'b' }];
      expect(await store[operation](first, 1, 2)).to.deep.equal([operation, first, 1, 2]);
      const expected = [kind, name, keys === undefined ? undefined : ['a', 'b']];
      expect(calls).to.deep.equal(kind === 'end' ? [] : [expected]);
    });

  it('knows every operation that an engine has', () => {
    const methods = Object.getOwnPropertyNames(MemoryStore.prototype).filter(
      (name) => name !== 'constructor',
    );
    expect(OPERATIONS.map(([name]) => name)).to.have.members(methods);
  });

  it('reports the keys of a write that fails, before its caller continues', async () => {
    const store = new MemoryStore();
    store.failing = (position) => position === 1;
    const seen: string[] = [];
    const watched = watchWrites(store, (keys) => seen.push(...keys));
    const records = ['a', 'b'].map((key) => ({ key, value: Buffer.from(key) }));
    await watched.write(records).catch(() => seen.push('failed'));
    await watched.read(['a']);
    expect(seen).to.deep.equal(['a', 'b', 'failed']);
  });
});
