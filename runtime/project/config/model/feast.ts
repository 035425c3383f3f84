import type { Word } from './yaml-keys.generated.js';

/** How Feast's clients use a view. For a view that Feast stores, `source` has the names. */
export interface FeastUse {
  /** The name of the view in Feast. */
  readonly view: string;
  /** The names of the join keys, in the order of the view's entities; undefined for those of the entity types. */
  readonly joinKeys: readonly string[] | undefined;
  /** The names in Feast of features that have another name here. */
  readonly fields: ReadonlyMap<string, string>;
  /** Features whose texts hold JSON values. */
  readonly json: ReadonlySet<string>;
  /** The push sources that write to the view. */
  readonly push: readonly string[];
  /** By feature service: the features of the view that it reads. */
  readonly services: ReadonlyMap<string, readonly string[]>;
}

/** A view whose rows Feast materialises into Redis. */
export interface FeastSource {
  readonly project: string;
  /** Address of that Redis. Undefined means the service's own Redis. */
  readonly url: string | undefined;
  /** Feast's `entity_key_serialization_version`. */
  readonly keyVersion: 2 | 3;
  /** The name of the view in Feast. */
  readonly view: string;
  /** In the order of the view's entities. */
  readonly joinKeys: readonly { readonly name: string; readonly type: JoinKeyType }[];
  /** The names in Feast of features that have another name here. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The type of an entity's ids in Feast. */
export type JoinKeyType = Word<'feature-view.source.feast.join_keys.*.type'>;
