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
