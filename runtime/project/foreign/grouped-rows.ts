import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { isMissing, plainText, valueAt } from './read-values.js';

/** Rows that a key groups into lists shorter than this on average are no requests. */
const LEAST_MEAN_LENGTH = 1.2;
/** The share of rows that can repeat an item or a position of their list. */
const MOST_REPEATS = 0.05;

/** Whether rows with the same values in the columns of the key look like one list that was shown. */
export function groupsLists(
  rows: readonly JsonObject[],
  key: readonly string[],
  item: string,
  position: string | undefined,
): boolean {
  const { length, repeats } = grouping(rows, key, item, position);
  return length >= LEAST_MEAN_LENGTH && repeats <= MOST_REPEATS;
}

/** How long the lists are that a key makes, and the share of rows that repeat an item or a position in a list. */
function grouping(
  rows: readonly JsonObject[],
  key: readonly string[],
  item: string,
  position: string | undefined,
): { readonly length: number; readonly repeats: number } {
  const groups = new Map<string, { readonly items: Set<string>; readonly positions: Set<string> }>();
  let counted = 0;
  let repeats = 0;
  for (const row of rows) {
    const parts = key.map((path) => valueAt(row, path));
    if (parts.some(isMissing)) continue;
    const id = JSON.stringify(parts);
    let group = groups.get(id);
    if (group === undefined) groups.set(id, (group = { items: new Set(), positions: new Set() }));
    const itemId = JSON.stringify(valueAt(row, item));
    const place = position === undefined ? '' : JSON.stringify(valueAt(row, position));
    counted += 1;
    if (group.items.has(itemId) || (position !== undefined && group.positions.has(place))) repeats += 1;
    group.items.add(itemId);
    group.positions.add(place);
  }
  return { length: counted / Math.max(1, groups.size), repeats: repeats / Math.max(1, counted) };
}

/** Whether a column has one value in each request. */
export function isConstantIn(rows: readonly JsonObject[], request: readonly string[], path: string): boolean {
  const values = new Map<string, string>();
  let differing = 0;
  for (const row of rows) {
    const id = JSON.stringify(request.map((one) => valueAt(row, one)));
    const value = JSON.stringify(valueAt(row, path) ?? null);
    const before = values.get(id);
    if (before === undefined) values.set(id, value);
    else if (before !== value) differing += 1;
  }
  return differing <= rows.length / 1000;
}

/** A column with so few values that they are in such rows by chance, with this probability, says nothing. */
const CHANCE = 0.001;

/** Whether a column has values only in rows where something happened. */
export function isLater(rows: readonly JsonObject[], path: string, flags: readonly string[]): boolean {
  const acts = rows.filter((row) => flags.some((flag) => isSet(valueAt(row, flag))));
  const inActs = acts.filter((row) => isSet(valueAt(row, path))).length;
  if (inActs === 0 || (acts.length / rows.length) ** inActs > CHANCE) return false;
  return rows.filter((row) => isSet(valueAt(row, path))).length === inActs;
}

function isSet(value: JsonValue | undefined): boolean {
  return !isMissing(value) && !['0', 'false', '0.0'].includes(plainText(value));
}
