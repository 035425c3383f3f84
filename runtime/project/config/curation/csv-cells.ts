import { timestampOf } from '../../../ground/core/timestamp.js';
import { didYouMean, nearest } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located, SourceFile } from '../yaml/source.js';
import { readCsvFields, type CsvRecord } from './csv-fields.js';

/**
 * Reads the names of the columns, in their order.
 * @returns undefined if they cannot be used; `diagnostics` says why
 */
export function readHeader<C extends string>(
  { fields, at }: CsvRecord,
  columns: readonly C[],
  needed: readonly C[],
  diagnostics: Diagnostics,
): readonly C[] | undefined {
  const all = `the columns are ${columns.join(', ')}`;
  const seen = new Set<string>();
  let isSound = true;
  for (const { value, at: place } of fields) {
    const isKnown = (columns as readonly string[]).includes(value);
    if (isKnown && !seen.has(value)) {
      seen.add(value);
      continue;
    }
    isSound = false;
    const guess = nearest(value, columns);
    diagnostics.error(
      isKnown ? 'duplicate_name' : 'unknown_key',
      place,
      isKnown ? `the column \`${value}\` occurs twice` : `there is no column \`${value}\``,
      isKnown || guess === undefined ? all : `did you mean \`${guess}\`?`,
    );
  }
  for (const column of needed) {
    if (seen.has(column) || !isSound) continue;
    isSound = false;
    diagnostics.error('missing_key', at, `the column \`${column}\` is missing`, all);
  }
  return isSound ? fields.map(({ value }) => value as C) : undefined;
}

/** The cells of a line that are not empty, by their columns. */
export function readCells<C extends string>(
  { fields }: CsvRecord,
  columns: readonly C[],
  diagnostics: Diagnostics,
): Partial<Record<C, Located<string>>> {
  const beyond = fields.slice(columns.length).find(({ value }) => value !== '');
  if (beyond !== undefined)
    diagnostics.error(
      'csv_syntax',
      beyond.at,
      `the line has ${fields.length} fields, the header ${columns.length}`,
      'put text that has a separator in double quotes',
    );
  const row: Partial<Record<C, Located<string>>> = {};
  for (const [place, column] of columns.entries()) {
    const field = fields[place];
    if (field !== undefined && field.value !== '') row[column] = field;
  }
  return row;
}

/** The lines of a file below its header. */
export interface CsvLines<C extends string> {
  readonly columns: readonly C[];
  readonly lines: readonly CsvRecord[];
}

/** Reads a file with a header. @returns undefined if it cannot be used; `diagnostics` says why */
export function readLines<C extends string>(
  file: SourceFile,
  columns: readonly C[],
  needed: readonly C[],
  diagnostics: Diagnostics,
): CsvLines<C> | undefined {
  const records = readCsvFields(file);
  if ('reason' in records) {
    diagnostics.error(
      'csv_syntax',
      records.at,
      records.reason,
      'put text with quotes or separators in double quotes',
    );
    return undefined;
  }
  const [header, ...lines] = records;
  if (header === undefined) {
    const line = columns.join(',');
    diagnostics.error(
      'csv_syntax',
      { file, start: 0, end: 0 },
      'the file has no header',
      `start it with the line ${line}`,
    );
    return undefined;
  }
  const found = readHeader(header, columns, needed, diagnostics);
  return found && { columns: found, lines };
}

/** What changes a score, as a cell says it: `1.5` and `*1.5` multiply it, `+2` and `-2` add to it. Undefined: it is none. */
export function boostOf(
  text: string,
): { readonly change: 'multiply' | 'add'; readonly amount: number } | undefined {
  const [, sign = '', digits] = /^([*+-]?)(\d+(?:[.,]\d+)?)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const isAdded = sign === '+' || sign === '-';
  const amount = Number(`${isAdded ? sign : ''}${digits.replace(',', '.')}`);
  if (isAdded) return { change: 'add', amount };
  return amount > 0 ? { change: 'multiply', amount } : undefined;
}

const GERMAN_TIME = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[ T](\d{1,2}):(\d\d))?$/;

/** A day or a time as German spreadsheets write it, `27.11.2026` or `27.11.2026 20:00`, in ISO 8601. Any other text stays. */
export function isoTime(text: string): string {
  const [, day = '', month = '', year = '', hour, minute = ''] = GERMAN_TIME.exec(text) ?? [];
  if (day === '') return text;
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const written = hour === undefined ? date : `${date}T${hour.padStart(2, '0')}:${minute}`;
  // 31.02. stays as it is written, and is refused so.
  return Number.isNaN(timestampOf(written)) ? text : written;
}

/** A cell that has one of some words. Undefined if it is empty, or wrong: then `diagnostics` says so. */
export function oneOf<T extends string>(
  column: string,
  field: Located<string> | undefined,
  words: readonly T[],
  diagnostics: Diagnostics,
): T | undefined {
  if (field === undefined) return undefined;
  const found = words.find((word) => word === field.value);
  if (found !== undefined) return found;
  diagnostics.error(
    'wrong_type',
    field.at,
    `\`${column}\`: expected ${words.join(', ')}, found \`${field.value}\``,
    didYouMean(field.value, words) ?? `write one of ${words.join(', ')}`,
  );
  return undefined;
}
