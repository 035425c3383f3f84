import { ModelFileError } from 'millrace/api';

export type Fields = ReadonlyMap<string, string>;

/**
 * Reads `key=value` lines. A line without `=` is a key without a value.
 * @throws ModelFileError for a duplicate key
 */
export function fieldsOf(lines: readonly string[]): Fields {
  const fields = new Map<string, string>();
  for (const line of lines) {
    if (line.trim() === '') continue;
    const at = line.indexOf('=');
    const key = at < 0 ? line.trim() : line.slice(0, at);
    if (fields.has(key)) throw new ModelFileError(`\`${key.slice(0, 40)}\` occurs twice`);
    fields.set(key, at < 0 ? '' : line.slice(at + 1));
  }
  return fields;
}

/** Splits at ASCII spaces and tabs only: names may contain other white space. */
export function words(text: string): string[] {
  return text.split(/[ \t]+/).filter((word) => word !== '');
}

export function wholeNumber(fields: Fields, key: string, otherwise?: number): number {
  const text = fields.get(key);
  const value = text === undefined ? otherwise : /^\d+$/.test(text.trim()) ? Number(text) : NaN;
  if (value !== undefined && Number.isInteger(value)) return value;
  throw new ModelFileError(`\`${key}\` is ${text === undefined ? 'missing' : 'not a whole number'}`);
}

export function numbers(fields: Fields, key: string, count?: number, otherwise?: number[]): number[] {
  const text = fields.get(key);
  if (text === undefined) {
    if (otherwise !== undefined) return otherwise;
    throw new ModelFileError(`\`${key}\` is missing`);
  }
  // JavaScript accepts 0x10, 0b1 and 0o7; LightGBM does not write them.
  const foreign = /[xob]/i.test(text) ? words(text).find((word) => /[xob]/i.test(word)) : undefined;
  if (foreign !== undefined) throw new ModelFileError(`\`${key}\` holds ${JSON.stringify(foreign)}`);
  const read = words(text).map((word) => numberOf(word, key));
  if (count === undefined || read.length === count) return read;
  throw new ModelFileError(`\`${key}\` has ${read.length} numbers instead of ${count}`);
}

/** Integers that an Int32Array can hold. */
export function indexes(fields: Fields, key: string, count?: number): number[] {
  const read = numbers(fields, key, count);
  const wrong = read.find((value) => (value | 0) !== value);
  if (wrong === undefined) return read;
  throw new ModelFileError(`\`${key}\` holds ${wrong}`);
}

/** Infinities in the spelling of C, which LightGBM uses. */
const INFINITIES: ReadonlyMap<string, number> = new Map([
  ['inf', Infinity],
  ['infinity', Infinity],
  ['-inf', -Infinity],
  ['-infinity', -Infinity],
]);

function numberOf(word: string, key: string): number {
  const number = Number(word);
  const value = Number.isNaN(number) ? INFINITIES.get(word.toLowerCase()) : number;
  if (value === undefined) throw new ModelFileError(`\`${key}\` holds ${JSON.stringify(word)}`);
  return value;
}
