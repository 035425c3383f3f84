import type { JsonObject, JsonValue, ValueType } from '../../../ground/api/types.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import { idText } from '../../../ground/core/ids.js';
import { isJsonList, isJsonObject, own } from '../../../ground/core/value-fit.js';

/**
 * Attributes that the request carries for its entities. A carried attribute overrides the index, even if it is 0, false
 * or ""; an absent or null attribute is filled from the index.
 */

/** A carried object for each row of a node, or a list of objects if a row holds several. */
export type CarriedRows = readonly (JsonObject | readonly (JsonObject | undefined)[] | undefined)[];

/**
 * The value that an object carries at a path; undefined if it carries none. A path through a list returns a list.
 * @param type type of the leaf; a reference may be carried as `brand`, as `brand_id`, or inline
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
  if (isJsonList(inner)) {
    return inner.flatMap((element) => {
      const value = isJsonObject(element) ? carriedValue(element, rest, type, entities) : undefined;
      return value ?? [null];
    });
  }
  return isJsonObject(inner) ? carriedValue(inner, rest, type, entities) : undefined;
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
  if (of?.kind === 'ref' && isJsonList(value)) {
    const key = entities.get(of.entity)?.key ?? '';
    return value.map((element) => (isJsonObject(element) ? (own(element, key) ?? null) : element));
  }
  return value;
}

/**
 * The id of a reference in any spelling: `brand: "b1"`, `brand: {brand_id: "b1"}`, `brand_id: "b1"`; a number becomes
 * text.
 */
export function carriedId(
  object: JsonObject,
  name: string,
  target: EntityType | undefined,
): string | undefined {
  const value = own(object, name);
  const inner = isJsonObject(value) && target !== undefined ? own(value, target.key) : undefined;
  return idText(value) ?? idText(inner) ?? idText(own(object, `${name}_id`));
}

/**
 * The carried objects for the rows of a child node: the inline references of the parent objects.
 * @param sizeOf if a row holds several parents: the number of children of each parent
 */
export function carriedChildren(
  parents: CarriedRows,
  path: readonly string[],
  sizeOf: (row: number, element: number) => number = () => 1,
): CarriedRows | undefined {
  const children = parents.map((parent, row) => {
    if (parent === undefined) return undefined;
    if (!(parent instanceof Array)) return inline(parent, path);
    return parent.flatMap((one, element): (JsonObject | undefined)[] => {
      const found = one === undefined ? undefined : inline(one, path);
      if (found instanceof Array) return found;
      return found === undefined ? new Array<undefined>(sizeOf(row, element)).fill(undefined) : [found];
    });
  });
  return children.some((child) => child !== undefined) ? children : undefined;
}

function inline(
  parent: JsonValue,
  path: readonly string[],
): JsonObject | (JsonObject | undefined)[] | undefined {
  if (isJsonList(parent)) {
    const objects: (JsonObject | undefined)[] = [];
    for (const element of parent) {
      const found = inline(element, path);
      if (found instanceof Array) objects.push(...found);
      else objects.push(found);
    }
    return objects;
  }
  if (!isJsonObject(parent)) return undefined;
  const [name, ...rest] = path;
  if (name === undefined) return parent;
  const value = own(parent, name);
  return value === undefined || value === null ? undefined : inline(value, rest);
}
