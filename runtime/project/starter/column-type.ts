import { isJsonObject } from '../../ground/core/value-fit.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { foreignTime, isMissing, listOf, NO, YES } from '../foreign/read-values.js';
import { attributeNames } from './attribute-names.js';
import type { Census, Column } from './census.js';
import { readNumber, type NumberStyle } from './number-text.js';

/** The type of an attribute, and how its values are read from the file. */
export type GuessedType =
  | { readonly kind: 'string' | 'bool' | 'timestamp' | 'texts' }
  | { readonly kind: 'int' | 'float'; readonly style: NumberStyle }
  | { readonly kind: 'vector'; readonly size: number }
  | { readonly kind: 'ref'; readonly entity: string }
  | { readonly kind: 'record' | 'records'; readonly fields: readonly GuessedField[] };

/** A field of an inline record. */
export interface GuessedField {
  /** Its name in the file. */
  readonly from: string;
  readonly name: string;
  readonly type: GuessedType;
}

/** The share of values that decides. The others do not fit and are left out. */
const MOST = 0.98;
/** A shorter list of numbers is no embedding. */
const LEAST_VECTOR = 4;
const MOST_VECTOR = 4096;
/** Names of numbers that are codes. Nobody computes with them. */
const CODE = /(^|_)(ean\d*|gtin\d*|upc|isbn\d*|barcode|mpn|sku|zip|postcode|plz|phone|tel|code|nr|no|id)$/;
/** Names of numbers that count from 1970, in seconds or finer. */
const TIME_NAME = /(_at|_on|_date|_time|_timestamp|^date_\w+|^released?|^date|^timestamp|^published)$/;
/** 1990 in seconds. A smaller number, such as a year, is no time. */
const EARLIEST = 631_152_000;
/** A larger exponent is a number all the same, but nobody ranks by it. */
const LARGEST = 1e300;

/**
 * Guesses the type of a column; undefined if its values are of several kinds. Such a column is stored but not declared.
 * @param name the name of the attribute
 */
export function typeOf(column: Column, name: string, isNested = false): GuessedType | undefined {
  const { filled, profile } = column;
  const isMost = (count: number): boolean => filled > 0 && count >= filled * MOST;
  if (isMost(column.objects)) return isNested ? undefined : recordOf('record', column.fields);
  if (column.recordLists > 0)
    return isNested || !isMost(column.recordLists + column.emptyLists)
      ? undefined
      : recordOf('records', column.fields);
  const { bools = 0, yesNos = 0, textLists = 0, lists = 0 } = profile ?? {};
  if (lists > 0) return listType(column, isNested, isMost(textLists + (filled - lists)));
  const plainNumbers = column.plain;
  if (isMost(bools)) return { kind: 'bool' };
  if (isMost(yesNos) && plainNumbers === 0) return { kind: 'bool' };
  const number = numberType(column, isMost);
  // Parquet has no text for a time.
  if (number?.kind === 'int' && TIME_NAME.test(name) && column.least > EARLIEST) return { kind: 'timestamp' };
  if (number !== undefined)
    return column.leadingZeros > 0 || column.tooLarge > 0 || (isCode(name) && number.kind === 'int')
      ? { kind: 'string' }
      : number;
  if (isMost(profile?.times.get('text') ?? 0)) return { kind: 'timestamp' };
  if (!isNested && column.listTexts > filled / 2) return { kind: 'texts' };
  // Numbers and words mixed: as text, each is kept.
  return { kind: 'string' };
}

export function isCode(name: string): boolean {
  return CODE.test(name);
}

function listType(column: Column, isNested: boolean, areTexts: boolean): GuessedType | undefined {
  if (isNested) return undefined;
  const [size, ...others] = column.numberLists.keys();
  if (size !== undefined) {
    const all = [...column.numberLists.values()].reduce((sum, one) => sum + one, 0);
    const isVector = others.length === 0 && size >= LEAST_VECTOR && size <= MOST_VECTOR;
    return isVector && all === column.filled ? { kind: 'vector', size } : undefined;
  }
  return areTexts ? { kind: 'texts' } : undefined;
}

