import type { ValueType } from '../../../ground/api/types.js';
import type { Span } from '../yaml/source.js';

/** `schemas/entities/<name>.yaml` */
export interface EntityType {
  readonly name: string;
  /** The field that contains the id: `<name>_id`, unless the base type or `key:` sets another. */
  readonly key: string;
  /** See `storedId`. */
  readonly normalizesIds?: true;
  readonly attributes: ReadonlyMap<string, AttributeDefinition>;
  /** What a card of an entity shows; undefined if it has no cards. */
  readonly display?: Display;
  /** Undefined for predefined types that no file of the project declares. */
  readonly at: Span | undefined;
}

export interface AttributeDefinition {
  readonly name: string;
  readonly type: ValueType;
  /** True if explanations, events, logs and messages must not show its values. */
  readonly isPrivate?: true;
  readonly at: Span;
}

/** `display:` of an entity type. Each part names an attribute. */
export interface Display {
  readonly title?: DisplayPath;
  readonly image?: DisplayPath;
  readonly subtitle?: DisplayPath;
  readonly badges: readonly DisplayPath[];
}

/** A path over references, such as `brand.name`. */
export interface DisplayPath {
  readonly text: string;
  /** The attributes on the way, each with the entity type that it refers to. */
  readonly references: readonly { readonly attribute: string; readonly entity: string }[];
  /** The attribute at the end. */
  readonly attribute: AttributeDefinition;
}
