import { parse } from 'csv-parse/sync';
import { type Input, isKnown, OptionError, type ProjectFile, type StepInput } from 'millrace/api';

/**
 * The amount of change for a row of one request. NaN: the amount is not known. Undefined: the score does not change.
 */
export type Amount = (input: StepInput) => (row: number) => number | undefined;

/** The value of an expression. */
export function amountOf(value: Input<'number'>): Amount {
  return (input) => {
    const { values, status, stride } = input.column(value);
    return (row) => (isKnown(status[row * stride]) ? (values[row * stride] ?? NaN) : NaN);
  };
}

/** The amount in a table, by the texts of its keys, e.g. the id of a brand and the device of the request. */
export function amountFrom(table: AmountTable, keys: readonly Input<'text'>[]): Amount {
  return (input) => {
    const columns = keys.map((key) => input.column(key));
    return (row) => {
      let level: AmountTable | number | undefined = table;
      for (const { values, status, stride } of columns) {
        if (!isKnown(status[row * stride])) return NaN;
        if (typeof level !== 'object') return undefined;
        level = level.get(values[row * stride] ?? '');
      }
      return typeof level === 'number' ? level : undefined;
    };
  };
}

/** By the text of the first key: the amount, or the table of the other keys. */
export type AmountTable = ReadonlyMap<string, AmountTable | number>;

/**
 * Reads a CSV file with the columns of the keys and `amount`, in any order. It ignores other columns.
 * @param keys names of the columns of the keys
 * @throws OptionError at `path` that names the row
 */
export function readTable(
  file: ProjectFile,
  path: readonly (string | number)[],
  keys: readonly string[] = ['key'],
): AmountTable {
  const columns = [...keys, 'amount'];
  const named = columns.map((column) => `\`${column}\``);
  const wrong = (what: string): OptionError =>
    new OptionError(
      path,
      `\`${file.path}\`${what}`,
      `write a CSV file with the columns ${named.slice(0, -1).join(', ')} and ${named.at(-1) ?? ''}`,
    );
  if (/^[^,\r\n]*;/.test(file.content.toString('utf8', 0, 1024)))
    throw wrong(' is separated by semicolons, not commas');
  let lines: string[][];
  try {
    lines = parse(file.content, { bom: true, skip_empty_lines: true, trim: true });
  } catch (error) {
    throw wrong(`: ${error instanceof Error ? error.message : String(error)}`);
  }
  const [header = [], ...rows] = lines;
  const places = columns.map((column) => header.indexOf(column));
  if (places.includes(-1)) throw wrong(` has the columns ${header.join(', ')}`);
  const table: Level = new Map();
  for (const [index, row] of rows.entries()) {
    const cells = places.map((place) => row[place] ?? '');
    const text = cells.pop() ?? '';
    if (text === '' || !Number.isFinite(Number(text))) {
      throw wrong(`, row ${index + 1}: \`${text}\` is not a number`);
    }
    const last = cells.at(-1) ?? '';
    let level = table;
    for (const cell of cells.slice(0, -1)) {
      const next = level.get(cell);
      if (next instanceof Map) level = next;
      else {
        const made: Level = new Map();
        level.set(cell, made);
        level = made;
      }
    }
    if (level.has(last)) throw wrong(`, row ${index + 1}: \`${cells.join(', ')}\` occurs twice`);
    level.set(last, Number(text));
  }
  return table;
}

type Level = Map<string, Level | number>;
