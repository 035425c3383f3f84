import { isJsonObject } from '../../ground/core/value-fit.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { markOf, type ExpressionMarkType } from '../config/project/marks.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { NAME_KINDS, type KnownName } from './known-names.js';

/** The types of a value that is written without brackets. */
const SCALARS = ['string', 'number', 'boolean'];

/** The kinds of names that an expression of each type can be, written alone. */
const KINDS: Readonly<Record<ExpressionMarkType, readonly KnownName['kind'][]>> = {
  number: ['number', 'bool'],
  bool: ['bool'],
  text: ['text'],
  texts: ['list'],
  vector: ['vector'],
  any: NAME_KINDS,
};

/** The definitions that the schemas refer to: the names that each type of expression can be. */
export function expressionDefinitions(names: readonly KnownName[]): JsonObject {
  return Object.fromEntries(
    Object.entries(KINDS).map(([type, kinds]) => {
      const fitting = names.filter(({ kind }) => kinds.includes(kind));
      const known =
        fitting.length === 0
          ? []
          : [
              {
                enum: fitting.map(({ name }) => name),
                enumDescriptions: fitting.map(({ description }) => description),
              },
            ];
      // Any other text can be an expression; Millrace itself checks it.
      return [`expression_${type}`, { anyOf: [...known, { type: SCALARS }] }];
    }),
  );
}

/**
 * The options schema of a plugin as editors understand it: the keyword `millrace` becomes the names of the project, and a
 * number can also be the name of a param or a variable.
 */
export function optionSchema(
  schema: JsonValue,
  names: readonly KnownName[],
  takesParams: boolean,
): JsonValue {
  if (Array.isArray(schema)) return schema.map((one: JsonValue) => optionSchema(one, names, takesParams));
  if (!isJsonObject(schema)) return schema;
  const mark = markOf(schema);
  const { title, description } = schema;
  const said = {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
  if (mark?.kind === 'expression') return { ...said, anyOf: [{ $ref: `#/$defs/expression_${mark.type}` }] };
  if (mark?.kind === 'id') return { ...said, type: SCALARS };
  if (mark?.kind === 'file') return { ...said, type: 'string' };
  const changed: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'millrace' || key === '$schema' || key === '$id') continue;
    if (key === 'propertyNames' && isJsonObject(value) && markOf(value) !== undefined) continue;
    changed[key] = HOLDS_DATA.has(key) ? value : optionSchema(value, names, takesParams);
  }
  const keys = isJsonObject(schema['propertyNames']) ? markOf(schema['propertyNames']) : undefined;
  if (keys?.kind === 'expression' && isJsonObject(changed['additionalProperties'])) {
    const value = changed['additionalProperties'];
    const fitting = names.filter(({ kind }) => KINDS[keys.type].includes(kind));
    changed['properties'] = Object.fromEntries(
      fitting.map(({ name, description: about }) => [name, described(value, about)]),
    );
  }
  return isScalar(changed) ? orName(changed, takesParams) : changed;
}

/** Editors show the description of the branch that matches, so every branch gets it. */
function described(schema: JsonObject, description: string): JsonObject {
  const branches = Object.entries(schema).map(([key, value]) => [
    key,
    (key === 'oneOf' || key === 'anyOf') && Array.isArray(value)
      ? value.map((one: JsonValue) => (isJsonObject(one) ? described(one, description) : one))
      : value,
  ]);
  return { ...(Object.fromEntries(branches) as JsonObject), description };
}

/** Keywords whose value is not a schema. */
const HOLDS_DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required']);

function isScalar({ type, enum: choices }: Readonly<Record<string, JsonValue>>): boolean {
  return type === 'number' || type === 'integer' || type === 'boolean' || choices !== undefined;
}

/** A scalar that may also come from a variable or, if it is a number, be the name of a param. */
function orName(schema: Record<string, JsonValue>, takesParams: boolean): JsonObject {
  const { title, description, default: otherwise, ...rest } = schema;
  const isNumber = rest['type'] === 'number' || rest['type'] === 'integer';
  const others: JsonObject[] = [
    { type: 'string', pattern: '\\$\\{[^}]*\\}' },
    ...(isNumber && takesParams ? [{ type: 'string', pattern: NAME_PATTERN.source }] : []),
  ];
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(otherwise === undefined ? {} : { default: otherwise }),
    anyOf: [rest, ...others],
  };
}
