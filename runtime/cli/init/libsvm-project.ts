import { readdirSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { count, counted } from '../../ground/core/count.js';
import { printable } from '../../ground/core/display-width.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import { writeWhole } from '../../ground/core/write-whole.js';
import type { JsonObject } from '../../ground/api/types.js';
import { isLibSvm, judgmentOf, libSvmLines } from '../../learn/judge/read-libsvm.js';
import { JudgmentRows } from '../../learn/judge/judgment-rows.js';
import type { LibSvmRow } from '../../learn/evaluation/text-rows.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { columnProjectFiles, columnCommands } from '../../project/starter/column-project.js';
import type { CliContext } from '../context.js';
import { writeOwnSchemas } from './editor-schemas.js';

/** The names that published sets of judgments have: train.txt, set1.valid.txt, rank.test, MSLR-WEB10K/Fold1/vali.txt. */
const PARTS = {
  train: /(^|[._-])train([._-]|$)/i,
  test: /(^|[._-])test([._-]|$)/i,
  vali: /(^|[._-])(vali|valid|validation|dev)([._-]|$)/i,
} as const;
type Part = keyof typeof PARTS;
/** Beside the judgments of LightGBM: sizes of queries, weights, and other files that are no judgments. */
const BESIDE = /\.(query|group|weight|init|position|conf|md)$/i;

const EXAMPLES = 5;
/** The name of a column in a request, e.g. `f7`. */
const columnName = (column: number): string => `f${column}`;

/** The files of LibSVM judgments. */
export type LibSvmFiles = Partial<Readonly<Record<Part, string>>> & { readonly train: string };

/** What a file holds. */
interface ReadPart {
  readonly queries: number;
  /** The queries that the file names with `qid:`. */
  readonly named: ReadonlySet<string>;
  readonly rows: number;
  readonly longest: number;
  readonly grades: readonly [lowest: number, highest: number];
}

/** A project of LibSVM judgments that was written. `init` prints what it holds. */
export interface LibSvmProject {
  readonly files: LibSvmFiles;
  readonly parts: Partial<Readonly<Record<Part, ReadPart>>>;
  readonly columns: readonly string[];
  /** Columns that have one value in all lines to train on. */
  readonly constant: readonly string[];
  readonly written: number;
  readonly commands: readonly string[];
  /** Queries to train on that are also in the test. */
  readonly leaked: number;
}

/**
 * Finds the LibSVM files that `--judgments` names: a file, or a folder with train.txt and test.txt.
 * @returns undefined if it names judgments of another format
 * @throws CommandFailure if a folder has no file to train on, or two of them
 */
export async function findLibSvm(path: string): Promise<LibSvmFiles | undefined> {
  if (path === '-' || !statSync(path).isDirectory())
    return path !== '-' && (await isLibSvm(path)) ? { train: path } : undefined;
  const names = readdirSync(path)
    .filter((name) => !BESIDE.test(name) && statSync(join(path, name)).isFile())
    .sort();
  const found: Partial<Record<Part, string>> = {};
  for (const [part, pattern] of Object.entries(PARTS) as [Part, RegExp][]) {
    const [first, second] = names.filter((name) => pattern.test(name));
    if (second !== undefined)
      throw new CommandFailure(
        `${path} has two files to ${part === 'vali' ? 'validate' : part} on: ${first ?? ''} and ${second}`,
        'name a folder with one of each, or one file',
      );
    if (first !== undefined) found[part] = join(path, first);
  }
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) found.train ??= join(path, only);
  const { train } = found;
  if (train === undefined)
    throw new CommandFailure(`${path} has no file of judgments to train on`, helpOf(path));
  for (const file of Object.values(found))
    if (!(await isLibSvm(file)))
      throw new CommandFailure(
        `${file} is not in the LibSVM format: its first line is not \`grade qid:query column:value …\``,
        'a folder of judgments holds LibSVM files; judgments of another format need products, too: ' +
          '--from PRODUCTS --judgments FILE',
      );
  return { ...found, train };
}

/** Published sets have a folder for each fold. */
function helpOf(path: string): string {
  const folds = readdirSync(path, { withFileTypes: true })
    .filter(
      (one) => one.isDirectory() && readdirSync(join(path, one.name)).some((name) => PARTS.train.test(name)),
    )
    .map(({ name }) => join(path, name))
    .sort();
  return folds[0] === undefined
    ? 'the name of the file has the word train, as in train.txt; or name the file'
    : `name one of its folders: --judgments ${folds[0]}`;
}

/**
 * Writes a project whose requests carry the columns of LibSVM judgments. The judgments stay where they are.
 * @param work where the files are written, and `path` where they will be
 * @throws CommandFailure if lines cannot be read
 */
