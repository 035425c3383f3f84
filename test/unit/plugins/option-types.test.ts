import { expect } from 'chai';
import type { JsonObject } from '../../../runtime/ground/api/types.js';
import { optionTypes } from '../../../scripts/option-types.js';

const TITLE = '// `npm run generate` writes this file from options.schema.json.\n';

/** The types of options in one line, without the first line of the file. */
function typesOf(properties: JsonObject, required: readonly string[] = []): string {
  return optionTypes({ type: 'object', additionalProperties: false, required, properties })
    .replace(TITLE, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The type of one optional option. */
function typeOf(option: JsonObject): string | undefined {
  return /readonly option\?: (.*); \}$/.exec(typesOf({ option }))?.[1];
}

describe('types of options from a schema', () => {
  it('are what `create` gets: inputs, files, ids as texts', () => {
    const types: readonly (readonly [JsonObject, string])[] = [
      [{ millrace: 'number' }, "Input<'number'>"],
      [{ millrace: 'bool' }, "Input<'number'>"],
      [{ millrace: { expression: 'vector', scope: 'any' } }, "Input<'vector'>"],
      [{ millrace: 'any' }, 'Input'],
      [{ millrace: 'id' }, 'string'],
      [{ millrace: 'file' }, 'ProjectFile'],
      [{ type: 'integer', minimum: 1 }, 'number'],
      [{ type: 'array', items: { millrace: 'id' } }, 'readonly string[]'],
      [
        { type: 'array', minItems: 2, maxItems: 2, items: { millrace: 'texts' } },
        "readonly [Input<'texts'>, Input<'texts'>]",
      ],
      [{ type: 'object', additionalProperties: { type: 'string' } }, 'Readonly<Record<string, string>>'],
    ];
    for (const [schema, type] of types) expect(typeOf(schema), JSON.stringify(schema)).to.equal(type);
  });

  it('have a list of inputs for a mapping whose keys are expressions', () => {
    const keyed = {
      type: 'object',
      propertyNames: { millrace: 'any' },
      additionalProperties: { type: 'number' },
    };
    expect(typesOf({ option: keyed })).to.equal(
      "import type { ColumnKind, KeyedOption } from 'millrace/api'; " +
        'export interface Options { readonly option?: readonly KeyedOption<ColumnKind, number>[]; }',
    );
  });

  it('give an option that is required or has a default', () => {
    const properties = { a: { type: 'number' }, b: { type: 'number' }, c: { type: 'number', default: 1 } };
    expect(typesOf(properties, ['a'])).to.equal(
      'export interface Options { readonly a: number; readonly b?: number; readonly c: number; }',
    );
  });

  it('have one type for the same choice of the step and of an inner option', () => {
    const size = { enum: ['small', 'large'] };
    const inner = { type: 'object', additionalProperties: false, properties: { size, other: size } };
    expect(typesOf({ inner, size })).to.equal(
      'export const INNER_OTHER = ["small","large"] as const; export type InnerOther = (typeof INNER_OTHER)[number]; ' +
        'export interface Inner { readonly size?: Size; readonly other?: InnerOther; } ' +
        'export const SIZE = ["small","large"] as const; export type Size = (typeof SIZE)[number]; ' +
        'export interface Options { readonly inner?: Inner; readonly size?: Size; }',
    );
  });

  it('name each choice and each object by its path; an enum is also an array', () => {
    const change = { description: 'How it changes.', enum: ['add', 'multiply'], default: 'add' };
    const properties = {
      table: { type: 'object', additionalProperties: false, properties: { change } },
      missing: { oneOf: [{ const: 'absent' }, { type: 'number' }] },
    };
    expect(typesOf(properties)).to.equal(
      'export const TABLE_CHANGE = ["add","multiply"] as const; ' +
        'export type TableChange = (typeof TABLE_CHANGE)[number]; ' +
        'export interface Table { /** How it changes. */ readonly change: TableChange; } ' +
        'export type Missing = "absent" | number; ' +
        'export interface Options { readonly table?: Table; readonly missing?: Missing; }',
    );
  });

  it('are refused for a schema that has no type here, with the option named', () => {
    const inner = {
      type: 'object',
      additionalProperties: false,
      properties: { b: { default: 1, type: 'number' } },
    };
    const wrong: readonly (readonly [JsonObject, string])[] = [
      [{ type: ['string', 'null'] }, 'option: this schema has no type'],
      [{ allOf: [{ type: 'string' }] }, 'option: the keyword allOf has no type here'],
      [{ type: 'object' }, 'option: an object needs properties or additionalProperties'],
      [{ type: 'array' }, 'option: an array needs items'],
      [{ oneOf: [{ type: 'string' }, inner] }, 'option.b: a default below oneOf or anyOf is not filled in'],
    ];
    for (const [schema, message] of wrong) expect(() => typeOf(schema)).to.throw(message);
  });
});
