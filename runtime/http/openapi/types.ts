/** A JSON Schema (2020-12), or a part of an OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

/** An operation object of OpenAPI 3.1, with the members that this service uses. The document adds the route's body. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly responses: Schema;
}

/** Describes a JSON request body. */
export function jsonBody(schema: Schema, examples: Schema): Schema {
  return { required: true, content: { 'application/json': { schema, examples } } };
}

/** Describes a JSON answer. @param headers in addition to X-Request-Id, by their component names in the document */
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

/** Describes a JSON answer of the service's own routes, without headers. */
export function plainJson(description: string, schema: Schema): Schema {
  return { description, content: { 'application/json': { schema } } };
}

/** Returns a reference to a schema among the document's components. */
export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}
