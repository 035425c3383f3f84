/** A JSON Schema (2020-12), or a part of an OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

/** An operation object of OpenAPI 3.1, as far as this service needs it; the document adds the body of the route. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly responses: Schema;
}

/** A request body of JSON. */
export function jsonBody(schema: Schema, examples: Schema): Schema {
  return { required: true, content: { 'application/json': { schema, examples } } };
}

/** An answer of JSON. @param headers beside X-Request-Id, by their names among the document's components */
export function jsonAnswer(
  description: string,
  schema: Schema,
  example?: unknown,
  headers: readonly string[] = [],
): Schema {
  return {
    description,
    headers: Object.fromEntries(
      ['X-Request-Id', ...headers].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  };
}

/** An answer of JSON of the service's own routes, without headers. */
export function plainJson(description: string, schema: Schema): Schema {
  return { description, content: { 'application/json': { schema } } };
}

/** A reference to a schema of the document's components. */
export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