export async function writeLibSvmProject(
  context: CliContext,
  { work, path }: { readonly work: string; readonly path: string },
  name: string,
  files: LibSvmFiles,
): Promise<LibSvmProject> {
  const columns = new Columns();
  const example: LibSvmRow[] = [];
  const parts: Partial<Record<Part, ReadPart>> = {};
  for (const part of ['train', 'vali', 'test'] as const) {
    const file = files[part];
    if (file === undefined) continue;
    parts[part] = await readPart(context, file, (row) => {
      if (part !== 'train') return;
      columns.add(row);
      if (example.length < EXAMPLES && (example[0]?.query ?? row.query) === row.query) example.push(row);
    });
  }
  const { varied, constant } = columns.result();
  if (varied.length === 0)
    throw new CommandFailure(`no column of ${files.train} has two values, so there is nothing to rank by`);
  const project = {
    name,
    columns: varied.map(columnName),
    longest: Math.max(...Object.values(parts).map(({ longest }) => longest)),
    example: example.map((row, at) => candidateOf(row, at, varied)),
    train: relative(path, resolve(files.train)),
    test: files.test === undefined ? undefined : relative(path, resolve(files.test)),
  };
  const texts = columnProjectFiles(project);
  for (const [file, text] of texts) await writeWhole(join(work, file), text);
  await writeOwnSchemas(work);
  return {
    files,
    parts,
    columns: project.columns,
    constant: constant.map(columnName),
    written: texts.size,
    commands: columnCommands(project),
    leaked: [...(parts.test?.named ?? [])].filter((query) => parts.train?.named.has(query)).length,
  };
}

/** Checks each line of a file, as `evaluate` does. */
async function readPart(
  context: CliContext,
  file: string,
  onRow: (row: LibSvmRow) => void,
): Promise<ReadPart> {
  const judgments = new JudgmentRows(context.stderr, file);
  const named = new Set<string>();
  let rows = 0;
  for await (const { line, row, numbered } of libSvmLines(context.stdin, file)) {
    judgments.add('line', line, typeof row === 'string' ? row : judgmentOf(line, row));
    if (typeof row === 'string') continue;
    rows += 1;
    if (!numbered && row.query !== undefined) named.add(row.query);
    onRow(row);
  }
  const queries = judgments.queries();
  let [lowest, highest, longest] = [Infinity, -Infinity, 0];
  for (const { candidates } of queries) {
    longest = Math.max(longest, candidates.length);
    for (const { grade } of candidates) {
      lowest = Math.min(lowest, grade);
      highest = Math.max(highest, grade);
    }
  }
  return {
    queries: queries.length,
    named,
    rows,
    longest,
    grades: [lowest, highest],
  };
}

/** Which columns vary. A line that leaves a column out has 0 in it. */
class Columns {
  /** By column: how many lines have it, its first value, and whether another line has another one. */
  readonly #seen = new Map<number, { lines: number; readonly first: number; varies: boolean }>();
  #lines = 0;

  add({ features }: LibSvmRow): void {
    this.#lines += 1;
    for (const [column, value] of features) {
      const known = this.#seen.get(column);
      if (known === undefined) this.#seen.set(column, { lines: 1, first: value, varies: false });
      else {
        known.lines += 1;
        known.varies ||= value !== known.first;
      }
    }
  }

  result(): { readonly varied: readonly number[]; readonly constant: readonly number[] } {
    const columns = [...this.#seen].sort(([a], [b]) => a - b);
    const isVaried = ([, { lines, first, varies }]: (typeof columns)[number]): boolean =>
      varies || (lines < this.#lines && first !== 0);
    return {
      varied: columns.filter(isVaried).map(([column]) => column),
      constant: columns.filter((one) => !isVaried(one)).map(([column]) => column),
    };
  }
}

function candidateOf({ id, features }: LibSvmRow, at: number, columns: readonly number[]): JsonObject {
  const values = columns.flatMap((column): [string, number][] => {
    const value = features.get(column);
    return value === undefined ? [] : [[columnName(column), value]];
  });
  return { product_id: id ?? `candidate_${at + 1}`, ...Object.fromEntries(values) };
}

/** What was read and written, and what to type next. */
export function libSvmText(
  folder: string,
  { files, parts, columns, constant, written, commands, leaked }: LibSvmProject,
  kept: readonly string[],
  width: number,
): string {
  const lines = (Object.entries(parts) as [Part, ReadPart][]).map(([part, { queries, rows, grades }]) => {
    const what = `${counted(queries, 'query', 'queries')}, ${counted(rows, 'line')}, grades ${grades[0]} to ${grades[1]}`;
    const note =
      part === 'train'
        ? `; ${columns.length} columns, ${columns[0] ?? ''} to ${columns.at(-1) ?? ''}`
        : part === 'vali'
          ? '; not used, because `dataset build` holds out queries of its own'
          : '';
    return { title: basename(files[part] ?? ''), text: what + note };
  });
  const notes = [
    ...(constant.length === 0
      ? []
      : [
          `${constant.length === 1 ? 'column' : 'columns'} ${constant.join(', ')} left out: one value in all lines`,
        ]),
    ...(leaked === 0
      ? []
      : [
          `warning: ${counted(leaked, 'query', 'queries')} of the test also in ${basename(files.train)}; the test then measures what was trained on`,
        ]),
  ];
  const left = kept.length === 0 ? '' : `; left ${kept.join(', ')} as it was`;
  const go = folder === '.' ? [] : [`cd ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)}`];
  return [
    ...lines.flatMap(({ title, text }) => wrapAfter(`${printable(title)}  `, text, 2, width)),
    ...notes.flatMap((text) => wrapAfter('', text, 2, width)),
    `wrote ${count(written)} files${left}`,
    'next:',
    ...[...go, ...commands].map((line) => `  ${line}`),
    '',
  ].join('\n');
}

export function libSvmJson({ files, parts, columns, constant, written, leaked }: LibSvmProject): object {
  return {
    judgments: Object.fromEntries(
      Object.entries(parts).map(([part, { queries, rows }]) => [
        part,
        { file: files[part as Part], queries, rows },
      ]),
    ),
    columns,
    constant,
    leaked,
    files: written,
  };
}
