import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { addToProfiles, MOST_DISTINCT, type ColumnProfile } from '../foreign/profile.js';
import { isMissing } from '../foreign/read-values.js';
import { hasLeadingZero, readNumber, stylesOf } from './number-text.js';

/** What the values of a column look like, over all rows of a file. */
export interface Column {
  readonly name: string;
  /** Rows that have a value. */
  filled: number;
  /** Counts of scalars and lists; undefined while all values are objects. */
  readonly profile: ColumnProfile | undefined;
  /** Numbers without a comma, also as text. */
  plain: number;
  /** Texts that are a number if the comma comes before the decimals. */
  comma: number;
  /** Texts that are a number if commas group the thousands. */
  thousands: number;
  /** The part of `plain` without decimals. */
  wholes: number;
  leadingZeros: number;
  /** Whole numbers that a float cannot hold exactly. */
  tooLarge: number;
  least: number;
  most: number;
  /** Scalars of JSON that are text. */
  texts: number;
  words: number;
  /** Values with a word of a language, which are no address. */
  wordy: number;
  longest: number;
  /** Texts with several parts between `|`, or with a JSON list. */
  listTexts: number;
  emptyLists: number;
  /** Lists of numbers, by length. */
  readonly numberLists: Map<number, number>;
  /** Values that are an object. */
  objects: number;
  /** Values that are a list of objects. */
  recordLists: number;
  /** The columns of these objects. */
  readonly fields: Census;
  /** Values that an earlier row has too, among the values that are remembered. */
  repeated: number;
  readonly example: JsonValue;
}

/** Counts what the columns of rows hold. */
export class Census {
  rows = 0;
  /** Why the first row that cannot be read is none. */
  unread: string | undefined;
  readonly columns = new Map<string, Column>();
  readonly #profiles = new Map<string, ColumnProfile>();

  add(row: JsonObject): void {
    this.rows += 1;
    const sizes = new Map<string, number>();
    for (const name of Object.keys(row)) sizes.set(name, this.#profiles.get(name)?.distinct.size ?? 0);
    addToProfiles(this.#profiles, row);
    for (const [name, value] of Object.entries(row)) {
      if (isMissing(value)) continue;
      let column = this.columns.get(name);
      if (column === undefined) this.columns.set(name, (column = newColumn(name, value, this.#profiles)));
      count(column, value);
      const before = sizes.get(name) ?? 0;
      const isNew = column.profile?.distinct.size !== before;
      if (typeof value !== 'object' && before < MOST_DISTINCT && !isNew) column.repeated += 1;
    }
  }
}

function newColumn(name: string, example: JsonValue, profiles: ReadonlyMap<string, ColumnProfile>): Column {
  return {
    name,
    filled: 0,
    get profile() {
      return profiles.get(name);
    },
    plain: 0,
    comma: 0,
    thousands: 0,
    wholes: 0,
    leadingZeros: 0,
    tooLarge: 0,
    least: Infinity,
    most: -Infinity,
    texts: 0,
    words: 0,
    wordy: 0,
    longest: 0,
    listTexts: 0,
    emptyLists: 0,
    numberLists: new Map(),
    objects: 0,
    recordLists: 0,
    fields: new Census(),
    repeated: 0,
    example,
  };
}

function count(column: Column, value: JsonValue): void {
  column.filled += 1;
  if (Array.isArray(value)) countList(column, value as readonly JsonValue[]);
  else if (typeof value === 'object') {
    column.objects += 1;
    if (value !== null) column.fields.add(value as JsonObject);
  } else if (typeof value === 'number') countNumber(column, value);
  else if (typeof value === 'string') countText(column, value);
}

function countList(column: Column, list: readonly JsonValue[]): void {
  if (list.some((one) => typeof one === 'string' && isWordy(one))) column.wordy += 1;
  if (list.length === 0) column.emptyLists += 1;
  else if (list.every((one) => typeof one === 'number'))
    column.numberLists.set(list.length, (column.numberLists.get(list.length) ?? 0) + 1);
  else if (list.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))) {
    column.recordLists += 1;
    for (const one of list) column.fields.add(one as JsonObject);
  }
}

function countNumber(column: Column, value: number): void {
  column.plain += 1;
  if (Number.isInteger(value)) {
    column.wholes += 1;
    if (!Number.isSafeInteger(value)) column.tooLarge += 1;
  }
  column.least = Math.min(column.least, value);
  column.most = Math.max(column.most, value);
}

function countText(column: Column, text: string): void {
  column.texts += 1;
  if (isWordy(text)) column.wordy += 1;
  column.longest = Math.max(column.longest, text.length);
  column.words += text.length > 2000 ? 300 : text.trim().split(/\s+/).length;
  if (text.length > 40) {
    if (isListText(text)) column.listTexts += 1;
    return;
  }
  const styles = stylesOf(text);
  if (styles.includes('plain')) {
    countNumber(column, Number(text.trim().replace(/[^\d.eE+-]/g, '')));
    if (hasLeadingZero(text)) column.leadingZeros += 1;
  }
  const [style] = styles;
  if (style === 'comma' || style === 'thousands') {
    const value = readNumber(text, style) ?? 0;
    column.least = Math.min(column.least, value);
    column.most = Math.max(column.most, value);
  }
  if (styles.includes('comma')) column.comma += 1;
  if (styles.includes('thousands')) column.thousands += 1;
  if (styles.length === 0 && isListText(text)) column.listTexts += 1;
}

/** Three letters or more that are no part of a code such as `AB-12`, or letters of a script without capitals. */
const WORD = /\p{Lo}|(?<![\p{L}\p{N}_]|\p{N}-)\p{L}{3,}(?![\p{L}\p{N}_]|-\p{N})/u;
const ADDRESS = /^\s*\S*(:\/\/|www\.|@|\.(jpe?g|png|gif|webp|svg|html?|pdf)$)/i;
/** The start of a long text says what the rest is. */
const LOOKED_AT = 500;

function isWordy(text: string): boolean {
  const start = text.slice(0, LOOKED_AT);
  return WORD.test(start) && !ADDRESS.test(start);
}

function isListText(text: string): boolean {
  return /\S\s*\|\s*\S/.test(text) || /^\s*\[.*\]\s*$/s.test(text);
}
