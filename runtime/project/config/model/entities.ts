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
