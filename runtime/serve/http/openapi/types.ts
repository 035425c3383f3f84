/** A JSON Schema (2020-12), or a part of an OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

/** An operation object of OpenAPI 3.1, with the members that this service uses. The document adds the route's body. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Schema[];
  readonly responses: Schema;
}

type OptionalOf<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** The schema of objects of a type. The compiler asks for each of its fields. @param optional fields that may be left out */
export function objectOf<T extends object>(
  properties: { readonly [K in keyof T]-?: Schema },
  optional: readonly OptionalOf<T>[] = [],
): Schema {
  const isRequired = (name: string): boolean => !optional.some((one) => one === name);
  return { type: 'object', required: Object.keys(properties).filter(isRequired), properties };
}

/** The headers that a pipeline's route reads. */
export const RUN_PARAMETERS: readonly Schema[] = [
  { $ref: '#/components/parameters/run_id' },
  { $ref: '#/components/parameters/experiment' },
];

/** One of these names; any text if there are none. */
export function oneOf(names: readonly string[]): Schema {
  return names.length === 0 ? { type: 'string' } : { type: 'string', enum: names };
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
export function plainJson(description: string, schema: Schema, example?: unknown): Schema {
  return {
    description,
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  };
}

/** Returns a reference to a schema among the document's components. */
export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** The components that several routes refer to. */
export const ID = schemaRef('id');
export const TIME = schemaRef('time');
export const ID_OR_NULL: Schema = { anyOf: [ID, { type: 'null' }] };

/**
 * The schema of a body that is one of several. The constant value of a property says which one it is.
 * @param components the name of the component for each value
 */
export function choiceOf(property: string, components: ReadonlyMap<string, string>): Schema {
  const refs = Array.from(components, ([value, name]) => [value, schemaRef(name)] as const);
  return {
    oneOf: refs.map(([, ref]) => ref),
    discriminator: {
      propertyName: property,
      mapping: Object.fromEntries(refs.map(([value, ref]) => [value, ref.$ref])),
    },
  };
}
