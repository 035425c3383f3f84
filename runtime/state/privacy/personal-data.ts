import type { EntityType } from '../../project/config/model/entities.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type { KeyParts } from '../store/keys.js';
import type { Store } from '../store/store.js';

/** Entities to forget. */
export interface Forgotten {
  readonly type: string;
  readonly ids: ReadonlySet<string>;
}

/** What an implementation may use. */
export interface PrivacyParts {
  readonly store: Store;
  /** Prefix of every store key. */
  readonly prefix: string;
  readonly types: ReadonlyMap<string, EntityType>;
  readonly views: ReadonlyMap<string, FeatureView>;
  /** Where the file sink writes; by default there is no ledger. */
  readonly ledger?: { readonly folder: string; readonly idSalt: string };
}

/** A key of the store, and its parts. */
export interface StoredKey {
  readonly key: string;
  readonly parts: KeyParts;
}

/** What was removed, by the name of its count, such as `histories`. */
export type Removed = Readonly<Record<string, number>>;

/**
 * One kind of record that holds ids of entities. test/contract/personal-data.ts is the suite that every implementation
 * must pass, on every store engine.
 */
export interface PersonalData {
  /** The names of its counts in the answer of `forget`. */
  readonly counts: readonly string[];
  /** The keys that follow from the ids alone, and that `forget` therefore removes before it searches the store. */
  keysOf(who: Forgotten, parts: PrivacyParts): string[];
  /**
   * Removes everything about the entities from the records at these keys, all of its kind. A key that is not about them
   * is left as it is. It is idempotent. A record that changes meanwhile keeps what was added.
   * @throws StoreWriteError; MillraceError with a code of STORE_READ_FAILURES
   */
  forget(keys: readonly StoredKey[], who: Forgotten, parts: PrivacyParts): Promise<Removed>;
}
