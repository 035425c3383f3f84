import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { isMissing, timeForm, NO, YES } from './read-values.js';

/** The most different values of a column that are counted. */
export const MOST_DISTINCT = 5000;
const MOST_DEPTH = 3;
/** The share of values that tells what a column is. The other values are mistakes of the log. */
const MOST = 0.98;

/** What the values of a column look like. */
export interface ColumnProfile {
  /** A key of the rows, or keys with dots between them. */
  readonly path: string;
  /** Rows that have a value. */
  filled: number;
  numbers: number;
  wholes: number;
  /** true and false; 0 and 1 count as numbers. */
  bools: number;
  /** Values that mean yes or no, such as true, `y` and 0. */
  yesNos: number;
  lists: number;
  /** Lists of texts. */
  textLists: number;
  readonly distinct: Set<string>;
  least: number;
  most: number;
  /** How many of its values can be times, by how these are written. */
  readonly times: Map<string, number>;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const BOOL = /^(true|false)$/i;
const YES_NO = new RegExp(`^([01](\\.0)?|${[...YES, ...NO].join('|')})$`, 'i');

/** Counts what the columns of rows hold, those of nested objects as well. */
export function profileOf(rows: readonly JsonValue[]): ReadonlyMap<string, ColumnProfile> {
  const columns = new Map<string, ColumnProfile>();
  for (const row of rows) visit(row, '', 0, columns);
  return columns;
}

/** Counts what the values of one object hold, by name. Nested objects are left out. */
export function addToProfiles(columns: Map<string, ColumnProfile>, values: JsonObject): void {
  for (const [name, value] of Object.entries(values)) visit(value, name, MOST_DEPTH, columns);
}

function visit(
  value: JsonValue | undefined,
  path: string,
  depth: number,
  columns: Map<string, ColumnProfile>,
): void {
  if (isMissing(value)) return;
  if (typeof value === 'object' && !Array.isArray(value) && depth < MOST_DEPTH) {
    for (const [name, inner] of Object.entries(value as JsonObject))
      visit(inner, path === '' ? name : `${path}.${name}`, depth + 1, columns);
    return;
  }
  if (typeof value === 'object' && !Array.isArray(value)) return;
  let column = columns.get(path);
  if (column === undefined) columns.set(path, (column = emptyProfile(path)));
  count(column, value);
}

function emptyProfile(path: string): ColumnProfile {
  return {
    path,
    filled: 0,
    numbers: 0,
    wholes: 0,
    bools: 0,
    yesNos: 0,
    lists: 0,
    textLists: 0,
    distinct: new Set(),
    least: Infinity,
    most: -Infinity,
    times: new Map(),
  };
}

function count(column: ColumnProfile, value: JsonValue): void {
  column.filled += 1;
  if (typeof value === 'object') {
    column.lists += 1;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) column.textLists += 1;
    return;
  }
  const text = String(value);
  if (column.distinct.size < MOST_DISTINCT) column.distinct.add(text);
  if (typeof value === 'boolean' || BOOL.test(text)) column.bools += 1;
  else if (typeof value === 'number' || NUMBER.test(text)) {
    const number = Number(text);
    column.numbers += 1;
    // A whole number with leading zeros is an id.
    if (Number.isSafeInteger(number) && !/^[+-]?0\d/.test(text) && !text.includes('.')) column.wholes += 1;
    column.least = Math.min(column.least, number);
    column.most = Math.max(column.most, number);
  }
  if (YES_NO.test(text)) column.yesNos += 1;
  const form = timeForm(value);
  if (form !== undefined) column.times.set(form, (column.times.get(form) ?? 0) + 1);
}

/** Whether nearly all values of a column are of a kind. */
export function isMost(count: number, { filled }: ColumnProfile): boolean {
  return filled > 0 && count >= filled * MOST;
}

/** How times in the column are written; undefined if it does not hold times. */
export function timeOf(column: ColumnProfile): string | undefined {
  return [...column.times.keys()].find((form) => isMost(column.times.get(form) ?? 0, column));
}

export function isNumeric({ filled, numbers }: ColumnProfile): boolean {
  return filled > 0 && numbers === filled;
}
