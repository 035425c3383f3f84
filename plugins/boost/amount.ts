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

/** The amount in a table, by a text of the candidate, e.g. the id of its brand. */
export function amountFrom(table: ReadonlyMap<string, number>, by: Input<'text'>): Amount {
  return (input) => {
    const { values, status, stride } = input.column(by);
    return (row) => (isKnown(status[row * stride]) ? table.get(values[row * stride] ?? '') : NaN);
  };
}

/**
 * Reads a CSV file with the columns `key` and `amount`, in any order. It ignores other columns.
 * @throws OptionError at `path` that names the row
 */
export function readTable(file: ProjectFile, path: readonly (string | number)[]): Map<string, number> {
  const wrong = (what: string): OptionError =>
    new OptionError(path, `\`${file.path}\`${what}`, 'write a CSV file with the columns `key` and `amount`');
  let lines: string[][];
  try {
    lines = parse(file.content, { bom: true, skip_empty_lines: true, trim: true });
  } catch (error) {
    throw wrong(`: ${error instanceof Error ? error.message : String(error)}`);
  }
  const [header = [], ...rows] = lines;
  const key = header.indexOf('key');
  const amount = header.indexOf('amount');
  if (key < 0 || amount < 0) throw wrong(` has the columns ${header.join(', ')}`);
  const table = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const name = row[key] ?? '';
    const text = row[amount] ?? '';
    if (text === '' || !Number.isFinite(Number(text))) {
      throw wrong(`, row ${index + 1}: \`${text}\` is not a number`);
    }
    if (table.has(name)) throw wrong(`, row ${index + 1}: \`${name}\` occurs twice`);
    table.set(name, Number(text));
  }
  return table;
}
