import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import { timestampOf } from '../../ground/core/timestamp.js';
import type { Arrival, EventOutput } from './foreign-event.js';

/** The value at a path: a key of the row, or keys with dots between them. */
export function valueAt(row: JsonValue | undefined, path: string): JsonValue | undefined {
  if (path === '.') return row;
  if (own(row, path) !== undefined) return own(row, path);
  let value = row;
  for (const name of path.split('.')) {
    value = own(value, name);
    if (value === undefined) return undefined;
  }
  return value;
}

function own(value: JsonValue | undefined, name: string): JsonValue | undefined {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMapping && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
}

/** How logs write that there is no value. `NA` is not one of them: it is the code of a country. */
const NO_VALUE: ReadonlySet<string> = new Set(['', 'null', 'none', 'nan', 'n/a', '#n/a', '\\n']);

export function isMissing(value: JsonValue | undefined): value is null | '' | undefined {
  return value === undefined || value === null || (typeof value === 'string' && isNoValue(value));
}

function isNoValue(text: string): boolean {
  return text.length <= 4 && NO_VALUE.has(text.toLowerCase());
}

/** Reads an id. If it is not one, the row is rejected. */
export function readId(
  value: JsonValue | undefined,
  what: string,
  output: Pick<EventOutput, 'reject'>,
): string | undefined {
  if (isMissing(value)) {
    output.reject('no_id', `${what} is missing`);
    return undefined;
  }
  const problem = idProblem(value);
  const id = problem === undefined ? idText(value) : undefined;
  if (id === undefined) output.reject('bad_id', `${what}: ${problem ?? 'it is not an id'}`);
  return id;
}

/** Upper ends of the epoch times in seconds, milliseconds and microseconds, and what they are divided by. */
const UNITS = [
  { name: 'seconds', below: 1e11, factor: 1000 },
  { name: 'milliseconds', below: 1e14, factor: 1 },
  { name: 'microseconds', below: 1e17, factor: 1e-3 },
  { name: 'nanoseconds', below: 1e20, factor: 1e-6 },
] as const;
const NUMBER = /^\d+(\.\d+)?$/;

/** How a time is written. */
export function timeForm(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string' && !NUMBER.test(value.trim()))
    return Number.isNaN(textTime(value)) ? undefined : 'text';
  const number = Number(value);
  return UNITS.find(({ below }) => number < below)?.name;
}

/**
 * Converts a time to epoch milliseconds: ISO 8601 text, or an epoch number whose unit its size tells: below 1e11 seconds
 * (until the year 5138), below 1e14 milliseconds, below 1e17 microseconds, and else nanoseconds. NaN for anything else.
 */
export function foreignTime(value: JsonValue | undefined): number {
  if (typeof value === 'string' && !NUMBER.test(value.trim())) return textTime(value);
  if (typeof value !== 'string' && typeof value !== 'number') return NaN;
  const number = Number(value);
  const unit = UNITS.find(({ below }) => number < below);
  return unit === undefined || number < 0 ? NaN : Math.floor(number * unit.factor);
}

function textTime(text: string): number {
  return timestampOf(text.trim().replace(/ ?UTC$/, 'Z'));
}

/** Reads the time of a row. If it has none, the time of its arrival counts; if that is not known, it is rejected. */
export function readTime(
  value: JsonValue | undefined,
  what: string,
  output: Pick<EventOutput, 'reject'>,
  arrival?: Arrival,
): number | undefined {
  if (isMissing(value)) {
    if (arrival !== undefined) return arrival.time;
    output.reject('no_time', `${what} is missing`);
    return undefined;
  }
  const time = foreignTime(value);
  if (!Number.isNaN(time)) return time;
  output.reject('bad_time', `${what}: ${shown(value)} is not a time`);
  return undefined;
}

/** A list, or a cell of CSV with one: JSON, or ids between `|`, `,` or spaces. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  if (value.trimStart().startsWith('[')) {
    try {
      const list: unknown = JSON.parse(value);
      return Array.isArray(list) ? (list as JsonValue[]) : undefined;
    } catch {
      return undefined;
    }
  }
  const separator = ['|', ',', ';', ' '].find((one) => value.includes(one));
  return (separator === undefined ? [value] : value.split(separator))
    .map((id) => id.trim())
    .filter((id) => id !== '');
}

/** A value for a message, cut if it is long. */
export function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value ?? null);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** A value as text. Texts stay as they are; lists and objects are JSON. */
export function plainText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** Words for yes and no, in lower case, in several languages. */
export const YES: ReadonlySet<string> = new Set('true t yes y ja j oui si sí sim tak'.split(' '));
export const NO: ReadonlySet<string> = new Set('false f no n nein nee nej non não nao nie'.split(' '));
