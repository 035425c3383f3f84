import type { JsonObject, JsonValue, ValueType } from '../api/types.js';
import type { EntityType } from '../config/model.js';

/**
 * What a request carries of its entities. An attribute that the request carries wins over the index, also 0, false
 * and ""; one that is absent or null is filled.
 */

/** An object of the request at each row of a node (or a list of them, where a row holds several). */
export type CarriedRows = readonly (JsonObject | readonly (JsonObject | undefined)[] | undefined)[];

/**
 * The value that an object carries at a path, or undefined where it carries none. A path through a list gives a list.
 * @param type of the leaf: a reference is carried as `brand`, as `brand_id`, or inline
 */
export function carriedValue(
  object: JsonObject,
  path: readonly string[],
  type: ValueType,
  entities: ReadonlyMap<string, EntityType>,
): JsonValue | undefined {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return leafValue(object, name, type, entities);
  const inner = own(object, name);
  if (inner === undefined || inner === null) return undefined;
  if (Array.isArray(inner)) {
    return (inner as readonly JsonValue[]).flatMap((element) => {
      const value = isObject(element) ? carriedValue(element, rest, type, entities) : undefined;
      return value ?? [null];
    });
  }
  return isObject(inner) ? carriedValue(inner, rest, type, entities) : undefined;
}

function leafValue(
  object: JsonObject,
  name: string,
  type: ValueType,
  entities: ReadonlyMap<string, EntityType>,
): JsonValue | undefined {
  if (type.kind === 'ref') return carriedId(object, name, entities.get(type.entity));
  const value = own(object, name);
  if (value === undefined || value === null) return undefined;
  const of = type.kind === 'list' ? type.of : undefined;
  if (of?.kind === 'ref' && Array.isArray(value)) {
    const key = entities.get(of.entity)?.key ?? '';
    return (value as readonly JsonValue[]).map((element) => (isObject(element) ? (own(element, key) ?? null) : element));
  }
  return value;
}

/** The id of a reference, in any of its spellings. */
export function carriedId(object: JsonObject, name: string, target: EntityType | undefined): string | undefined {
  const value = own(object, name);
  if (typeof value === 'string') return value;
  const spelt = own(object, `${name}_id`);
  if (typeof spelt === 'string') return spelt;
  const inner = isObject(value) && target !== undefined ? own(value, target.key) : undefined;
  return typeof inner === 'string' ? inner : undefined;
}

/** The objects that the rows of a child node are carried as: inline references of the parents' objects. */
export function carriedChildren(parents: CarriedRows, path: readonly string[]): CarriedRows | undefined {
  let any = false;
  const children = parents.map((parent) => {
    const found = parent === undefined ? undefined : inline(parent as JsonValue, path);
    if (found !== undefined) any = true;
    return found;
  });
  return any ? children : undefined;
}

function inline(parent: JsonValue, path: readonly string[]): JsonObject | (JsonObject | undefined)[] | undefined {
  if (Array.isArray(parent)) {
    return (parent as readonly JsonValue[]).flatMap((element) => inline(element, path) ?? [undefined]);
  }
  if (!isObject(parent)) return undefined;
  const [name, ...rest] = path;
  if (name === undefined) return parent;
  const value = own(parent, name);
  return value === undefined || value === null ? undefined : inline(value, rest);
}

/** An own property; what a prototype has is not carried. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
