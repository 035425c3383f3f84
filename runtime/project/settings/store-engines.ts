/** What is known of a store engine before it is opened. Code asks for these, and never compares the engine's name. */
export interface EngineTraits {
  /** How messages call it. */
  readonly called: string;
  /** Whether several processes can use it at the same time. */
  readonly isShared: boolean;
  /** Whether its server is Redis, which the settings REDIS_… describe. */
  readonly isRedis: boolean;
  /** Whether its records are Millrace's own files in the data folder, which can be checked and repaired while it is closed. */
  readonly isFolder: boolean;
}

/** The store engines of Millrace itself, by the values of the setting `store`. A package of plugins can bring others. */
export const OWN_ENGINES = {
  redis: { called: 'Redis', isShared: true, isRedis: true, isFolder: false },
  embedded: { called: 'an embedded store', isShared: false, isRedis: false, isFolder: true },
} as const satisfies Readonly<Record<string, EngineTraits>>;

export type OwnEngine = keyof typeof OWN_ENGINES;
export const STORE_ENGINES = Object.keys(OWN_ENGINES) as readonly OwnEngine[];

export function isOwnEngine(store: string): store is OwnEngine {
  return Object.hasOwn(OWN_ENGINES, store);
}

/** @param isShared of the package, if the engine is not one of Millrace's own */
export function traitsOf(store: string, isShared = false): EngineTraits {
  return isOwnEngine(store)
    ? OWN_ENGINES[store]
    : { called: `the store ${store}`, isShared, isRedis: false, isFolder: false };
}
