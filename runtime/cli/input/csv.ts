import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { JsonValue, ValueType } from '../../api/types.js';
import { cellValue } from './cells.js';
import { InputError, NOT_UTF8, type BadRow, type InputRow, type RowChunk } from './rows.js';
import { Utf8Watch } from './utf8-watch.js';

const ROWS_PER_CHUNK = 500;

/** Types of the columns that the project declares; any other column is text. */
export type ColumnTypes = ReadonlyMap<string, ValueType>;

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/**
 * Reads a CSV file with a header. An empty cell means that the attribute is absent.
 * @param onHeader given the names of the columns, before any row
 */
export async function* readCsv(
  bytes: AsyncIterable<Buffer>,
  types: ColumnTypes,
  onHeader: (names: readonly string[]) => void = () => undefined,
): AsyncGenerator<RowChunk> {
  const parser = parse({ bom: true, info: true, relax_column_count: true, skip_empty_lines: true });
  const encoding = new Utf8Watch();
  const source = Readable.from(encoding.watch(bytes));
  source.once('error', (error) => parser.destroy(error));
  let header: readonly string[] | undefined;
  let rows: InputRow[] = [];
  let bad: BadRow[] = [];
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<CsvRecord>) {
      if (header === undefined) {
        if (!encoding.isSound && record.some(isReplaced)) throw new InputError(`line 1: ${NOT_UTF8}`);
        header = checkHeader(record);
        onHeader(header);
        continue;
      }
      if (!encoding.isSound && record.some(isReplaced)) bad.push({ line: info.lines, problem: NOT_UTF8 });
      else if (record.length === header.length) rows.push(toRow(header, record, info.lines, types));
      else {
        const problem = `expected ${String(header.length)} cells as in the header, found ${String(record.length)}`;
        bad.push({ line: info.lines, problem });
      }
      if (rows.length + bad.length === ROWS_PER_CHUNK) {
        yield { rows, bad };
        rows = [];
        bad = [];
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { rows, bad };
    throw new InputError(`not CSV: ${error.message}`, { cause: error });
  }
  yield { rows, bad };
}

/** Whether the parser has put U+FFFD where the bytes were no letters. */
function isReplaced(cell: string): boolean {
  return cell.includes('\ufffd');
}

function checkHeader(cells: readonly string[]): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const [only = ''] = names;
  if (names.length === 1 && /[;\t|]/.test(only))
    throw new InputError(`line 1: the header is one column, "${only}"; columns are separated by commas`);
  const empty = names.indexOf('');
  if (empty !== -1) throw new InputError(`line 1: column ${String(empty + 1)} of the header has no name`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new InputError(`line 1: the header names "${twice}" twice`);
  return names;
}

function toRow(
  header: readonly string[],
  cells: readonly string[],
  line: number,
  types: ColumnTypes,
): InputRow {
  const fields: [string, JsonValue][] = [];
  let bytes = 0;
  header.forEach((name, at) => {
    const text = cells[at] ?? '';
    if (text === '') return;
    fields.push([name, cellValue(text, types.get(name))]);
    bytes += name.length + Buffer.byteLength(text) + 6;
  });
  return { line, value: Object.fromEntries(fields), bytes };
}
