import { englishName, foldedName } from '../foreign/header-words.js';
import { TYPE_KINDS } from '../config/project/parse-type.js';
import { ROW_FIELDS } from '../config/project/reserved-names.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { CommandFailure } from '../config/diagnostics/failure.js';
import { NOT_UTF8, TO_UTF8 } from '../rows/rows.js';
import { attributeNames } from './attribute-names.js';
import type { Census, Column } from './census.js';
import { typeOf, type GuessedType } from './column-type.js';
import { KEYS, NO_WORDS, PRICE, REFERENCES, STATISTICS, STOCK, TEXTS, TITLES } from './column-words.js';
import { guessDisplay } from './guess-display.js';
import { guessNumbers, LEAST_FILLED } from './guess-numbers.js';
import type { GuessedAttribute, Leaf, ProductGuess } from './product-guess.js';

/** More attributes are stored and not declared, the rarest first. */
const MOST_ATTRIBUTES = 150;
const MOST_TEXTS = 12;
/** The share of the values of a text that have words, and are not codes or addresses. */
const LEAST_WORDY = 0.5;
/** A reference has at most this share of different values. */
const MOST_SHARE = 0.5;
/** Below this number of rows, the share of different values says nothing. */
const FEW_ROWS = 30;
const LONGEST_ID = 200;
/** Types that a request has already. */
const OWN_TYPES = ['product', 'user', 'query', 'request'];

function noRows(unread: string | undefined, path: string): CommandFailure {
  if (unread === undefined) return new CommandFailure(`${path} has no rows`);
  const help = unread.endsWith(NOT_UTF8) ? TO_UTF8 : undefined;
  return new CommandFailure(`${path} has no row that can be read: ${unread}`, help);
}

/**
 * Guesses what the columns of a file of products are.
 * @param path of the file, for messages
 * @param given the columns that the user names
 * @throws CommandFailure if there are no products, or no column identifies them
 */
export function guessProducts(census: Census, path: string, given: ProductColumns = {}): ProductGuess {
  const columns = [...census.columns.values()];
  const words = wordsOf(census, path, given);
  if (census.rows === 0) throw noRows(census.unread, path);
  const key = keyOf(census, path, words, given.id);
  const keyName = key === undefined ? ROW_NUMBER : (attributeNames([key.name]).get(key.name) ?? key.name);
  const others = columns.filter((column) => column !== key);
  const names = new Map(
    attributeNames(
      others.map(({ name }) => name),
      [keyName, ...ROW_FIELDS],
    ),
  );
  const all = others.flatMap((column) => guessColumn(column, names, words, census.rows));
  const features = all.filter(({ word, type }) => isNumber(type) && STATISTICS.test(word));
  const declarable = all.filter((one) => !features.includes(one));
  const attributes = mostFilled(withOneSpelling(declarable), census);
  const declared = new Set([...attributes, ...features].map(({ from }) => from));
  for (const { from, name } of attributes) names.set(from, name);
  const leaves = leavesOf(attributes, census);
  const title = titleOf(leaves);
  const texts = textsOf(leaves, title, census.rows);
  return {
    rows: census.rows,
    key: {
      from: key?.name,
      name: keyName,
      why: key !== undefined && key.leadingZeros > 0 ? 'leading zeros' : undefined,
    },
    attributes,
    undeclared: others.map(({ name }) => name).filter((name) => !declared.has(name)),
    leftOut: attributes.flatMap(({ from, type }) => leftOutOf(from, type, census)),
    names,
    features,
    title,
    display: guessDisplay(leaves, title),
    texts,
    numbers: guessNumbers(leaves, leavesOf(features, census), census.rows),
    stock: leaves.find(({ word, type }) => STOCK.test(word) && (isNumber(type) || type.kind === 'bool')),
  };
}

/** What the user may say of columns: by the word of `--columns`, the English name that says what the column is. */
export const PRODUCT_ROLES = {
  id: 'product_id',
  title: 'title',
  description: 'description',
  brand: 'brand',
  category: 'category',
  price: 'price',
  stock: 'stock',
  rating: 'rating',
  orders: 'orders',
  released: 'released',
} as const;
export type ProductColumns = Readonly<Partial<Record<keyof typeof PRODUCT_ROLES, string>>>;

