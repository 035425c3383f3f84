import type { JsonValue, ListElementType, ValueType } from '../../../ground/api/types.js';
import { plainSchema } from '../../../ground/core/value-schema.js';
import { ID, ID_OR_NULL, TIME, type Schema } from './types.js';

/**
 * Returns the schema of an indexed value. Any value may also be null, which means unknown.
 * @param text the schema of a string, also within a list
 */
export function valueSchema(type: ValueType, text: Schema = { type: 'string' }): Schema {
  switch (type.kind) {
    case 'string':
      return { ...text, type: ['string', 'null'] };
    case 'ref':
      return { ...ID_OR_NULL, description: `Id of a ${type.entity}.` };
    case 'list':
      return {
        type: ['array', 'null'],
        items: type.of.kind === 'record' ? recordSchema(type.of.fields) : elementSchema(type.of, text),
      };
    case 'record': {
      const record = recordSchema(type.fields);
      return { ...record, type: ['object', 'null'] };
    }
    case 'timestamp':
      return { anyOf: [TIME, { type: 'null' }] };
    default: {
      const schema = plainSchema(type);
      return { ...schema, type: [schema.type, 'null'].flat() };
    }
  }
}

/** Returns the schemas of attributes by name. A reference has two spellings, and each gets a schema. */
export function fieldSchemas(
  fields: Iterable<{ readonly name: string; readonly type: ValueType }>,
): Record<string, Schema> {
  const schemas: [string, Schema][] = [];
  for (const { name, type } of fields) {
    schemas.push([name, valueSchema(type)]);
    if (type.kind === 'ref')
      schemas.push([`${name}_id`, { ...ID_OR_NULL, description: `Another spelling of \`${name}\`.` }]);
  }
  return Object.fromEntries(schemas);
}

function elementSchema(type: Exclude<ListElementType, { readonly kind: 'record' }>, text: Schema): Schema {
  if (type.kind === 'ref') return { ...ID, description: `Id of a ${type.entity}.` };
  return type.kind === 'float' ? plainSchema({ kind: 'float' }) : text;
}

function recordSchema(fields: ReadonlyMap<string, ValueType>): Schema {
  return {
    type: 'object',
    properties: fieldSchemas(Array.from(fields, ([name, type]) => ({ name, type }))),
    additionalProperties: true,
  };
}

/** Longer vectors are omitted from examples. */
const LONGEST_VECTOR = 8;

/** Returns an example value of the type; undefined if the value would be too long to read. */
export function exampleValue(type: ValueType): JsonValue | undefined {
  switch (type.kind) {
    case 'int':
      return 12;
    case 'float':
      return 4.5;
    case 'bool':
      return true;
    case 'string':
      return 'some text';
    case 'timestamp':
      return 1_767_225_600_000; // the start of 2026
    case 'vector':
      return type.size > LONGEST_VECTOR ? undefined : new Array<number>(type.size).fill(0.5);
    case 'ref':
      return `${type.entity}-1`;
    case 'list': {
      const element = type.of.kind === 'record' ? exampleRecord(type.of.fields) : exampleValue(type.of);
      return element === undefined ? undefined : [element];
    }
    case 'record':
      return exampleRecord(type.fields);
  }
}

function exampleRecord(fields: ReadonlyMap<string, ValueType>): JsonValue {
  return exampleFields([...fields].map(([name, type]) => ({ name, type })));
}

/** Returns an object with an example of each field. */
export function exampleFields(
  fields: Iterable<{ readonly name: string; readonly type: ValueType }>,
): Record<string, JsonValue> {
  const entries: [string, JsonValue][] = [];
  for (const { name, type } of fields) {
    const value = exampleValue(type);
    if (value !== undefined) entries.push([name, value]);
  }
  return Object.fromEntries(entries);
}
