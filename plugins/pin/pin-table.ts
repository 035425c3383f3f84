import { parse } from 'csv-parse/sync';
import { OptionError, type ProjectFile } from 'millrace/api';
import type { Pins } from './pin.js';

/**
 * Reads a CSV file with the columns `key`, `position` and `id`, in any order. It ignores other columns.
 * @returns the pins of each key
 * @throws OptionError at `path` that names the row
 */
export function readPins(file: ProjectFile, path: readonly (string | number)[]): ReadonlyMap<string, Pins> {
  const wrong = (what: string): OptionError =>
    new OptionError(
      path,
      `\`${file.path}\`${what}`,
      'write a CSV file with the columns `key`, `position` and `id`',
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
  const [key, place, name] = ['key', 'position', 'id'].map((column) => header.indexOf(column));
  if (key === undefined || place === undefined || name === undefined || Math.min(key, place, name) < 0)
    throw wrong(` has the columns ${header.join(', ')}`);
  const pins = new Map<string, Pins>();
  for (const [index, row] of rows.entries()) {
    const [text = '', position = '', id = ''] = [row[key], row[place], row[name]];
    const at = `, row ${index + 1}`;
    if (!/^[1-9][0-9]{0,8}$/.test(position))
      throw wrong(`${at}: \`${position}\` is no position; the first is 1`);
    if (id === '') throw wrong(`${at} has no id`);
    const own = pins.get(text) ?? new Map<string, number>();
    if (own.has(id)) throw wrong(`${at}: \`${id}\` has two positions for \`${text}\``);
    if ([...own.values()].includes(Number(position)))
      throw wrong(`${at}: position ${position} is given twice for \`${text}\``);
    pins.set(text, own.set(id, Number(position)));
  }
  return pins;
}