/** What each column is, in English. A column that the user names wins over one that has the word by itself. */
function wordsOf(census: Census, path: string, given: ProductColumns): ReadonlyMap<string, string> {
  const names = [...census.columns.keys()];
  const words = new Map(names.map((name) => [name, englishName(name)]));
  for (const [role, name] of Object.entries(given)) {
    const word = PRODUCT_ROLES[role as keyof ProductColumns];
    if (!words.has(name)) {
      throw new CommandFailure(
        `${path} has no column ${name} (${role}); it has ${someOf(names)}`,
        didYouMean(name, names, AS_WORD),
      );
    }
    for (const [other, is] of words) if (is === word) words.set(other, `${word}_text`);
    words.set(name, word);
  }
  return words;
}

/** The key of products that have no column with an id. */
const ROW_NUMBER = 'product_id';

/**
 * A column whose values differ, with a name that ids have, or else the first other column whose values all differ.
 * @returns undefined if no column looks like an id
 * @throws CommandFailure if one has the name of an id, and too many products share its values or lack one
 */
function keyOf(
  census: Census,
  path: string,
  words: ReadonlyMap<string, string>,
  given: string | undefined,
): Column | undefined {
  const wordOf = ({ name }: Column): string => words.get(name) ?? name;
  const columns = [...census.columns.values()];
  const byUser = given === undefined ? undefined : census.columns.get(given);
  if (byUser !== undefined) return byUser;
  const usable = columns.filter((column) => isId(column) && column.filled >= 0.9 * census.rows);
  const named = KEYS.map((word) => usable.find((one) => wordOf(one) === word)).filter(
    (one): one is Column => one !== undefined,
  );
  const ending = usable.filter((one) => /_(id|sku|code|number|nr|no|key)$/.test(wordOf(one)));
  const wordy = usable.filter((one) => one.words <= one.filled * 1.2 && !isOther(wordOf(one)));
  const key =
    [...named, ...ending].find((column) => isUnique(column)) ??
    // A catalogue may repeat some products.
    named.find(({ repeated, filled }) => repeated < filled / 2) ??
    wordy.find((column) => isUnique(column));
  const meant = columns.find((column) => KEYS.includes(wordOf(column)));
  if (key !== undefined || meant === undefined) return key;
  throw new CommandFailure(
    `the column ${meant.name} of ${path} does not identify a product: too many rows repeat a value, or have none`,
    'name the column of the id: --key COLUMN',
  );
}

/** Whether the name of a column says that it is no id, even if its values differ. */
function isOther(word: string): boolean {
  return [PRICE, STOCK, STATISTICS, REFERENCES, TEXTS].some((names) => names.test(word));
}

function isId({ profile, objects, recordLists, longest, plain, wholes, filled }: Column): boolean {
  if (objects > 0 || recordLists > 0 || (profile?.lists ?? 0) > 0 || (profile?.bools ?? 0) > 0) return false;
  // Numbers with decimals are no ids.
  return longest <= LONGEST_ID && (plain < filled || wholes === plain);
}

function isUnique({ repeated, filled }: Column): boolean {
  return repeated <= filled * 0.001;
}

function guessColumn(
  column: Column,
  names: ReadonlyMap<string, string>,
  words: ReadonlyMap<string, string>,
  rows: number,
): readonly GuessedAttribute[] {
  const from = column.name;
  const name = names.get(from) ?? from;
  const word = words.get(from) ?? name;
  const type = typeOf(column, name);
  if (type === undefined) return [];
  const reference = referenceOf(column, name, word, type, rows);
  return [reference ?? { from, name, word, path: `product.${name}`, type }];
}

/** A text with few values, such as a brand, or an id of something else, such as `category_id`. */
function referenceOf(
  column: Column,
  name: string,
  word: string,
  type: GuessedType,
  rows: number,
): GuessedAttribute | undefined {
  if (type.kind !== 'string' || column.longest > LONGEST_ID) return undefined;
  const entity = name.replace(/_(id|code)$/, '');
  const isNamed = REFERENCES.test(word);
  const values = column.profile?.distinct.size ?? 0;
  const isRepeated = rows < FEW_ROWS || values <= MOST_SHARE * column.filled;
  if (OWN_TYPES.includes(entity) || TYPE_KINDS.includes(entity) || !isRepeated || values < 2)
    return undefined;
  if (!isNamed && !(entity !== name && REFERENCES.test(entity))) return undefined;
  return {
    from: column.name,
    name: entity,
    word,
    path: `product.${entity}`,
    type: { kind: 'ref', entity },
    values,
  };
}

