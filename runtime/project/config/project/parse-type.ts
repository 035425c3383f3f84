import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { NAME_PATTERN, typeText, type ListElementType, type ValueType } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { nameHelp } from './marks.js';
import { nearest } from '../../../ground/core/nearest.js';
import { spanWithin, type Located, type SourceFile, type Span } from '../yaml/source.js';
import { foundWords } from './shape-words.js';
import { entriesOf, locatedText, spanOf } from '../yaml/tree.js';

/** A `ref(…)` in a type. Its entity type is checked once all entity types are known. */
export interface EntityReference {
  readonly entity: string;
  readonly at: Span;
}

/** Reads types, and collects their references and their errors. */
export interface TypeContext {
  readonly diagnostics: Diagnostics;
  readonly references: EntityReference[];
}

export const PLAIN_TYPES = ['int', 'float', 'bool', 'string', 'timestamp'] as const;
const KINDS = [...PLAIN_TYPES, 'list', 'vector', 'ref', 'record', 'optional'] as const;

/** Names of types, which no entity type may have. */
export const TYPE_KINDS: readonly string[] = KINDS;

const TYPES_HELP =
  'types are int, float, bool, string, timestamp, list(string), list(float), vector(n), ref(entity), list(ref(entity))';

/** Names that other systems use for these types. */
const SYNONYMS = new Map([
  ['number', 'float'],
  ['double', 'float'],
  ['decimal', 'float'],
  ['real', 'float'],
  ['integer', 'int'],
  ['long', 'int'],
  ['boolean', 'bool'],
  ['str', 'string'],
  ['text', 'string'],
  ['keyword', 'string'],
  ['date', 'timestamp'],
  ['datetime', 'timestamp'],
  ['time', 'timestamp'],
  ['varchar', 'string'],
  ['char', 'string'],
  ['category', 'string'],
  ['categorical', 'string'],
  ['enum', 'string'],
  ['uuid', 'string'],
  ['bigint', 'int'],
  ['smallint', 'int'],
  ['uint', 'int'],
  ['timestamptz', 'timestamp'],
  ['array', 'list'],
  ['set', 'list'],
  ['sequence', 'list'],
  ['strings', 'list'],
  ['embedding', 'vector'],
  ['tensor', 'vector'],
  ['reference', 'ref'],
  ['object', 'record'],
  ['map', 'record'],
  ['dict', 'record'],
  ['json', 'record'],
  ['struct', 'record'],
]);

const MAX_VECTOR = 16_384;

/**
 * Reads a type: a string such as `list(ref(brand))`, or inline records as `{ list: { name: type } }` or
 * `{ record: { name: type } }`.
 * @param at the place to report if there is no node
 */
export function readType(at: Span, node: Node | undefined, context: TypeContext): ValueType | undefined {
  const { file } = at;
  const text = isScalar(node) ? locatedText(file, node) : undefined;
  if (text !== undefined) return readTypeText(text, context);
  if (isMap(node)) return readRecordType(at, node, context);
  const help = isSeq(node) ? 'write `list(string)` for a list of strings' : TYPES_HELP;
  const place = node === undefined ? at : spanOf(file, node);
  context.diagnostics.error('invalid_type', place, `expected a type, found ${foundWords(file, node)}`, help);
  return undefined;
}

/** Reads a type that is written as a string. */
export function readTypeText(text: Located<string>, context: TypeContext): ValueType | undefined {
  const call = /^([^\s()]+)\s*\(\s*([\s\S]*?)\s*\)$/.exec(text.value);
  const wrong = (message: string, help: string = TYPES_HELP): ValueType | undefined => {
    context.diagnostics.error('invalid_type', text.at, message, help);
    return undefined;
  };
  if (call === null)
    return plainType(text.value) ?? wrong(`\`${text.value}\` is not a type`, typeHelp(text.value));
  const [, kind = '', inside = ''] = call;
  const start = text.value.indexOf(inside, text.value.indexOf('(') + 1);
  const inner = { value: inside, at: spanWithin(text, start, start + inside.length) };
  switch (kind) {
    case 'vector':
      return (
        vectorType(inside) ??
        wrong(`a vector has a size from 1 to ${MAX_VECTOR}, found \`${inside}\``, 'for example vector(64)')
      );
    case 'ref':
      return refType(inner, context);
    case 'list':
      return listType(inner, context);
    case 'optional':
      return wrong(
        '`optional` is only allowed for the fields of a request',
        `any attribute may be absent: write \`${ourType(inside) ?? 'string'}\``,
      );
    default:
      return wrong(`\`${text.value}\` is not a type`, typeHelp(text.value));
  }
}

function plainType(text: string): ValueType | undefined {
  const kind = PLAIN_TYPES.find((one) => one === text);
  return kind === undefined ? undefined : { kind };
}

function vectorType(inside: string): ValueType | undefined {
  const size = Number(inside);
  return /^[1-9]\d*$/.test(inside) && size <= MAX_VECTOR ? { kind: 'vector', size } : undefined;
}

function refType({ value, at }: Located<string>, context: TypeContext): ListElementType | undefined {
  if (!NAME_PATTERN.test(value)) {
    context.diagnostics.error(
      'invalid_type',
      at,
      `ref takes the name of an entity type, found \`${value}\``,
      nameHelp(value),
    );
    return undefined;
  }
  context.references.push({ entity: value, at });
  return { kind: 'ref', entity: value };
}

