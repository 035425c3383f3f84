import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { EventOutput, Owners } from './foreign-event.js';
import type { Path, RankingSource, Where } from './mapping.js';
import { isMissing, readId, readTime, shown, valueAt } from './read-values.js';

/** Keys of `map:` that name no entity type. */
const OWN: ReadonlySet<string> = new Set([
  'request',
  'time',
  'position',
  'score',
  'propensity',
  'items',
  'type',
  'quantity',
  'event_id',
]);
/** Epoch milliseconds of the first row, if the rows have no time. Each later row counts as a second later. */
const NO_TIME_START = Date.UTC(2000, 0, 1);

export function isWanted(row: JsonObject, where: Where | undefined): boolean {
  return Object.entries(where ?? {}).every(([path, values]) => {
    const value = valueAt(row, path);
    return (typeof value === 'string' || typeof value === 'number') && values.includes(String(value));
  });
}

export function onePath(path: Path | readonly Path[] | undefined): Path | undefined {
  return typeof path === 'object' ? path[0] : path;
}

export function pathsOf(path: Path | readonly Path[] | undefined): readonly Path[] {
  return path === undefined ? [] : typeof path === 'string' ? [path] : path;
}

/** One column is the id itself. Several are joined so that different rows have different ids. */
export function readRequest(
  row: JsonObject,
  paths: readonly Path[],
  output: EventOutput,
): string | undefined {
  const [only] = paths;
  if (paths.length === 1 && only !== undefined) return readId(valueAt(row, only), only, output);
  const parts = paths.map((path) => valueAt(row, path) ?? null);
  if (parts.every(isMissing)) {
    output.reject('no_id', `${paths.join(', ')} are missing`);
    return undefined;
  }
  return parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('\u001f');
}

export function timeReader(
  path: Path | readonly Path[] | undefined,
): (row: JsonObject, output: EventOutput) => number | undefined {
  const from = onePath(path);
  let rows = 0;
  if (from === undefined) return () => NO_TIME_START + 1000 * rows++;
  return (row, output) => readTime(valueAt(row, from), from, output);
}

export function ownersReader(
  map: RankingSource['map'],
  candidateType: string,
): (row: JsonObject, output: EventOutput) => Owners | undefined {
  const types = Object.entries(map).flatMap(([type, path]) => {
    const from = onePath(path);
    return OWN.has(type) || type === candidateType || from === undefined ? [] : [{ type, path: from }];
  });
  return (row, output) => {
    const owners: Record<string, string> = {};
    for (const { type, path } of types) {
      const value = valueAt(row, path);
      if (isMissing(value)) continue;
      const id = readId(value, path, output);
      if (id === undefined) return undefined;
      owners[type] = id;
    }
    return owners;
  };
}

export function pick(row: JsonValue, paths: Readonly<Record<string, Path>> | undefined): JsonObject {
  const picked: [string, JsonValue][] = [];
  for (const [name, path] of Object.entries(paths ?? {})) {
    const value = valueAt(row, path);
    if (!isMissing(value)) picked.push([name, value]);
  }
  return Object.fromEntries(picked);
}

/** @returns undefined if the row has none; null if it is rejected */
export function readPosition(
  row: JsonValue,
  path: Path | readonly Path[] | undefined,
  first: number,
  output: EventOutput,
): number | undefined | null {
  const from = onePath(path);
  const value = from === undefined ? undefined : valueAt(row, from);
  if (isMissing(value)) return undefined;
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : NaN;
  if (Number.isInteger(number) && number >= first && number < 2 ** 31) return number - first + 1;
  output.reject('bad_position', `${from ?? ''}: ${shown(value)} is not a whole number from ${first}`);
  return null;
}

/**
 * Reads the probability with which a candidate was drawn for its place.
 * @returns undefined if the row has none; null if it is rejected
 */
export function readPropensity(
  row: JsonValue,
  path: Path | readonly Path[] | undefined,
  output: EventOutput,
): number | undefined | null {
  const from = onePath(path);
  const value = from === undefined ? undefined : valueAt(row, from);
  if (isMissing(value)) return undefined;
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : NaN;
  if (number > 0 && number <= 1) return number;
  output.reject('bad_propensity', `${from ?? ''}: ${shown(value)} is not a number above 0 and at most 1`);
  return null;
}
