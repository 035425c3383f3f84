/** Finds the subschemas of a JSON Schema that apply to a value, in whatever branch. */
import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';

/**
 * Replaces local references (`#/$defs/…`) by their schemas, so that a path in the schema shows where an error arose.
 * A recursive reference stays.
 */
export function expandReferences(root: JsonObject): JsonObject {
  const expand = (value: JsonValue, within: readonly string[]): JsonValue => {
    if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => expand(item, within));
    if (!isJsonObject(value)) return value;
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
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
}

/** The schemas that may apply to one value. Those of its parts are found once: a body can have many of one kind. */
export class ApplicableSchemas {
  readonly #parts = new Map<string, ApplicableSchemas>();
  /** Keys that schemas name. All others have the same schemas, but for those that match patterns. */
  readonly #names: ReadonlySet<string>;
  readonly #hasPatterns: boolean;
  /** Items from this position on have the same schemas. */
  readonly #alike: number;

  private constructor(
    readonly root: JsonObject,
    readonly all: readonly JsonObject[],
  ) {
    this.#names = new Set(
      all.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : [])),
    );
    this.#hasPatterns = all.some(({ patternProperties }) => patternProperties !== undefined);
    this.#alike = Math.max(
      0,
      ...all.map(({ prefixItems }) => (Array.isArray(prefixItems) ? prefixItems.length : 0)),
    );
  }

  static of(root: JsonObject): ApplicableSchemas {
    return new ApplicableSchemas(root, flatten(root, [root]));
  }

  /** The schemas of the value at a key of a mapping. */
  property(key: string): ApplicableSchemas {
    const find = (): JsonValue[] => this.all.flatMap((schema) => propertySchemas(schema, key));
    const isNamed = this.#names.has(key);
    return this.#hasPatterns && !isNamed ? this.#of(find()) : this.#once(isNamed ? `.${key}` : '*', find);
  }

  /** The schemas of an item of a list. */
  item(index: number): ApplicableSchemas {
    return this.#once(`[${Math.min(index, this.#alike)}`, () =>
      this.all.flatMap(({ prefixItems, items }) => {
        const own = Array.isArray(prefixItems) ? (prefixItems as readonly JsonValue[])[index] : undefined;
        return own ?? items ?? [];
      }),
    );
  }

  /** The schemas of a part, if a JSON pointer does not distinguish keys from positions. */
  propertyOrItem(part: string | number): ApplicableSchemas {
    const key = String(part);
    if (!/^\d+$/.test(key)) return this.property(key);
    const find = (): JsonObject[] => [...this.property(key).all, ...this.item(Number(key)).all];
    return this.#hasPatterns || this.#names.has(key)
      ? this.#of(find())
      : this.#once(`*[${Math.min(Number(key), this.#alike)}`, find);
  }

  /** The schemas of the keys of a mapping. */
  get keys(): ApplicableSchemas {
    return this.#once('', () => this.all.flatMap(({ propertyNames }) => propertyNames ?? []));
  }

  #once(part: string, find: () => readonly JsonValue[]): ApplicableSchemas {
    let known = this.#parts.get(part);
    if (known === undefined) this.#parts.set(part, (known = this.#of(find())));
    return known;
  }

  #of(values: readonly JsonValue[]): ApplicableSchemas {
    return new ApplicableSchemas(this.root, flatten(this.root, values));
  }
}

function propertySchemas(schema: JsonObject, key: string): JsonValue[] {
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
  const found: JsonValue[] = [];
  const own = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (own !== undefined) found.push(own);
  if (isJsonObject(patternProperties)) {
    for (const [pattern, value] of Object.entries(patternProperties))
      if (new RegExp(pattern, 'u').test(key)) found.push(value);
  }
  if (found.length === 0) found.push(additionalProperties ?? unevaluatedProperties ?? true);
  return found;
}

function flatten(root: JsonObject, values: readonly JsonValue[]): JsonObject[] {
  const found = new Set<JsonObject>();
  const add = (value: JsonValue | undefined): void => {
    if (!isJsonObject(value) || found.has(value)) return;
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
