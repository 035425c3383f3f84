import type { JsonObject, JsonValue } from '../../api/types.js';
import type { Schema } from './types.js';

/**
 * Embeds a foreign schema as a component with the given name. References within the schema are rewritten to start at
 * the component. Members that identify the schema as a separate document are left out.
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
