/** A JSON Schema (2020-12). */
export type Schema = Record<string, unknown>;

/** A reference to a definition of the same schema. */
export const reference = (name: string): Schema => ({ $ref: `#/$defs/${name}` });

/**
 * The schema of the same values and null. Types are joined where that is possible: some generators of clients write code
 * that does not compile for a choice between a type and null.
 */
export function nullable(schema: Schema): Schema {
  if (Array.isArray(schema.anyOf))
    return { ...schema, anyOf: [...(schema.anyOf as Schema[]), { type: 'null' }] };
  if (typeof schema.type !== 'string' && !Array.isArray(schema.type))
    return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'].flat() };
}