function numberType(
  column: Column,
  isMost: (count: number) => boolean,
): { readonly kind: 'int' | 'float'; readonly style: NumberStyle } | undefined {
  const { plain, comma, thousands, wholes, least, most } = column;
  if (Math.max(Math.abs(least), Math.abs(most)) > LARGEST && plain > 0) return undefined;
  if (isMost(plain)) return { kind: wholes === plain ? 'int' : 'float', style: 'plain' };
  // 1,299 can be both. If every comma can group thousands, it does.
  if (thousands > 0 && thousands >= comma && isMost(plain + thousands))
    return { kind: 'float', style: 'thousands' };
  if (isMost(plain + comma)) return { kind: 'float', style: 'comma' };
  return undefined;
}

function recordOf(kind: 'record' | 'records', census: Census): GuessedType | undefined {
  const names = attributeNames([...census.columns.keys()]);
  const fields = [...census.columns.values()].flatMap((column): GuessedField[] => {
    const name = names.get(column.name) ?? column.name;
    const type = typeOf(column, name, true);
    return type === undefined ? [] : [{ from: column.name, name, type }];
  });
  return fields.length === 0 ? undefined : { kind, fields };
}

/** The type as YAML. */
export function typeText(type: GuessedType): string {
  switch (type.kind) {
    case 'texts':
      return 'list(string)';
    case 'vector':
      return `vector(${type.size})`;
    case 'ref':
      return `ref(${type.entity})`;
    case 'record':
    case 'records': {
      const fields = type.fields.map(({ name, type: of }) => `${name}: ${typeText(of)}`).join(', ');
      return `{ ${type.kind === 'records' ? 'list' : 'record'}: { ${fields} } }`;
    }
    default:
      return type.kind;
  }
}

/** Converts a value of the file; undefined if it does not fit its type. */
export function convert(type: GuessedType, value: JsonValue): JsonValue | undefined {
  switch (type.kind) {
    case 'int':
    case 'float':
      return typeof value === 'number' || typeof value === 'string'
        ? numberOf(value, type.kind, type.style)
        : undefined;
    case 'bool':
      return boolOf(value);
    case 'timestamp': {
      const time = foreignTime(value);
      return Number.isNaN(time) ? undefined : time;
    }
    case 'texts':
      return textsOf(value);
    case 'vector':
      return Array.isArray(value) && value.length === type.size ? value : undefined;
    case 'record':
      return isJsonObject(value) ? convertFields(type.fields, value) : undefined;
    case 'records':
      return Array.isArray(value)
        ? (value as readonly JsonValue[]).filter(isJsonObject).map((one) => convertFields(type.fields, one))
        : undefined;
    default:
      return typeof value === 'object' ? undefined : String(value).trim();
  }
}

function numberOf(value: number | string, kind: 'int' | 'float', style: NumberStyle): number | undefined {
  const number = typeof value === 'number' ? value : readNumber(value, style);
  return number === undefined || (kind === 'int' && !Number.isSafeInteger(number)) ? undefined : number;
}

function boolOf(value: JsonValue): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'object' ? '' : String(value).trim().toLowerCase();
  if (YES.has(word) || ['1', '1.0'].includes(word)) return true;
  return NO.has(word) || ['0', '0.0'].includes(word) ? false : undefined;
}

/** A text is a list with one element, unless it is written as a list. */
function textsOf(value: JsonValue): JsonValue | undefined {
  const list =
    typeof value === 'string' && !value.includes('|') && !value.trimStart().startsWith('[')
      ? [value]
      : typeof value === 'string' && value.includes('|')
        ? value.split('|')
        : listOf(value);
  return list?.filter((one) => typeof one !== 'object').map((one) => String(one).trim());
}

function convertFields(fields: readonly GuessedField[], value: JsonObject): JsonObject {
  const converted: Record<string, JsonValue> = {};
  for (const { from, name, type } of fields) {
    const found = Object.hasOwn(value, from) ? value[from] : undefined;
    if (isMissing(found)) continue;
    const one = convert(type, found);
    if (one !== undefined) converted[name] = one;
  }
  return converted;
}
