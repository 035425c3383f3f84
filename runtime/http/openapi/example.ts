import type { JsonObject, JsonValue } from '../../api/types.js';
import type { Schema } from './types.js';

/** Items of an example list: enough to see that it is one. */
const ITEMS = 2;
/** Deeper than this a schema probably refers to itself. */
const DEEPEST = 16;

/** Where in the example a value stands. */
interface Place {
  /** Of the member that holds it; ids are made of it, `product_id` → `product-1`. */
  readonly name: string;
  /** In the nearest list, so that ids there differ. */
  readonly index: number;
  readonly depth: number;
}

/**
 * A value that fits a schema: the one that it gives as example, else one made of its required members, of those with a
 * default, and of the objects of the outermost level, which in a request are the entities that it may name. Enough for
 * the schemas of bodies; patterns, and choices after the first, are not looked at.
 */
export function exampleOf(root: Schema): JsonValue {
  return value(root, { name: 'value', index: 0, depth: 0 });

  function value(schema: Schema, place: Place): JsonValue {
    if (place.depth > DEEPEST) return null;
    const given = givenValue(schema);
    if (given !== undefined) return given;
    const inner = typeof schema.$ref === 'string' ? target(schema.$ref) : firstChoice(schema);
    if (inner !== undefined) return value(inner, { ...place, depth: place.depth + 1 });
    switch (Array.isArray(schema.type) ? (schema.type as unknown[])[0] : schema.type) {
      case 'object':
        return object(schema, place);
      case 'array':
        return list(schema, place);
      case 'integer':
      case 'number':
        return typeof schema.minimum === 'number' && schema.minimum > 0 ? schema.minimum : 1;
      case 'boolean':
        return true;
      case 'string':
        return text(place);
      default:
        return null;
    }
  }

  function object({ properties, required, allOf }: Schema, { index, depth }: Place): JsonObject {
    // Members of which either is required stand in `allOf`.
    const others = Array.isArray(allOf) ? (allOf as Schema[]).map((one) => firstChoice(one)?.required) : [];
    const wanted = new Set(
      [required, ...others].flatMap((names) => (Array.isArray(names) ? (names as string[]) : [])),
    );
    const members = Object.entries((properties ?? {}) as Record<string, Schema>);
    return Object.fromEntries(
      members
        .filter(
          ([name, schema]) =>
            wanted.has(name) || schema.default !== undefined || (depth === 0 && isObjectSchema(schema)),
        )
        .map(([name, schema]) => [name, value(schema, { name, index, depth: depth + 1 })]),
    );
  }

  function list({ items, minItems, maxItems }: Schema, { name, depth }: Place): JsonValue[] {
    const least = typeof minItems === 'number' ? minItems : ITEMS;
    const most = typeof maxItems === 'number' ? maxItems : Infinity;
    const length = Math.min(Math.max(least, ITEMS), most);
    return Array.from({ length }, (_, index) =>
      value((items ?? {}) as Schema, { name, index, depth: depth + 1 }),
    );
  }

  function isObjectSchema(schema: Schema): boolean {
    return (firstChoice(schema) ?? schema).type === 'object';
  }

  function target(reference: string): Schema {
    const steps = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
    return steps.reduce<Schema>((schema, step) => (schema[step] ?? {}) as Schema, root);
  }
}

function givenValue({
  examples,
  default: otherwise,
  const: only,
  enum: several,
}: Schema): JsonValue | undefined {
  const [first] = (Array.isArray(examples) ? examples : []) as JsonValue[];
  const [choice] = (Array.isArray(several) ? several : []) as JsonValue[];
  return first ?? (otherwise as JsonValue | undefined) ?? (only as JsonValue | undefined) ?? choice;
}

function firstChoice({ anyOf, oneOf }: Schema): Schema | undefined {
  const choices: unknown = anyOf ?? oneOf;
  return Array.isArray(choices) ? (choices as Schema[])[0] : undefined;
}

function text({ name, index }: Place): string {
  return name.endsWith('_id') ? `${name.slice(0, -'_id'.length)}-${index + 1}` : `some ${name}`;
}
