import { CsvError, parse } from 'csv-parse';
import type { JsonValue, ValueType } from '../../ground/api/types.js';
import { cellValue } from '../../ground/core/cell-value.js';
import { separatorOf } from '../../ground/core/csv-dialect.js';
import { InputError, NOT_UTF8, TO_UTF8, type BadRow, type InputRow, type RowChunk } from './rows.js';
import { Utf8Watch } from './utf8-watch.js';

const ROWS_PER_CHUNK = 500;

/** The declared types of columns. Any other column is text. */
export type ColumnTypes = ReadonlyMap<string, ValueType>;

interface CsvRecord {
  readonly record: readonly string[];
  /** The last line of the row. */
  readonly line: number;
}

/**
 * Reads a CSV file with a header. An empty cell means that the attribute is absent.
 * @param onHeader receives the names of the columns, before any row
 * @param isForeign whether the file may have another separator, and columns without a name, which are left out
 */
export async function* readCsv(
  bytes: AsyncIterable<Buffer>,
  types: ColumnTypes,
  onHeader: (names: readonly string[]) => void = () => undefined,
  isForeign = false,
): AsyncGenerator<RowChunk> {
  const source = bytes[Symbol.asyncIterator]();
  const first = await source.next();
  // The separator of a file of the project is a comma.
  const delimiter = first.done === true || !isForeign ? ',' : separatorOf(first.value.toString('utf8'));
  let read: CsvRecord[] = [];
  // The parser is not used as a stream, because a stream that fails drops the rows before the error.
  const parser = parse({
    bom: true,
    delimiter,
    relax_column_count: true,
    skip_empty_lines: true,
    on_record: (record: readonly string[], { lines }) => {
      read.push({ record, line: lines });
      return null;
    },
  });
  let failure: Error | undefined;
  parser.on('error', (error) => (failure ??= error)).resume();
  const encoding = new Utf8Watch();
  let header: readonly string[] | undefined;
  let lastLine = 0;
  let rows: InputRow[] = [];
  let bad: BadRow[] = [];

  function* take(): Generator<RowChunk> {
    const records = read;
    read = [];
    for (const { record, line } of records) {
      lastLine = line;
      if (header === undefined) {
        if (!encoding.isSound && record.some(isReplaced))
          throw new InputError(`line 1: ${NOT_UTF8}`, { help: TO_UTF8 });
        header = checkHeader(record, isForeign);
        onHeader(header);
        continue;
      }
      if (!encoding.isSound && record.some(isReplaced)) bad.push({ line, problem: NOT_UTF8 });
      else if (record.length === header.length) rows.push(toRow(header, record, line, types));
      else {
        const problem = `expected ${String(header.length)} cells, as in the header, but found ${String(record.length)}`;
        bad.push({ line, problem });
      }
      if (rows.length + bad.length === ROWS_PER_CHUNK) {
        yield { rows, bad };
        rows = [];
        bad = [];
      }
    }
  }

  for await (const chunk of encoding.watch(rest(first, source))) {
    await new Promise((resolve) => parser.write(chunk, resolve));
    yield* take();
    if (failure !== undefined) break;
  }
  if (failure === undefined) await new Promise<void>((resolve) => parser.end(resolve));
  yield* take();
  yield { rows, bad };
  if (failure instanceof CsvError) throw notCsv(failure, lastLine + 1);
  if (failure !== undefined) throw failure;
}

async function* rest(
  first: IteratorResult<Buffer, unknown>,
  source: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer> {
  for (let next = first; next.done !== true; next = await source.next()) yield next.value;
}

/** @param line where the unreadable row starts */
function notCsv(error: CsvError, line: number): InputError {
  const at = `line ${String(line)}: `;
  if (error.code === 'CSV_QUOTE_NOT_CLOSED')
    return new InputError(
      `${at}a quote in this row is never closed, so all lines after it are part of one cell`,
      {
        help: 'close the quote; inside a quoted cell, write a quote twice: "a ""b"""',
        cause: error,
      },
    );
  if (error.code === 'INVALID_OPENING_QUOTE' || error.code === 'CSV_INVALID_CLOSING_QUOTE')
    return new InputError(`${at}a cell contains a quote but is not quoted`, {
      help: 'quote the cell, and write each quote inside it twice: "a ""b"""',
      cause: error,
    });
  return new InputError(`${at}not CSV: ${error.message}`, { cause: error });
}

/** True if the parser replaced invalid bytes by U+FFFD. */
function isReplaced(cell: string): boolean {
  return cell.includes('\ufffd');
}

function checkHeader(cells: readonly string[], isForeign: boolean): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const [only = ''] = names;
  if (names.length === 1 && /[;\t|]/.test(only))
    throw new InputError(`line 1: the header is one column, "${only}"; columns are separated by commas`);
  const empty = names.indexOf('');
  if (empty !== -1 && !isForeign)
    throw new InputError(`line 1: column ${String(empty + 1)} of the header has no name`);
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) !== at);
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
    if (text === '' || name === '') return;
    fields.push([name, cellValue(text, types.get(name))]);
    bytes += name.length + Buffer.byteLength(text) + 6;
  });
  return { line, value: Object.fromEntries(fields), bytes };
}