/** `brand` and `brand_id` spell one reference, so of the two columns the one with the name becomes a text. */
function withOneSpelling(all: readonly GuessedAttribute[]): GuessedAttribute[] {
  const names = new Set(all.map(({ name }) => name));
  const byId = new Set(
    all.flatMap(({ from, name, type }) => (type.kind === 'ref' && foldedName(from) !== name ? [name] : [])),
  );
  return all.map((one) => {
    if (!byId.has(one.name) || foldedName(one.from) !== one.name) return one;
    const name = names.has(`${one.name}_name`) ? `${one.name}_text` : `${one.name}_name`;
    return { ...one, name, path: `product.${name}`, type: { kind: 'string' } };
  });
}

/** The fields of a record that are records or lists themselves. */
function leftOutOf(from: string, type: GuessedType, census: Census): string[] {
  if (type.kind !== 'record' && type.kind !== 'records') return [];
  const kept = new Set(type.fields.map((field) => field.from));
  const all = census.columns.get(from)?.fields.columns.keys() ?? [];
  return [...all].filter((name) => !kept.has(name)).map((name) => `${from}.${name}`);
}

/** The attributes that most products have, in the order of the file. */
function mostFilled(all: readonly GuessedAttribute[], census: Census): GuessedAttribute[] {
  const filled = ({ from }: GuessedAttribute): number => census.columns.get(from)?.filled ?? 0;
  const kept = new Set([...all].sort((a, b) => filled(b) - filled(a)).slice(0, MOST_ATTRIBUTES));
  return all.filter((one) => kept.has(one));
}

/** The attributes that hold one value, and such fields of inline records. */
function leavesOf(attributes: readonly GuessedAttribute[], census: Census): Leaf[] {
  return attributes.flatMap((one): Leaf[] => {
    const column = census.columns.get(one.from);
    if (column === undefined) return [];
    if (one.type.kind !== 'record') return [{ ...one, column }];
    return one.type.fields.flatMap((field): Leaf[] => {
      const inner = column.fields.columns.get(field.from);
      const path = `${one.path}.${field.name}`;
      const name = `${one.name}_${field.name}`;
      if (inner === undefined) return [];
      const word = `${one.word}_${englishName(field.name)}`;
      return [{ from: one.from, name, word, path, type: field.type, column: inner }];
    });
  });
}

function titleOf(leaves: readonly Leaf[]): Leaf | undefined {
  const texts = leaves.filter(({ type }) => type.kind === 'string');
  const named = TITLES.map((word) => texts.find((one) => one.word === word)).find((one) => one !== undefined);
  if (named !== undefined) return named;
  const wordsOf = ({ column: { words, texts: count } }: Leaf): number => (count === 0 ? 0 : words / count);
  const ending = texts.find(
    ({ word }) => /_(title|name)$/.test(word) && !REFERENCES.test(word.split('_')[0] ?? ''),
  );
  // Otherwise the shortest text of several words.
  const wordy = texts.filter((one) => wordsOf(one) >= 1.5).sort((a, b) => wordsOf(a) - wordsOf(b));
  return ending ?? wordy[0] ?? texts.find((one) => wordsOf(one) >= 1);
}

/** The title, the texts whose names say that they are searched, and then other texts that have words, the most filled first. */
function textsOf(leaves: readonly Leaf[], title: Leaf | undefined, rows: number): Leaf[] {
  if (title === undefined) return [];
  const others = leaves.filter((one) => one !== title);
  const isText = ({ type }: Leaf): boolean => type.kind === 'string' || type.kind === 'texts';
  const named = others.filter((one) => (isSearched(one.word) && isText(one)) || one.type.kind === 'ref');
  const wordy = others
    .filter((one) => isText(one) && !named.includes(one) && hasWords(one, rows))
    .sort((a, b) => b.column.filled - a.column.filled);
  return [title, ...named, ...wordy].slice(0, MOST_TEXTS);
}

function hasWords({ word, column: { filled, wordy, profile } }: Leaf, rows: number): boolean {
  if (NO_WORDS.test(word) || STOCK.test(word) || filled < LEAST_FILLED * rows) return false;
  // A value that all products have tells none of them apart.
  return wordy >= LEAST_WORDY * filled && profile?.distinct.size !== 1;
}

/** Whether queries match such a text: a description, or the name of a brand. */
function isSearched(name: string): boolean {
  return (
    TEXTS.test(name) || REFERENCES.test(name) || REFERENCES.test(name.replace(/_(name|title|label)$/, ''))
  );
}

export function isNumber({ kind }: GuessedType): boolean {
  return kind === 'int' || kind === 'float';
}

function someOf(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
