import type { JsonObject, JsonValue, ValueType } from '../../api/types.js';
import type { EntityType } from '../../config/project/model.js';
import { idText } from '../../core/ids.js';
import { isJsonList, isJsonObject, own } from '../../core/value-fit.js';

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

/** The id of a reference, in any of its spellings: `brand: "b1"`, `brand: {brand_id: "b1"}`, `brand_id: "b1"`; or 7. */
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
 * The objects that the rows of a child node are carried as: inline references of the parents' objects.
 * @param sizeOf where a row holds several parents: how many children each of them has
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
