import type { JsonObject, JsonValue } from '../../api/types.js';
import type { Schema } from './types.js';

/**
 * A schema made elsewhere, as a component of the document with the given name: its references to itself start at the
 * component, and what names it as a document of its own is left out.
 */
export function embedComponent(name: string, schema: Schema): readonly [string, Schema] {
  const members = Object.entries(schema).filter(([member]) => member !== '$schema' && member !== '$id');
  const base = `#/components/schemas/${name}`;
  return [name, relocate(Object.fromEntries(members) as JsonObject, base) as JsonObject];
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
