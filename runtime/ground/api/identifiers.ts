/**
 * One entity: the pair of its type and its opaque id. The two are never joined into one string, which could be
 * ambiguous.
 */
export interface EntityIdentifier {
  readonly type: string;
  readonly id: string;
}

/** An ordered list of entities, e.g. (user, brand): the key of a composite feature view. */
export type CompositeIdentifier = readonly EntityIdentifier[];

export type Identifier = EntityIdentifier | CompositeIdentifier;
