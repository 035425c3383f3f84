import type { JsonObject, JsonValue } from '../../api/types.js';
import type { Schema } from './types.js';

/**
 * A schema made elsewhere, as a component of the document: its references to itself are made to start at `base`
 * (a JSON pointer with `#`), and what names it as a document of its own is left out.
 */
export function embedSchema(schema: Schema, base: string): Schema {
  const members = Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id');
  return relocate(Object.fromEntries(members) as JsonObject, base) as JsonObject;
}

function relocate(value: JsonValue, base: string): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((element) => relocate(element, base));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string' && member.startsWith('#')
        ? base + member.slice(1)
        : relocate(member, base),
    ]),
  );
}

/** Items of an example list: enough to see that it is one. */
const EXAMPLE_ITEMS = 2;

/**
 * A value that fits a schema: the one it gives as example, else one made of its required members and of those with a
 * default. Enough for the schemas that describe bodies; patterns and combinations beyond the first choice are not
 * looked at.
 * @param name of the member that holds the value; ids are made of it, `product_id` → `product-1`
 * @param index of the value in its list, so that ids there differ
 */
export function exampleOf(schema: Schema, name = 'value', index = 0): JsonValue {
  const { examples, anyOf, oneOf, type } = schema;
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as JsonValue;
  if (schema.default !== undefined) return schema.default as JsonValue;
  if (schema.const !== undefined) return schema.const as JsonValue;
  if (Array.isArray(schema.enum)) return schema.enum[0] as JsonValue;
  const choices: unknown = anyOf ?? oneOf;
  if (Array.isArray(choices)) return exampleOf(choices[0] as Schema, name, index);
  switch (Array.isArray(type) ? (type as unknown[])[0] : type) {
    case 'object':
      return exampleObject(schema, index);
    case 'array':
      return exampleList(schema, name);
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1;
    case 'boolean':
      return true;
    case 'string':
      return name.endsWith('_id') ? `${name.slice(0, -'_id'.length)}-${index + 1}` : `some ${name}`;
    default:
      return null;
  }
}

function exampleObject({ properties, required }: Schema, index: number): JsonObject {
  const wanted = new Set(Array.isArray(required) ? (required as string[]) : []);
  const members = Object.entries((properties ?? {}) as Record<string, Schema>);
  return Object.fromEntries(
    members
      .filter(([name, schema]) => wanted.has(name) || schema.default !== undefined)
      .map(([name, schema]) => [name, exampleOf(schema, name, index)]),
  );
}

function exampleList({ items, minItems, maxItems }: Schema, name: string): JsonValue[] {
  const least = typeof minItems === 'number' ? minItems : EXAMPLE_ITEMS;
  const most = typeof maxItems === 'number' ? maxItems : Infinity;
  const length = Math.min(Math.max(least, EXAMPLE_ITEMS), most);
  return Array.from({ length }, (_, index) => exampleOf((items ?? {}) as Schema, name, index));
}
