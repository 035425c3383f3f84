/**
 * The contract of a store engine: where entities and features are kept. Millrace has two engines of its own; a package
 * can bring another, which the setting `store` names. The engine keeps bytes under keys. Millrace makes everything else
 * of it: records, feature rows, histories.
 */
/** A key with its value. */
export interface StoredValue {
  readonly key: string;
  readonly value: Uint8Array;
}

/** A page of keys. */
export interface StoredKeys {
  readonly keys: readonly string[];
  /** Pass it to get the next page; undefined if this is the last page. */
  readonly cursor: string | undefined;
}

/**
 * An open store. A method that rejects answers its request with `store_unavailable`; the service stays in service.
 * Keys are texts of at most 1 KiB, values have at most a few MiB.
 */
export interface EngineStore {
  /** Reads values, in the order of the keys; null for a key without a value. @param signal aborts at the deadline */
  read(keys: readonly string[], signal?: AbortSignal): Promise<readonly (Uint8Array | null)[]>;
  /**
   * Replaces values. When it resolves, every later `read` sees them. Each value is stored completely or not at all. The
   * first value is stored before the others.
   */
  write(values: readonly StoredValue[]): Promise<void>;
  /** Removes values; a key without a value is not an error. */
  remove(keys: readonly string[]): Promise<void>;
  /**
   * Replaces the value of a key by what `change` makes of it, atomically: no other write to the key happens in between.
   * `change` may be called again if one did. It returns null to remove the value, and undefined to leave it.
   */
  update(key: string, change: (before: Uint8Array | null) => Uint8Array | null | undefined): Promise<void>;
  /**
   * Lists the keys that begin with a text, page by page, in any order. A key that exists during the whole scan is listed
   * at least once.
   * @param count about how many keys a page should have
   */
  scan(start: string, cursor: string | undefined, count: number): Promise<StoredKeys>;
  /** Removes what is left of removed and replaced values from files that the engine owns. */
  erase?(): Promise<void>;
  /** Resolves if the store answers and accepts writes. */
  ping(): Promise<void>;
  /** Releases connections and files. Values that were acknowledged are kept. */
  close(): Promise<void>;
}

/** What an engine gets when it is opened. */
export interface StoreEngineContext {
  /** The folder for data of this service: the setting `data_dir`. */
  readonly dataDir: string;
  /** Reads an environment variable, for addresses and secrets. */
  readonly env: (name: string) => string | undefined;
  /** Reports something that the operator should know. It must not contain secrets. */
  readonly warn: (message: string) => void;
}

export interface StoreEnginePlugin {
  /** The value of the setting `store`. */
  readonly name: string;
  /** One line, for messages. */
  readonly summary: string;
  /**
   * Whether other processes may write to the same store. Millrace then keeps no decoded entities in process, because it
   * would not learn of their writes.
   */
  readonly isShared?: boolean;
  /** @throws Error if the store cannot be opened; the service then does not start */
  open(context: StoreEngineContext): Promise<EngineStore>;
}

/** Gives a store engine its type. */
export function defineStoreEngine(engine: StoreEnginePlugin): StoreEnginePlugin {
  return engine;
}
