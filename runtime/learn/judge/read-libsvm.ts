import { Readable } from 'node:stream';
import type { Judgment } from '../evaluation/judgments.js';
import { readLibSvmRow, type LibSvmRow } from '../evaluation/text-rows.js';
import { isStored, isUnanswered, readStored } from '../../ground/core/stored-files.js';
import type { Console } from '../../ground/core/console.js';
import { InputError } from '../../project/rows/rows.js';
import { readTextLines } from '../../project/rows/text-lines.js';
import type { JudgmentRows } from './judgment-rows.js';
import type { RequestShape } from './request-shape.js';

/** A LibSVM file names its columns by number; the attribute of column 7 is `f7`. */
const FEATURE = /^f(\d+)$/;

/**
 * Reads a LibSVM file. If its lines have no `qid:`, FILE.query has the number of lines of each query, as for LightGBM.
 * @throws InputError if that file is missing or does not fit
 */
export async function readLibSvm(
  { stdin }: Console,
  path: string,
  { attributes, carried }: Pick<RequestShape, 'attributes' | 'carried'>,
  judgments: JudgmentRows,
): Promise<void> {
  const names = [...new Set([...attributes.keys(), ...carried.keys()])].flatMap((name) => {
    const [, column] = FEATURE.exec(name) ?? [];
    return column === undefined ? [] : [{ name, column: Number(column) }];
  });
  for await (const { line, row } of libSvmLines(stdin, path)) {
    if (typeof row === 'string') {
      judgments.add('line', line, row);
      continue;
    }
    // A column that a line leaves out is 0.
    const values = names.map(({ name, column }): [string, number] => [name, row.features.get(column) ?? 0]);
    judgments.add('line', line, {
      ...judgmentOf(line, row),
      ...(names.length === 0 ? {} : { carried: Object.fromEntries(values) }),
    });
  }
}

/** The judgment of a line, without its columns. */
export function judgmentOf(line: number, { query, id, grade }: LibSvmRow): Judgment {
  return { query: query ?? '', id: id ?? `line_${line}`, grade };
}

/** Whether a file that no name tells the format of is a LibSVM file: whether its first line is one of a ranking. */
export async function isLibSvm(path: string): Promise<boolean> {
  try {
    for await (const { text } of readTextLines(path, Readable.from([]))) {
      if (text.startsWith('#')) continue;
      const row = readLibSvmRow(text);
      return typeof row !== 'string' && (row.query !== undefined || (await isStored(`${path}.query`)));
    }
  } catch {
    // What reads the file says what is wrong with it.
  }
  return false;
}

/**
 * The lines of a LibSVM file, each with its query: that of its `qid:`, or the number of its group in FILE.query, which
 * is `numbered`.
 * @returns for a line that cannot be read, why
 * @throws InputError if FILE.query is missing or does not fit
 */
export async function* libSvmLines(
  stdin: Console['stdin'],
  path: string,
): AsyncGenerator<{ readonly line: number; readonly row: LibSvmRow | string; readonly numbered: boolean }> {
  let groups: Groups | undefined;
  let rows = 0;
  for await (const { line, text } of readTextLines(path, stdin)) {
    if (text.startsWith('#')) continue;
    const row = readLibSvmRow(text);
    if (typeof row === 'string') {
      yield { line, row, numbered: false };
      continue;
    }
    rows += 1;
    const numbered = row.query === undefined;
    const query = row.query ?? (groups ??= await readGroups(path)).queryOf(rows);
    yield { line, row: { ...row, query }, numbered };
  }
  groups?.end(rows);
}

interface Groups {
  /** @param row 1-based */
  queryOf(row: number): string;
  end(rows: number): void;
}

async function readGroups(path: string): Promise<Groups> {
  const file = `${path}.query`;
  const content = await readStored(file).catch((error: unknown) => {
    if (isUnanswered(error)) throw error;
    throw new InputError(
      `${path} has lines without qid:, and there is no ${file} with the sizes of the queries`,
      {
        cause: error,
      },
    );
  });
  const sizes = String(content)
    .split(/\s+/)
    .filter((size) => size !== '');
  let group = 0;
  let last = Number(sizes[0]);
  const wrong = (found: string): InputError => new InputError(`${file}: ${found}`);
  if (sizes.some((size) => !/^\d+$/.test(size))) throw wrong('expected one whole number a line');
  return {
    queryOf(row) {
      while (row > last) {
        group += 1;
        if (group >= sizes.length) throw wrong(`its sizes add up to ${last}, but ${path} has more lines`);
        last += Number(sizes[group]);
      }
      return String(group + 1);
    },
    end(rows) {
      const all = sizes.reduce((sum, size) => sum + Number(size), 0);
      if (rows !== all) throw wrong(`its sizes add up to ${all}, but ${path} has ${rows} lines`);
    },
  };
}
