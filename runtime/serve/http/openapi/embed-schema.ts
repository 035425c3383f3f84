import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import type { Schema } from './types.js';

const DEFINITIONS = '#/$defs/';
const COMPONENTS = '#/components/schemas/';

/**
 * Embeds a schema as a component with the given name, and each of its definitions (`$defs`) as a component of its own.
 * Schemas that share a definition share the component. Members that identify the schema as a separate document are
 * left out.
 */
export function embedComponents(name: string, schema: Schema): readonly (readonly [string, Schema])[] {
  const { $defs: definitions = {}, ...own } = schema;
  const members = Object.entries(own).filter(([member]) => member !== '$schema' && member !== '$id');
  return [[name, Object.fromEntries(members)] as const, ...Object.entries(definitions as Schema)].map(
    ([each, content]) => [each, relocate(content as JsonObject, COMPONENTS + name) as JsonObject],
  );
}

/** Rewrites the references within a schema: those to definitions, and those that start at the schema itself. */
function relocate(value: JsonValue, base: string, member?: string): JsonValue {
  if (typeof value === 'string') {
    if (value.startsWith(DEFINITIONS)) return COMPONENTS + value.slice(DEFINITIONS.length);
    return member === '$ref' && value.startsWith('#') ? base + value.slice(1) : value;
  }
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((element) => relocate(element, base));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, inner]) => [name, relocate(inner, base, name)]),
  );
}
