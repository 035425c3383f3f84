/** Finds the subschemas of a JSON Schema that apply to a value, in whatever branch. */
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { isObject } from './marks.js';

/**
 * Replaces local references (`#/$defs/…`) by their schemas, so that a path in the schema shows where an error arose.
 * A recursive reference stays.
 */
export function expandReferences(root: JsonObject): JsonObject {
  const expand = (value: JsonValue, within: readonly string[]): JsonValue => {
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => expand(item, within));
    if (!isObject(value)) return value;
    const { $ref } = value;
    if (typeof $ref !== 'string')
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expand(inner, within)]));
    const target = resolveReference(root, $ref);
    if (target === undefined || within.includes($ref)) return value;
    const siblings = Object.entries(value).filter(([key]) => key !== '$ref');
    return expand({ ...target, ...Object.fromEntries(siblings) }, [...within, $ref]);
  };
  return expand(root, []) as JsonObject;
}

function resolveReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: JsonValue | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isObject(found) ? found : undefined;
}

/** The schemas that may apply to one value. */
export class ApplicableSchemas {
  private constructor(
    readonly root: JsonObject,
    readonly all: readonly JsonObject[],
  ) {}

  static of(root: JsonObject): ApplicableSchemas {
    return new ApplicableSchemas(root, flatten(root, [root]));
  }

  /** The schemas of the value at a key of a mapping. */
  property(key: string): ApplicableSchemas {
    return this.#of(this.all.flatMap((schema) => propertySchemas(schema, key)));
  }

  /** The schemas of an item of a list. */
  item(index: number): ApplicableSchemas {
    return this.#of(
      this.all.flatMap(({ prefixItems, items }) => {
        const own = Array.isArray(prefixItems) ? (prefixItems as readonly JsonValue[])[index] : undefined;
        return own ?? items ?? [];
      }),
    );
  }

  /** The schemas of a part, if a JSON pointer does not distinguish keys from positions. */
  propertyOrItem(part: string | number): ApplicableSchemas {
    const item = /^\d+$/.test(String(part)) ? this.item(Number(part)).all : [];
    return this.#of([...this.property(String(part)).all, ...item]);
  }

  /** The schemas of the keys of a mapping. */
  get keys(): ApplicableSchemas {
    return this.#of(this.all.map(({ propertyNames }) => propertyNames));
  }

  #of(values: readonly (JsonValue | undefined)[]): ApplicableSchemas {
    return new ApplicableSchemas(this.root, flatten(this.root, values));
  }
}

function propertySchemas(schema: JsonObject, key: string): JsonValue[] {
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
  const found: JsonValue[] = [];
  const own = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (own !== undefined) found.push(own);
  if (isObject(patternProperties)) {
    for (const [pattern, value] of Object.entries(patternProperties))
      if (new RegExp(pattern, 'u').test(key)) found.push(value);
  }
  if (found.length === 0) found.push(additionalProperties ?? unevaluatedProperties ?? true);
  return found;
}

function flatten(root: JsonObject, values: readonly (JsonValue | undefined)[]): JsonObject[] {
  const found = new Set<JsonObject>();
  const add = (value: JsonValue | undefined): void => {
    if (!isObject(value) || found.has(value)) return;
    found.add(value);
    if (typeof value['$ref'] === 'string') add(resolveReference(root, value['$ref']));
    for (const key of ['allOf', 'anyOf', 'oneOf'])
      if (Array.isArray(value[key])) (value[key] as readonly JsonValue[]).forEach(add);
    for (const key of ['if', 'then', 'else']) add(value[key]);
  };
  values.forEach(add);
  return [...found];
}

/** Splits a JSON pointer into a path. */
export function pointerPath(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
