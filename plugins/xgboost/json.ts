import { ModelFileError } from 'millrace/api';
export type Json = Readonly<Record<string, unknown>>;

/** A list. UBJSON stores lists of numbers as typed arrays. */
export type List = ArrayLike<unknown>;

/** Limits on the numbers that a file states, because it need not contain data for most of them. */
export const MOST_FEATURES = 1_000_000;
export const MOST_OUTPUTS = 10_000;

export function objectAt(of: Json, key: string, otherwise?: Json): Json {
  const value = of[key] === undefined ? otherwise : of[key];
  if (isObject(value)) return value;
  throw new ModelFileError(`\`${key}\` is not an object`);
}

export function asObject(value: unknown): Json {
  if (isObject(value)) return value;
  throw new ModelFileError('it is not an object');
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !isList(value);
}

export function listAt(of: Json, key: string): List {
  const value = of[key];
  if (isList(value)) return value;
  throw new ModelFileError(`\`${key}\` is not a list`);
}

export function numbersAt(of: Json, key: string, count?: number): number[] {
  const read = measuresAt(of, key, count);
  if (!read.some(Number.isNaN)) return read;
  throw new ModelFileError(`\`${key}\` has an element that is not a number`);
}

/** Numbers, some of which are NaN, such as the thresholds of categorical nodes. JSON has null for NaN. */
export function measuresAt(of: Json, key: string, count?: number): number[] {
  const read = Array.from(listAt(of, key), numberOf);
  if (count === undefined || read.length === count) return read;
  throw new ModelFileError(`\`${key}\` has ${read.length} numbers instead of ${count}`);
}

/** Checks the length of an optional list whose elements are not read. */
export function checkCount(of: Json, key: string, count: number): void {
  if (of[key] === undefined) return;
  const { length } = listAt(of, key);
  if (length !== count) throw new ModelFileError(`\`${key}\` has ${length} numbers instead of ${count}`);
}

/** Numbers that are 0 or 1; old versions write false and true. */
export function flagsAt(of: Json, key: string, count: number): number[] {
  const read = numbersAt(of, key, count);
  const wrong = read.find((value) => value !== 0 && value !== 1);
  if (wrong === undefined) return read;
  throw new ModelFileError(`\`${key}\` holds ${wrong}`);
}

/** Integers that are indexes into lists, or -1. */
export function indexesAt(of: Json, key: string, count?: number): number[] {
  const read = numbersAt(of, key, count);
  const wrong = read.find((value) => !Number.isInteger(value) || value < -1 || value > MOST_INDEX);
  if (wrong === undefined) return read;
  throw new ModelFileError(`\`${key}\` holds ${wrong}`);
}

/** The largest Int32. A larger index would become another number. */
const MOST_INDEX = 2 ** 31 - 1;

/** @throws ModelFileError if the value is not a text */
export function textAt(of: Json, key: string): string {
  const value = of[key];
  if (typeof value === 'string') return value;
  throw new ModelFileError(`\`${key}\` is not a text`);
}

/**
 * An integer, which XGBoost writes as a text. `most` limits a number that the file can state without data behind it.
 */
export function countAt(of: Json, key: string, otherwise?: number, most = Infinity): number {
  const written = of[key];
  const value =
    written === undefined ? otherwise : typeof written === 'string' ? Number(written) : numberOf(written);
  if (value === undefined || !Number.isInteger(value) || value < 0)
    throw new ModelFileError(`\`${key}\` is not a whole number`);
  if (value > most) throw new ModelFileError(`\`${key}\` is ${value}, and the limit is ${most}`);
  return value;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : NaN;
}

function isList(value: unknown): value is List {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value);
}
