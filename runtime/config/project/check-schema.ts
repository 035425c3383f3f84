/** What is wrong with the options schema of a plugin, and where in it. */
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject, JsonValue } from '../../api/types.js';
import { compileSchema, newAjv } from './check-shape.js';
import { isMark, isObject, MARK_WORDS } from './marks.js';
import { nearest } from '../../core/nearest.js';
import { pruneErrors } from './prune-errors.js';
import { pointerPath } from './schema-walk.js';

export interface SchemaFault {
  /** From the schema's root to what is wrong. */
  readonly path: readonly (string | number)[];
  /** Whether the last part of the path is wrong itself, and not the value there. */
  readonly inKey?: boolean;
  readonly message: string;
  readonly help?: string;
}

/** Keywords whose value is a schema, a list of schemas, a mapping to schemas. */
const ONE = [
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'contains',
  'not',
  'if',
  'then',
  'else',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPPINGS = ['properties', 'patternProperties', 'dependentSchemas', '$defs'];

/** Draft 2020-12 keywords that ajv knows without a definition of their own. */
const CORE = ['$schema', '$id', '$ref', '$defs', '$comment', '$anchor', '$dynamicRef', '$dynamicAnchor'];

let shared: { readonly ajv: Ajv2020; readonly known: ReadonlySet<string> } | undefined;

/** Made once: to compile the schema of schemas takes milliseconds. */
function checker(): NonNullable<typeof shared> {
  if (shared === undefined) {
    const ajv = newAjv();
    shared = { ajv, known: new Set([...CORE, ...Object.keys(ajv.RULES.keywords)]) };
  }
  return shared;
}

/** @returns everything that is wrong; nothing if the schema can be used */
export function schemaFaults(schema: JsonObject): SchemaFault[] {
  const { ajv, known } = checker();
  const faults = [...keywordFaults(schema, [], known)];
  if (ajv.validateSchema(withoutIdentity(schema)) !== true)
    for (const { instancePath, message = 'it is wrong', params } of pruneErrors(ajv.errors ?? [])) {
      const path = pointerPath(instancePath);
      const { allowedValues } = params as { readonly allowedValues?: readonly unknown[] };
      const choice = allowedValues === undefined ? '' : `: ${allowedValues.map(String).join(', ')}`;
      faults.push({ path, message: `this is no JSON Schema: it ${message}${choice}` });
    }
  if (faults.length > 0) return faults;
  try {
    compileSchema(schema);
    return [];
  } catch (error) {
    return [{ path: [], message: `the options schema cannot be used: ${(error as Error).message}` }];
  }
}

function* keywordFaults(
  schema: JsonValue | undefined,
  path: readonly (string | number)[],
  known: ReadonlySet<string>,
): Generator<SchemaFault> {
  if (!isObject(schema)) return;
  for (const key of Object.keys(schema)) {
    if (known.has(key)) continue;
    const guess = nearest(key, known);
    yield {
      path: [...path, key],
      inKey: true,
      message: `JSON Schema has no keyword \`${key}\``,
      ...(guess === undefined ? {} : { help: `did you mean \`${guess}\`?` }),
    };
  }
  const { millrace: mark } = schema;
  if (mark !== undefined && !isMark(mark)) yield markFault(mark, [...path, 'millrace']);
  for (const key of ONE) yield* keywordFaults(schema[key], [...path, key], known);
  for (const key of LISTS)
    if (Array.isArray(schema[key]))
      for (const [index, one] of (schema[key] as readonly JsonValue[]).entries())
        yield* keywordFaults(one, [...path, key, index], known);
  for (const key of MAPPINGS)
    if (isObject(schema[key]))
      for (const [name, one] of Object.entries(schema[key]))
        yield* keywordFaults(one, [...path, key, name], known);
}

function markFault(mark: JsonValue, path: readonly (string | number)[]): SchemaFault {
  const words = MARK_WORDS.map((word) => `"${word}"`).join(', ');
  const found = typeof mark === 'string' ? `\`millrace\` cannot be \`${mark}\`` : '`millrace` is wrong';
  const guess = typeof mark === 'string' ? nearest(mark, MARK_WORDS) : undefined;
  return {
    path,
    message: `${found}: expected one of ${words}, or { "expression": …, "scope": "candidate" | "request" | "any" }`,
    ...(guess === undefined ? {} : { help: `did you mean \`${guess}\`?` }),
  };
}

/** Without `$schema`: ajv has but the one draft, and refuses to speak of another. */
function withoutIdentity(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$id' && key !== '$schema'));
}
