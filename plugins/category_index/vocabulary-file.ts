import { parse } from 'csv-parse/sync';
import { OptionError, otherFile, type ProjectFile } from 'millrace/api';
import type { Vocabulary } from './vocabulary.js';

/** A category and its code. If the file has no codes, the code is the position. */
type Entry = readonly [category: string, code: unknown];

/**
 * Reads a vocabulary. It is a JSON list of texts, a JSON object from text to code, or a CSV file with the column
 * `category` and, optionally, `code`. Other columns are ignored.
 * @throws OptionError at `path`
 */
export function readVocabulary(file: ProjectFile, path: readonly (string | number)[]): Vocabulary {
  const wrong = (what: string, help?: string): OptionError =>
    new OptionError(
      path,
      `\`${file.path}\`${what}`,
      help ??
        'write a CSV file with the columns `category` and `code`, or JSON: ["lumen", "halcyon"] or {"lumen": 0, "halcyon": 1}',
    );
  const codes = new Map<string, number>();
  const entries = entriesOf(file, wrong);
  for (const [index, [category, code]] of entries.entries()) {
    const entry = `, entry ${index + 1}`;
    if (category === '') throw wrong(`${entry}: the category is empty`);
    if (codes.has(category)) throw wrong(`${entry}: \`${category}\` occurs twice`);
    if (!Number.isSafeInteger(code)) {
      throw wrong(`${entry}: the code of \`${category}\` is ${JSON.stringify(code)}, not an integer`);
    }
    codes.set(category, code as number);
  }
  if (codes.size === 0) throw wrong(' has no categories');
  return codes;
}

type Wrong = (what: string, help?: string) => OptionError;

function entriesOf(file: ProjectFile, wrong: Wrong): readonly Entry[] {
  try {
    return file.path.toLowerCase().endsWith('.json') ? fromJson(file, wrong) : fromCsv(file, wrong);
  } catch (error) {
    // As CSV, a failed download would only be reported as a header with wrong names.
    const other = otherFile(file);
    throw other === undefined ? error : wrong(` is ${other.what}`, other.help);
  }
}

function fromJson(file: ProjectFile, wrong: Wrong): Entry[] {
  let content: unknown;
  try {
    content = JSON.parse(file.content.toString('utf8'));
  } catch (error) {
    throw wrong(` is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (Array.isArray(content)) {
    return content.map((category: unknown, position) => {
      if (typeof category !== 'string') throw wrong(`, entry ${position + 1}: expected a text`);
      return [category, position];
    });
  }
  if (typeof content === 'object' && content !== null) return Object.entries(content);
  throw wrong(' is neither a list nor an object');
}

function fromCsv(file: ProjectFile, wrong: Wrong): Entry[] {
  let lines: string[][];
  try {
    lines = parse(file.content, { bom: true, skip_empty_lines: true, trim: true });
  } catch (error) {
    throw wrong(`: ${error instanceof Error ? error.message : String(error)}`);
  }
  const [header = [], ...rows] = lines;
  const category = header.indexOf('category');
  const code = header.indexOf('code');
  if (category < 0) throw wrong(` has no column \`category\`; it has ${header.join(', ')}`);
  return rows.map((row, position) => [row[category] ?? '', code < 0 ? position : codeOf(row[code] ?? '')]);
}

/** The number in a cell; otherwise the cell itself, because Number('') would be 0. */
function codeOf(text: string): number | string {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}
