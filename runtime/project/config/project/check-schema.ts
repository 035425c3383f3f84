/** Finds errors in the options schema of a plugin, and their places. */
import { isJsonObject } from '../../../ground/core/value-fit.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { compileSchema, sharedAjv } from './check-shape.js';
import { isMark, MARK_WORDS } from './marks.js';
import { nearest } from '../../../ground/core/nearest.js';
import { pruneErrors } from './prune-errors.js';
import { pointerPath } from './schema-walk.js';

export interface SchemaFault {
  /** The path from the schema's root to the error. */
  readonly path: readonly (string | number)[];
  /** True if the last part of the path is the error itself, not the value there. */
  readonly inKey?: boolean;
  readonly message: string;
  readonly help?: string;
}

/** Keywords whose value is a schema, a list of schemas, or a mapping to schemas. */
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

/** Draft 2020-12 keywords that ajv supports without a definition of their own. */
const CORE = ['$schema', '$id', '$ref', '$defs', '$comment', '$anchor', '$dynamicRef', '$dynamicAnchor'];

/** @returns all errors; an empty list if the schema is valid */
export function schemaFaults(schema: JsonObject): SchemaFault[] {
  const ajv = sharedAjv();
  const known = new Set([...CORE, ...Object.keys(ajv.RULES.keywords)]);
  const faults = [...keywordFaults(schema, [], known)];
  if (ajv.validateSchema(withoutIdentity(schema)) !== true)
    for (const { instancePath, message = 'is invalid', params } of pruneErrors(ajv.errors ?? [])) {
      const path = pointerPath(instancePath);
      const { allowedValues } = params as { readonly allowedValues?: readonly unknown[] };
      const choice = allowedValues === undefined ? '' : `: ${allowedValues.map(String).join(', ')}`;
      faults.push({ path, message: `this is not a valid JSON Schema: it ${message}${choice}` });
    }
  if (faults.length > 0) return faults;
  try {
    compileSchema(schema);
    return [];
  } catch (error) {
    return [{ path: [], message: `the options schema is not valid: ${(error as Error).message}` }];
  }
}

function* keywordFaults(
  schema: JsonValue | undefined,
  path: readonly (string | number)[],
  known: ReadonlySet<string>,
): Generator<SchemaFault> {
  if (!isJsonObject(schema)) return;
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
    if (isJsonObject(schema[key]))
      for (const [name, one] of Object.entries(schema[key]))
        yield* keywordFaults(one, [...path, key, name], known);
}

function markFault(mark: JsonValue, path: readonly (string | number)[]): SchemaFault {
  const words = MARK_WORDS.map((word) => `"${word}"`).join(', ');
  const found =
    typeof mark === 'string' ? `\`millrace\` does not accept \`${mark}\`` : '`millrace` is invalid';
  const guess = typeof mark === 'string' ? nearest(mark, MARK_WORDS) : undefined;
  return {
    path,
    message: `${found}: expected one of ${words}, or { "expression": …, "scope": "candidate" | "request" | "any" }`,
    ...(guess === undefined ? {} : { help: `did you mean \`${guess}\`?` }),
  };
}

/** Removes `$schema`: ajv supports only one draft here and rejects a schema that names another. */
function withoutIdentity(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$id' && key !== '$schema'));
}
