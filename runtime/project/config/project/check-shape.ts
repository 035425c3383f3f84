import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Node } from 'yaml';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { GRAMMAR, markOf, MARK_SCHEMA } from './marks.js';
import { materialise, Places } from './materialise.js';
import type { ParamOptions } from './param-options.js';
import { ApplicableSchemas, expandReferences, pointerPath } from './schema-walk.js';
import { reportShapeErrors } from './shape-errors.js';
import type { Span } from '../yaml/source.js';

/** A compiled schema. */
interface CompiledSchema {
  readonly schemas: ApplicableSchemas;
  readonly validate: ValidateFunction;
}

const compiled = new WeakMap<JsonObject, CompiledSchema>();

/**
 * Compiles a JSON Schema of draft 2020-12 in ajv's strict mode, once for each schema object.
 * @throws Error if ajv cannot compile the schema
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  let known = compiled.get(schema);
  if (known === undefined) {
    // An `$id` would conflict with another copy of the schema. The draft is fixed, so `$schema` is removed too.
    const own = Object.entries(schema).filter(([key]) => key !== '$id' && key !== '$schema');
    const expanded = expandReferences(Object.fromEntries(own));
    known = { schemas: ApplicableSchemas.of(expanded), validate: sharedAjv().compile(expanded) };
    // It would keep the schemas of plugins that have changed.
    sharedAjv().removeSchema(expanded);
    compiled.set(schema, known);
  }
  return known;
}

let shared: Ajv2020 | undefined;

/** Ajv in strict mode, with the keyword `millrace`. Each instance would compile the meta-schema again. */
export function sharedAjv(): Ajv2020 {
  return (shared ??= newAjv());
}

function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    allErrors: true,
    verbose: true,
    coerceTypes: false,
    useDefaults: true,
    ownProperties: true,
    validateFormats: false,
    addUsedSchema: false,
    // `schemaFaults` checks the schemas of plugins, and tests check those that ship.
    validateSchema: false,
    // It takes a quarter of the time of compiling, and a schema checks few files.
    code: { optimize: false },
  });
  ajv.addKeyword({
    keyword: 'millrace',
    metaSchema: MARK_SCHEMA,
    errors: false,
    compile: (mark: JsonValue) =>
      mark === GRAMMAR || markOf({ millrace: mark })?.kind === undefined
        ? () => true
        : (data: unknown) => typeof data === 'string' && data.trim() !== '',
  });
  return ajv;
}

export interface Shaped {
  /** Without prototypes, with defaults. Marked strings keep their source text. */
  readonly value: JsonValue;
  readonly places: Places;
  readonly schemas: ApplicableSchemas;
  readonly sound: boolean;
}

/**
 * Checks a YAML node against a schema and adds errors to `diagnostics`. An absent node counts as an empty mapping.
 * @param params the params that numbers can name; only for the options of a step
 */
export function checkShape(
  node: Node | undefined,
  schema: JsonObject,
  diagnostics: Diagnostics,
  at: Span,
  params?: ParamOptions,
): Shaped {
  const { schemas, validate } = compileSchema(schema);
  const places = new Places(at.file, node, at);
  const value = node === undefined ? (Object.create(null) as JsonObject) : materialise(node, schemas, params);
  const valid = validate(value);
  const errors = valid ? [] : firstErrors(validate.errors ?? [], schemas);
  reportShapeErrors(errors, places, diagnostics, params);
  return { value, places, schemas, sound: errors.length === 0 };
}

/** The most errors that are reported for one file. One takes up to 10 µs. */
const MOST_ERRORS = 500;

function firstErrors(errors: readonly ErrorObject[], schemas: ApplicableSchemas): readonly ErrorObject[] {
  const first: ErrorObject[] = [];
  for (const error of errors) {
    if (first.length === MOST_ERRORS) break;
    if (!isInGrammar(error, schemas)) first.push(error);
  }
  return first;
}

/** True if the error is inside a value that another reader checks. */
function isInGrammar(error: ErrorObject, root: ApplicableSchemas): boolean {
  let schemas = root;
  const has = (): boolean => schemas.all.some((schema) => schema['millrace'] === GRAMMAR);
  for (const part of pointerPath(error.instancePath)) {
    if (has()) return true;
    schemas = schemas.propertyOrItem(part);
  }
  return has();
}
