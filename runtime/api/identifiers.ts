/** One entity: the pair of its type and its opaque id. Never joined into one ambiguous string. */
export interface EntityIdentifier {
  readonly type: string;
  readonly id: string;
}

/** An ordered list of entities, e.g. (user, brand): the key of a composite feature view. */
export type CompositeIdentifier = readonly EntityIdentifier[];

export type Identifier = EntityIdentifier | CompositeIdentifier;
