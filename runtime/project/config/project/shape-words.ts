/** Plain words for what a schema expects and for what a file contains. */
import { isJsonObject } from '../../../ground/core/value-fit.js';
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { markOf } from './marks.js';
import type { SourceFile } from '../yaml/source.js';
import { isEmpty, spanOf } from '../yaml/tree.js';

const TYPE_WORDS: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'nothing',
};

const MAX_FOUND = 40;

/** Describes what was found, as the file has it: the name of a variable, not its value. */
export function foundWords(file: SourceFile, node: Node | undefined): string {
  if (node === undefined || isEmpty(node)) return 'nothing';
  if (isMap(node)) return 'a mapping';
  if (isSeq(node)) return 'a list';
  const { start, end } = spanOf(file, node);
  const written = file.text.slice(start, end).replace(/\s+/g, ' ');
  const text = written.length > MAX_FOUND ? `${written.slice(0, MAX_FOUND)}…` : written;
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === 'number') return `the number ${text}`;
  return typeof value === 'string' ? `the text ${text}` : text;
}

/** Describes what a schema expects: its title if that fits into the sentence, otherwise its type. */
export function expectedWords(schema: JsonObject): string {
  const words = new Set(alternatives(schema));
  return [...words].join(' or ') || 'another value';
}

function alternatives(schema: JsonObject): string[] {
  const { anyOf, oneOf, type, title } = schema;
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches))
    return (branches as readonly JsonValue[]).filter(isJsonObject).flatMap(alternatives);
  const mark = markOf(schema);
  if (mark?.kind === 'expression') return ['an expression'];
  if (mark !== undefined) return [mark.kind === 'id' ? 'an id' : 'the path of a file'];
  if (Array.isArray(schema['enum'])) return [oneOfWords(schema['enum'] as readonly JsonValue[])];
  if (schema['const'] !== undefined) return [jsonWords(schema['const'])];
  if (typeof title === 'string' && /^an? /.test(title)) return [title];
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type];
  return types.flatMap((one) => (typeof one === 'string' ? (TYPE_WORDS[one] ?? one) : []));
}

export function oneOfWords(values: readonly JsonValue[]): string {
  const words = values.map(jsonWords);
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
}

function jsonWords(value: JsonValue): string {
  return typeof value === 'string' ? `\`${value}\`` : JSON.stringify(value);
}
