/** What is wrong with a file; the plugin reports it at the option that names the file. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError';
}

export type Json = Readonly<Record<string, unknown>>;

/** Lists that UBJSON holds as typed arrays count as lists. */
export type List = ArrayLike<unknown>;

export function objectAt(of: Json, key: string): Json {
  const value = of[key];
  if (typeof value === 'object' && value !== null && !isList(value)) return value as Json;
  throw new ModelFileError(`\`${key}\` is not an object`);
}

export function listAt(of: Json, key: string): List {
  const value = of[key];
  if (isList(value)) return value;
  throw new ModelFileError(`\`${key}\` is not a list`);
}

export function numbersAt(of: Json, key: string, count?: number): number[] {
  const read = Array.from(listAt(of, key), Number);
  if (count === undefined || read.length === count) return read;
  throw new ModelFileError(`\`${key}\` has ${read.length} numbers instead of ${count}`);
}

/** A whole number, which XGBoost writes as a text. */
export function countAt(of: Json, key: string, otherwise?: number): number {
  const value = of[key] === undefined ? otherwise : Number(of[key]);
  if (value !== undefined && Number.isInteger(value) && value >= 0) return value;
  throw new ModelFileError(`\`${key}\` is not a whole number`);
}

function isList(value: unknown): value is List {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value);
}
