import { CsvError, parse } from 'csv-parse/sync';
import { csvDialect, withoutGuard } from '../../../ground/core/csv-dialect.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';

/** A record of a CSV file: its fields, trimmed, each with its place. */
export interface CsvRecord {
  readonly at: Span;
  readonly fields: readonly Located<string>[];
}

/** A file that is not CSV. */
export interface CsvFault {
  readonly at: Span;
  readonly reason: string;
}

interface ParsedRecord {
  readonly record: readonly string[];
  readonly info: { readonly bytes: number };
}

/**
 * Splits a CSV file into records, also one that a spreadsheet wrote: with another separator, and rows of empty cells, which are
 * left out. csv-parse reads the values; this function adds their places.
 */
export function readCsvFields(file: SourceFile): readonly CsvRecord[] | CsvFault {
  const { separator, start: head } = csvDialect(file.text);
  const bytes = Buffer.from(file.text.slice(head));
  let records: ParsedRecord[];
  try {
    records = parse(bytes, {
      bom: true,
      delimiter: separator,
      info: true,
      skip_empty_lines: true,
      trim: true,
      relax_column_count: true,
    }) as unknown as ParsedRecord[];
  } catch (error) {
    return faultOf(error, file, head);
  }
  let byte = 0;
  let offset = head;
  const all = records.map(({ record, info }) => {
    const text = bytes.toString('utf8', byte, info.bytes);
    // A tab may be a separator beside an empty cell.
    const start = offset + (/^(?:[^\S\t]|\uFEFF)*/.exec(text)?.[0].length ?? 0);
    const end = offset + text.replace(/[^\S\t]+$/, '').length;
    byte = info.bytes;
    offset += text.length;
    const at = { file, start, end };
    const places = fieldsOf(file, start, end, separator);
    const fields = record.map((value, index) => ({ value: withoutGuard(value), at: places[index] ?? at }));
    return { at, fields };
  });
  return all.filter(({ fields }) => fields.some(({ value }) => value !== ''));
}

/** The places of the fields of one record: inside their quotes, and without spaces around them. */
function fieldsOf(file: SourceFile, start: number, end: number, separator: string): Span[] {
  const { text } = file;
  const places: Span[] = [];
  let from = start;
  let isQuoted = false;
  for (let at = start; at <= end; at++) {
    const character = at === end ? separator : text[at];
    if (at < end && character === '"') isQuoted = !isQuoted;
    if (character !== separator || (isQuoted && at < end)) continue;
    places.push(trimmed(file, from, at));
    from = at + 1;
  }
  return places;
}

function trimmed(file: SourceFile, start: number, end: number): Span {
  const raw = file.text.slice(start, end);
  const inner = raw.trim();
  const from = start + (inner === '' ? 0 : raw.indexOf(inner));
  if (inner.length >= 2 && inner.startsWith('"') && inner.endsWith('"'))
    return { file, start: from + 1, end: from + inner.length - 1 };
  return { file, start: from, end: from + inner.length };
}

/** @param head where the first line begins that was read */
function faultOf(error: unknown, file: SourceFile, head: number): CsvFault {
  if (!(error instanceof CsvError)) throw error;
  const lines = typeof error['lines'] === 'number' ? error['lines'] : 1;
  const starts = file.text.slice(head).split('\n', lines);
  const start = head + starts.slice(0, lines - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const reason =
    error.code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'a quote is not closed'
      : error.code === 'INVALID_OPENING_QUOTE' || error.code === 'CSV_INVALID_CLOSING_QUOTE'
        ? 'a quote stands inside a field'
        : 'the line cannot be read as CSV';
  return { at: { file, start, end: start + (starts[lines - 1]?.trimEnd().length ?? 0) }, reason };
}
