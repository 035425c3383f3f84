import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import type { Schema } from './types.js';

/** The number of items in an example list: two show that it is a list. */
const ITEMS = 2;
/** A schema that nests deeper than this probably refers to itself. */
const DEEPEST = 16;

/** The position of a value in the example. */
interface Place {
  /** The name of the member that holds the value. Example ids are built from it: `product_id` → `product-1`. */
  readonly name: string;
  /** The index in the nearest list, so that ids in a list differ. */
  readonly index: number;
  readonly depth: number;
}

/**
 * Builds a value that fits a schema. It uses the schema's own example if there is one. Otherwise it builds the required
 * members, the members with a default, and of the outermost level the objects and the members with an example. In a request those
 * objects are the optional entities. This is enough for the schemas of bodies. Patterns, and all choices but the first, are ignored.
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

  function object({ properties, required, if: refused }: Schema, { index, depth }: Place): JsonObject {
    // `if: { not }` contains the choices between required members: one, or several in `allOf`.
    const choices = ((refused as Schema | undefined)?.not ?? {}) as Schema;
    const others = ((choices.allOf ?? [choices]) as Schema[]).map((one) =>
      Array.isArray(one.anyOf) ? firstChoice(one)?.required : undefined,
    );
    const wanted = new Set(
      [required, ...others].flatMap((names) => (Array.isArray(names) ? (names as string[]) : [])),
    );
    const members = Object.entries((properties ?? {}) as Record<string, Schema>);
    return Object.fromEntries(
      members
        .filter(
          ([name, schema]) =>
            wanted.has(name) ||
            schema.default !== undefined ||
            (depth === 0 && (schema.examples !== undefined || isObjectSchema(schema))),
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
    const one = firstChoice(schema) ?? schema;
    return (typeof one.$ref === 'string' ? target(one.$ref) : one).type === 'object';
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