function listType(inner: Located<string>, context: TypeContext): ValueType | undefined {
  const element = readTypeText(inner, context);
  if (element === undefined) return undefined;
  if (element.kind === 'string' || element.kind === 'float')
    return { kind: 'list', of: { kind: element.kind } };
  if (element.kind === 'ref') return { kind: 'list', of: element };
  context.diagnostics.error(
    'invalid_type',
    inner.at,
    `a list contains strings, floats, references or records, not ${typeText(element)}`,
    element.kind === 'int'
      ? 'write `list(float)`: it holds whole numbers too'
      : 'write `list(string)`, `list(float)`, `list(ref(brand))` or `{ list: { name: string } }`',
  );
  return undefined;
}

function readRecordType(at: Span, node: Node, context: TypeContext): ValueType | undefined {
  const { file } = at;
  const entries = entriesOf(file, node);
  const [entry] = entries;
  if (entries.length !== 1 || entry === undefined || (entry.key !== 'list' && entry.key !== 'record')) {
    const glued = entries.length === 1 && entry?.value === undefined;
    context.diagnostics.error(
      'invalid_type',
      spanOf(file, node),
      'a type that is a mapping has exactly one key, `list` or `record`',
      glued
        ? `write \`${ourType(entry?.key ?? '') ?? 'string'}\`, without the colon`
        : 'for example { list: { sku: string, price: float } }',
    );
    return undefined;
  }
  if (!isMap(entry.value)) {
    const text = locatedText(file, entry.value);
    context.diagnostics.error(
      'invalid_type',
      entry.value === undefined ? entry.keyAt : spanOf(file, entry.value),
      `\`${entry.key}\` needs the fields of a record, found ${foundWords(file, entry.value)}`,
      text === undefined ? undefined : `write \`${listOf(text.value)}\``,
    );
    return undefined;
  }
  const fields = readFields(file, entry.value, context);
  if (fields === undefined) return undefined;
  const record = { kind: 'record', fields } as const;
  return entry.key === 'list' ? { kind: 'list', of: record } : record;
}

function readFields(file: SourceFile, node: Node, context: TypeContext): Map<string, ValueType> | undefined {
  const fields = new Map<string, ValueType>();
  const entries = entriesOf(file, node);
  for (const { key, keyAt, value } of entries) {
    if (!NAME_PATTERN.test(key)) {
      context.diagnostics.error('invalid_name', keyAt, `\`${key}\` is not a valid name`, nameHelp(key));
      continue;
    }
    const type = readType(keyAt, value, context);
    if (type !== undefined) fields.set(key, type);
  }
  if (entries.length === 0)
    context.diagnostics.error('invalid_type', spanOf(file, node), 'a record has at least one field');
  const places = new Map(entries.map(({ key, keyAt }) => [key, keyAt]));
  checkSpellings(fields, places, undefined, context.diagnostics);
  return fields.size > 0 && fields.size === entries.length ? fields : undefined;
}

/** A reference `brand` may also be sent as `brand_id`, so no other attribute can have that name. */
export function checkSpellings(
  types: ReadonlyMap<string, ValueType>,
  places: ReadonlyMap<string, Span>,
  key: string | undefined,
  diagnostics: Diagnostics,
): void {
  for (const [name, type] of types) {
    const at = places.get(name);
    const spelling = `${name}_id`;
    if (type.kind !== 'ref' || at === undefined) continue;
    if (spelling === key) {
      diagnostics.error(
        'duplicate_name',
        at,
        `\`${name}\` may be sent as \`${spelling}\`, which is already the key`,
        'name the attribute by its role, for example `parent`',
      );
    } else if (types.has(spelling)) {
      diagnostics.error(
        'duplicate_name',
        at,
        `\`${name}\` may be sent as \`${spelling}\`, which is declared too`,
        `remove \`${spelling}\`: the reference already contains the id`,
      );
    }
  }
}

function typeHelp(text: string): string {
  const guess = ourType(text);
  return guess === undefined ? TYPES_HELP : `did you mean \`${guess}\`?`;
}

/** Suggests a valid type for a type of another system or a misspelt type. */
export function ourType(text: string): string | undefined {
  const optional = /^(?:optional|nullable)\s*[([<]([\s\S]*)[)\]>]$/i.exec(text) ?? /^([\s\S]+)\?$/.exec(text);
  if (optional !== null) return ourType((optional[1] ?? '').trim());
  const array = /^([\s\S]+?)\s*\[\s*\]$/.exec(text);
  if (array !== null) return listOf(array[1] ?? '');
  const [, word = '', inside = ''] = /^\s*(\w+)\s*(?:[[<({]([\s\S]*?)[\])>}]?)?\s*$/.exec(text) ?? [];
  const kind = kindOf(word);
  switch (kind) {
    case undefined:
    case 'optional':
      return undefined;
    case 'list':
      return listOf(inside);
    case 'vector':
      return vectorType(inside.trim()) === undefined ? 'vector(64)' : `vector(${inside.trim()})`;
    case 'ref':
      return NAME_PATTERN.test(inside.trim()) ? `ref(${inside.trim()})` : 'ref(brand)';
    case 'record':
      return '{ record: { name: string } }';
    default:
      return kind;
  }
}

function listOf(inside: string): string {
  const element = inside.trim() === '' ? 'string' : ourType(inside.trim());
  if (element === 'int' || element === 'float') return 'list(float)';
  if (element?.startsWith('vector') === true) return 'vector(64)';
  if (element?.startsWith('ref') === true) return `list(${element})`;
  return element?.startsWith('{') === true ? '{ list: { name: string } }' : 'list(string)';
}

function kindOf(word: string): string | undefined {
  const plain = word.toLowerCase().replace(/\d+$/, '');
  return KINDS.find((kind) => kind === plain) ?? SYNONYMS.get(plain) ?? nearest(word, KINDS);
}
