import type { JsonObject, JsonValue } from '../runtime/ground/api/types.js';
import { isJsonObject } from '../runtime/ground/core/value-fit.js';
import { markOf, type ExpressionMarkType } from '../runtime/project/config/project/marks.js';

/** Keywords that limit a value and leave its type as it is. */
const LIMITS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'minLength',
  'pattern',
  'uniqueItems',
  'minProperties',
  'maxProperties',
];

/** The keywords that this generator understands; a schema with another one is an error. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...[
    '$schema',
    'title',
    'description',
    'default',
    'millrace',
    'writeOnly',
    'type',
    'const',
    'enum',
    'oneOf',
    'anyOf',
  ],
  ...['items', 'minItems', 'maxItems', 'properties', 'required', 'propertyNames', 'additionalProperties'],
  ...LIMITS,
]);

const COLUMN_KINDS: Readonly<Record<ExpressionMarkType, string>> = {
  number: "'number'",
  bool: "'number'",
  text: "'text'",
  texts: "'texts'",
  vector: "'vector'",
  any: 'ColumnKind',
};

const LINE = 100;

/**
 * Writes the TypeScript module for an options schema. Its `Options` is what `create` gets: defaults are filled in,
 * expressions are inputs, and files are read. Each choice and each object has a named type, after the path of its
 * option; an enum is also an array. An inner option that has the name and the choices of an option of the step takes its
 * type.
 * @throws Error that names the option whose schema has no type here
 */
export function optionTypes(schema: JsonObject, file = 'options.schema.json'): string {
  const types = new OptionTypes(schema);
  const options = types.object(schema, []);
  const body = [...types.declarations, `export interface Options ${options}`].join('\n\n');
  const imports = ['ColumnKind', 'Input', 'JsonObject', 'KeyedOption', 'ProjectFile'].filter((name) =>
    new RegExp(`\\b${name}\\b(?!')`).test(body.replaceAll(/\/\*\*.*?\*\//gs, '')),
  );
  return [
    `// \`npm run generate\` writes this file from ${file}.`,
    ...(imports.length === 0 ? [] : [`import type { ${imports.join(', ')} } from 'millrace/api';`]),
    '',
    body,
    '',
  ].join('\n');
}

class OptionTypes {
  readonly declarations: string[] = [];
  readonly #ofStep: JsonObject;

  constructor(schema: JsonObject) {
    this.#ofStep = schema['properties'] as JsonObject;
  }

  /** The members of an object with a fixed set of properties. */
  object(schema: JsonObject, path: readonly string[], inUnion = false): string {
    const required = (schema['required'] ?? []) as readonly string[];
    const members = Object.entries(schema['properties'] as JsonObject).map(([name, value]) => {
      const option = value as JsonObject;
      const at = [...path, name];
      if (inUnion && option['default'] !== undefined)
        throw new Error(`${at.join('.')}: a default below oneOf or anyOf is not filled in`);
      const isGiven = required.includes(name) || option['default'] !== undefined;
      return `${comment(option)}readonly ${name}${isGiven ? '' : '?'}: ${this.#named(option, at, inUnion)};`;
    });
    return `{\n${members.join('\n')}\n}`;
  }

  /** The type of an option; a choice and an object get a name. */
  #named(schema: JsonObject, path: readonly string[], inUnion: boolean): string {
    const values = schema['enum'];
    const isObjectType = schema['properties'] !== undefined;
    if (values === undefined && unionOf(schema) === undefined && !isObjectType)
      return this.#typeOf(schema, path, inUnion);
    const last = path.at(-1) ?? '';
    const isOfStep = path.length > 1 && values !== undefined && isSameEnum(this.#ofStep[last], values);
    const words = (isOfStep ? [last] : path).flatMap((part) => part.split('_'));
    const name = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
    if (isOfStep) {
      checkKeywords(schema, path);
      return name;
    }
    if (values === undefined) {
      const type = this.#typeOf(schema, path, inUnion);
      this.declarations.push(
        isObjectType ? `export interface ${name} ${type}` : `export type ${name} = ${type};`,
      );
    } else {
      checkKeywords(schema, path);
      const array = words.join('_').toUpperCase();
      this.declarations.push(
        `export const ${array} = ${JSON.stringify(values)} as const;\nexport type ${name} = (typeof ${array})[number];`,
      );
    }
    return name;
  }

  #typeOf(schema: JsonObject, path: readonly string[], inUnion: boolean): string {
    checkKeywords(schema, path);
    const mark = markOf(schema);
    if (mark?.kind === 'id') return 'string';
    if (mark?.kind === 'file') return 'ProjectFile';
    if (mark !== undefined) return mark.type === 'any' ? 'Input' : `Input<${COLUMN_KINDS[mark.type]}>`;
    const union = unionOf(schema);
    if (union !== undefined) {
      const types = union.map((branch) => this.#typeOf(branch as JsonObject, path, true));
      return [...new Set(types)].join(' | ');
    }
    if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
    if (Array.isArray(schema['enum']))
      return schema['enum'].map((value) => JSON.stringify(value)).join(' | ');
    switch (schema['type']) {
      case 'string':
      case 'number':
      case 'boolean':
        return schema['type'];
      case 'integer':
        return 'number';
      case 'array':
        return this.#array(schema, path, inUnion);
      case 'object':
        return schema['properties'] === undefined
          ? this.#mapping(schema, path, inUnion)
          : this.object(schema, path, inUnion);
      default:
        throw new Error(`${path.join('.')}: this schema has no type`);
    }
  }

  #array(schema: JsonObject, path: readonly string[], inUnion: boolean): string {
    const { items, minItems, maxItems } = schema;
    if (!isJsonObject(items)) throw new Error(`${path.join('.')}: an array needs items`);
    const item = this.#typeOf(items, path, inUnion);
    if (typeof minItems === 'number' && minItems === maxItems)
      return `readonly [${new Array<string>(minItems).fill(item).join(', ')}]`;
    return /^[\w<>']+$/.test(item) ? `readonly ${item}[]` : `readonly (${item})[]`;
  }

  /** An object whose keys the user chooses. If the keys are expressions, it arrives as a list. */
  #mapping(schema: JsonObject, path: readonly string[], inUnion: boolean): string {
    const { additionalProperties: entry, propertyNames: keys } = schema;
    if (entry === true) return 'JsonObject';
    if (!isJsonObject(entry))
      throw new Error(`${path.join('.')}: an object needs properties or additionalProperties`);
    const value = this.#named(entry, [...path, 'entry'], inUnion);
    const mark = isJsonObject(keys) ? markOf(keys) : undefined;
    if (mark?.kind === 'expression') return `readonly KeyedOption<${COLUMN_KINDS[mark.type]}, ${value}>[]`;
    return `Readonly<Record<string, ${value}>>`;
  }
}

function isSameEnum(option: JsonValue | undefined, values: JsonValue): boolean {
  return isJsonObject(option) && JSON.stringify(option['enum']) === JSON.stringify(values);
}

function unionOf(schema: JsonObject): readonly JsonValue[] | undefined {
  return (schema['oneOf'] ?? schema['anyOf']) as readonly JsonValue[] | undefined;
}

function checkKeywords(schema: JsonObject, path: readonly string[]): void {
  const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined) throw new Error(`${path.join('.')}: the keyword ${unknown} has no type here`);
}

/** The description of an option as a comment, in lines of at most `LINE` characters. */
function comment({ description }: JsonObject): string {
  if (typeof description !== 'string') return '';
  const lines = [''];
  for (const word of description.replaceAll('*/', '* /').split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length >= LINE) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.length === 1
    ? `/** ${lines.join('')} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}
