import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { FLAGS, ROLES } from './column-roles.js';
import { bestFit, plainName } from './name-fit.js';
import { isMissing } from './read-values.js';

/** How rows are changed before they are read. */
export interface RowShape {
  /** Columns of numbers with a decimal comma, such as `1.234,50`. */
  readonly decimal_comma?: readonly string[];
  /** Names of numbered columns: `item` means `item_1`, `item_2`, … Together they become the list `PLACES`. */
  readonly places?: readonly string[];
}

/** The list that numbered columns become. Its items are objects, or null where the first column has no value. */
const PLACES = 'places';

const WITH_COMMA = /^[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+$/;
const WHOLE = /^[+-]?\d+$/;
const NUMBERED = /^(.*?)[_ .-]?(\d+)(?:[_ .-](.*))?$/;

/** Returns a function that changes a row. */
export function rowShaper({ decimal_comma = [], places }: RowShape): (row: JsonObject) => JsonObject {
  if (decimal_comma.length === 0 && places === undefined) return (row) => row;
  return (row) => {
    const shaped: Record<string, JsonValue> = { ...row };
    for (const column of decimal_comma) {
      const value = shaped[column];
      if (typeof value === 'string' && WITH_COMMA.test(value.trim()))
        shaped[column] = value.trim().replaceAll('.', '').replace(',', '.');
    }
    return places === undefined ? shaped : withPlaces(shaped, places);
  };
}

function withPlaces(row: JsonObject, names: readonly string[]): JsonObject {
  const left: Record<string, JsonValue> = {};
  const byNumber = new Map<number, Record<string, JsonValue>>();
  for (const [column, value] of Object.entries(row)) {
    const found = numbered(column);
    if (found === undefined || !names.includes(found.name)) {
      left[column] = value;
      continue;
    }
    const place = byNumber.get(found.number) ?? {};
    byNumber.set(found.number, place);
    place[found.name] = value;
  }
  const list = [...byNumber.entries()].sort(([a], [b]) => a - b).map(([, place]) => place);
  return { ...left, [PLACES]: list.map((place) => (isMissing(place[names[0] ?? '']) ? null : place)) };
}

/** `item_2` and `item_2_id` are the second of `item` and of `item_id`. */
function numbered(column: string): { readonly name: string; readonly number: number } | undefined {
  const [, before = '', digits, after = ''] = NUMBERED.exec(column) ?? [];
  if (digits === undefined) return undefined;
  return { name: [before, after].filter((part) => part !== '').join('_'), number: Number(digits) };
}

/** Guesses the shape of rows. */
export function shapeOf(rows: readonly JsonObject[]): RowShape {
  const columns = [...new Set(rows.slice(0, 100).flatMap((row) => Object.keys(row)))];
  const decimals = columns.filter((column) => hasDecimalComma(rows, column));
  const places = placesOf(columns);
  return {
    ...(decimals.length > 0 ? { decimal_comma: decimals } : {}),
    ...(places.length > 0 ? { places } : {}),
  };
}

function hasDecimalComma(rows: readonly JsonObject[], column: string): boolean {
  // A cell such as `12,15` can also be a list of two ids.
  if ([ROLES.items, ...Object.values(FLAGS)].some((names) => bestFit([column], names) !== undefined))
    return false;
  const values = rows.map((row) => row[column]).filter((value) => !isMissing(value));
  const texts = values.filter((value) => typeof value === 'string');
  const withComma = texts.filter((text) => WITH_COMMA.test(text));
  const wholes = texts.filter((text) => WHOLE.test(text));
  return withComma.length > 0 && withComma.length + wholes.length >= values.length * 0.98;
}

/** The names of columns with the same numbers, if one of them holds items. The item is the first. */
function placesOf(columns: readonly string[]): readonly string[] {
  const numbersOf = new Map<string, Set<number>>();
  for (const column of columns) {
    const found = numbered(column);
    if (found === undefined) continue;
    const numbers = numbersOf.get(found.name) ?? new Set();
    numbersOf.set(found.name, numbers.add(found.number));
  }
  const item = bestFit(
    [...numbersOf.keys()].filter((name) => (numbersOf.get(name)?.size ?? 0) > 1),
    ROLES.item,
  );
  const numbers = item === undefined ? undefined : numbersOf.get(item);
  if (item === undefined || numbers === undefined) return [];
  const others = [...numbersOf].flatMap(([name, own]) =>
    name !== item &&
    plainName(name) !== '' &&
    own.size === numbers.size &&
    [...own].every((one) => numbers.has(one))
      ? [name]
      : [],
  );
  return [item, ...others];
}
