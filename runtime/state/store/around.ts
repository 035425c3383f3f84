import { within, type SpanHolder, type TraceSpan } from '../../project/tracing/trace-span.js';
import type { Store } from './store.js';

type StoreOperation<Args extends readonly unknown[]> = {
  /** `end` is never decorated. */
  readonly kind: 'read' | 'write' | 'upkeep' | 'end';
  /** Its name in traces. */
  readonly name: string;
} & (Args extends readonly [readonly unknown[], ...unknown[]]
  ? { /** The keys of its first argument. */ readonly keys: (items: Args[0]) => readonly string[] }
  : { readonly keys?: never });

const same = (keys: readonly string[]): readonly string[] => keys;
const keysOf = (items: readonly { readonly key: string }[]): readonly string[] => items.map(({ key }) => key);

/** What decorators know of each operation of the contract. */
export const STORE_OPERATIONS: { readonly [Name in keyof Store]: StoreOperation<Parameters<Store[Name]>> } = {
  read: { kind: 'read', name: 'read', keys: same },
  readInto: { kind: 'read', name: 'read', keys: same },
  write: { kind: 'write', name: 'write', keys: keysOf },
  remove: { kind: 'write', name: 'remove', keys: same },
  mergeSegments: { kind: 'write', name: 'merge', keys: keysOf },
  swap: { kind: 'write', name: 'swap', keys: keysOf },
  mark: { kind: 'write', name: 'mark', keys: keysOf },
  marked: { kind: 'read', name: 'marked', keys: keysOf },
  sampleKeys: { kind: 'read', name: 'scan' },
  scan: { kind: 'read', name: 'scan' },
  erase: { kind: 'upkeep', name: 'erase' },
  ping: { kind: 'upkeep', name: 'ping' },
  close: { kind: 'end', name: 'close' },
};

const OPERATIONS = Object.entries(STORE_OPERATIONS) as [keyof Store, AnyOperation][];

interface AnyOperation extends Pick<StoreOperation<[]>, 'kind' | 'name'> {
  readonly keys?: (items: never) => readonly string[];
}

/** Runs one operation. @param keys undefined if it has no keys */
export type StoreHook = <T>(
  name: string,
  keys: readonly string[] | undefined,
  work: () => Promise<T>,
) => Promise<T>;

/** A store whose operations run within the hook of their kind. An operation without a hook costs nothing. */
export function around(
  store: Store,
  hooks: { readonly [Kind in 'read' | 'write' | 'upkeep']?: StoreHook },
): Store {
  const made: { [Name in keyof Store]?: unknown } = {};
  for (const [operation, { kind, name, keys }] of OPERATIONS) {
    const run = store[operation].bind(store) as (...args: readonly unknown[]) => Promise<unknown> | undefined;
    const hook = kind === 'end' ? undefined : hooks[kind];
    made[operation] =
      hook === undefined
        ? run
        : (...args: readonly [never]) => hook(name, keys?.(args[0]), async () => run(...args));
  }
  return made as Store;
}

/**
 * A store that reports the keys of every write, after the write and before its caller continues.
 * @param written called with the keys; after a failed write, with all of its keys
 */
export function watchWrites(store: Store, written: (keys: readonly string[]) => void): Store {
  return around(store, {
    write: async (_name, keys = [], work) => {
      try {
        return await work();
      } finally {
        written(keys);
      }
    },
  });
}

/** Returns the store with a span for each round trip, below the given span; the store itself if nothing is recorded. */
export function tracedStore(store: Store, span: TraceSpan | undefined): Store {
  return span?.isRecorded === true ? traceBelow(store, { span }) : store;
}

/** A store for one request. Each round trip has a span below the current span of the request. */
export function traceBelow(store: Store, holder: SpanHolder): Store {
  const trip: StoreHook = (name, keys, work) => inStoreSpan(holder, name, keys?.length, work);
  return around(store, { read: trip, write: trip, upkeep: trip });
}

/** Runs a round trip in a span of its own. @param keys their number; undefined if the operation has no keys */
export function inStoreSpan<T>(
  holder: SpanHolder | undefined,
  operation: string,
  keys: number | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const span = holder?.span?.startStore(operation, keys);
  return span === undefined ? work() : within(span, work);
}
