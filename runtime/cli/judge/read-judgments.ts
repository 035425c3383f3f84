import { readFile } from 'node:fs/promises';
import type { JsonObject, JsonValue, ValueType } from '../../api/types.js';
import { idText } from '../../core/ids.js';
import { nearest } from '../../core/nearest.js';
import {
  gradeProblem,
  JudgmentsBuilder,
  type JudgedQuery,
  type Judgment,
} from '../../evaluation/judgments.js';
import { numberOf, readLibSvmRow, readQrel } from '../../evaluation/text-rows.js';
import type { CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { INPUT_FORMATS, openInput, type InputFormat } from '../input/open-input.js';
import { InputError, type InputRow } from '../input/rows.js';
import { readTextLines } from '../input/text-lines.js';

export const JUDGMENT_FORMATS = [...INPUT_FORMATS, 'qrels', 'libsvm'] as const;
export type JudgmentFormat = (typeof JUDGMENT_FORMATS)[number];

/** The columns that make a judgment. */
const ROLES = ['query', 'id', 'grade'] as const;
type Role = (typeof ROLES)[number];
export type Columns = Readonly<Partial<Record<Role, string>>>;

/** Other usual names of the columns. */
const USUAL_NAMES: Readonly<Record<Role, readonly string[]>> = {
  query: ['query', 'query_text', 'query_id', 'qid'],
  id: ['id', 'docid', 'doc_id', 'candidate_id', 'document_id'],
  grade: ['grade', 'rating', 'relevance', 'label', 'judgment'],
};

export interface JudgmentsOptions {
  readonly format: JudgmentFormat | undefined;
  /** Names that the user gives to columns. */
  readonly columns: Columns;
  /** The field of the candidate's id: also a usual name of its column. */
  readonly candidateKey: string;
  /** Columns with one value a query; undefined as a type means text. */
  readonly context: ReadonlyMap<string, ValueType | undefined>;
  /** Columns with a value a candidate. */
  readonly carried: ReadonlyMap<string, ValueType>;
  /** Attributes that can hold the columns of a LibSVM file: `f7` for column 7. */
  readonly attributes: ReadonlyMap<string, ValueType>;
}

export interface Judgments {
  readonly queries: readonly JudgedQuery[];
  /** The columns of the file; undefined for a format without names. */
  readonly columns: readonly string[] | undefined;
  /** Rows that repeat another row. */
  readonly repeated: number;
}

/** A message lists at most this many bad rows. */
const MOST_BAD = 20;
/** A LibSVM file names its columns by number; the attribute of column 7 is `f7`. */
const FEATURE = /^f(\d+)$/;

const EXTENSIONS: readonly (readonly [RegExp, JudgmentFormat])[] = [
  [/\.qrels?(\.txt)?(\.gz)?$/i, 'qrels'],
  [/(^|[/\\._-])qrels[^/\\]*\.(txt|tsv)(\.gz)?$/i, 'qrels'],
  [/\.(libsvm|svm|svmlight|letor)(\.gz)?$/i, 'libsvm'],
];

/**
 * Reads a file of judgments: CSV, JSON lines, a JSON list or Parquet with the columns query, id and grade; TREC qrels;
 * LibSVM.
 * @throws InputError, CommandFailure if rows cannot be read; UsageError if the format is not known
 */
export async function readJudgments(
  context: CliContext,
  path: string,
  options: JudgmentsOptions,
): Promise<Judgments> {
  const format = options.format ?? EXTENSIONS.find(([pattern]) => pattern.test(path))?.[1];
  const builder = new JudgmentsBuilder();
  const bad = new BadRows(context, path);
  let columns: readonly string[] | undefined;
  if (format === 'qrels') await readQrels(context, path, builder, bad);
  else if (format === 'libsvm') await readLibSvm(context, path, options, builder, bad);
  else columns = await readTable(context, path, format, options, builder, bad);
  bad.end();
  const queries = builder.queries();
  if (queries.length === 0) throw new CommandFailure(`${path} has no judgments`);
  return { queries, columns, repeated: builder.repeated };
}

/** Prints the first rows that cannot be read, and counts all. */
class BadRows {
  #count = 0;

  constructor(
    private readonly context: CliContext,
    private readonly path: string,
  ) {}

  add(unit: string, line: number, problem: string): void {
    this.#count += 1;
    if (this.#count <= MOST_BAD) this.context.stderr.write(`${unit} ${line}: ${problem}\n`);
  }

  /** @throws CommandFailure if there were any */
  end(): void {
    if (this.#count > 0)
      throw new CommandFailure(
        `${this.#count} row${this.#count === 1 ? '' : 's'} of ${this.path} cannot be read`,
      );
  }
}

async function readQrels(
  { stdin }: CliContext,
  path: string,
  builder: JudgmentsBuilder,
  bad: BadRows,
): Promise<void> {
  for await (const { line, text } of readTextLines(path, stdin)) {
    const row = readQrel(text);
    const problem = typeof row === 'string' ? row : builder.add(row);
    if (problem !== undefined) bad.add('line', line, problem);
  }
}

/** A file without `qid:` has its queries in FILE.query: one number of lines a query, as for LightGBM. */
async function readLibSvm(
  { stdin }: CliContext,
  path: string,
  { attributes, carried }: JudgmentsOptions,
  builder: JudgmentsBuilder,
  bad: BadRows,
): Promise<void> {
  const names = [...new Set([...attributes.keys(), ...carried.keys()])].flatMap((name) => {
    const [, column] = FEATURE.exec(name) ?? [];
    return column === undefined ? [] : [{ name, column: Number(column) }];
  });
  let groups: Groups | undefined;
  let rows = 0;
  for await (const { line, text } of readTextLines(path, stdin)) {
    if (text.startsWith('#')) continue;
    const row = readLibSvmRow(text);
    if (typeof row === 'string') {
      bad.add('line', line, row);
      continue;
    }
    rows += 1;
    const query = row.query ?? (groups ??= await readGroups(path)).queryOf(rows);
    // A column that a line leaves out is 0.
    const values = names.map(({ name, column }): [string, number] => [name, row.features.get(column) ?? 0]);
    const problem = builder.add({
      query,
      id: row.id ?? `line_${line}`,
      grade: row.grade,
      ...(names.length === 0 ? {} : { carried: Object.fromEntries(values) }),
    });
    if (problem !== undefined) bad.add('line', line, problem);
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
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new InputError(
      `${path} has lines without qid:, and there is no ${file} with the sizes of the queries`,
      {
        cause: error,
      },
    );
  });
  const sizes = text.split(/\s+/).filter((size) => size !== '');
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

async function readTable(
  { stdin }: CliContext,
  path: string,
  format: InputFormat | undefined,
  options: JudgmentsOptions,
  builder: JudgmentsBuilder,
  bad: BadRows,
): Promise<readonly string[]> {
  const types = new Map<string, ValueType>(options.carried);
  for (const [name, type] of options.context) if (type !== undefined) types.set(name, type);
  let names: readonly string[] | undefined;
  let roles: Record<Role, string> | undefined;
  const useColumns = (found: readonly string[]): void => {
    names = found;
    roles = rolesOf(found, options, path);
    // An id or a query keeps its leading zeros.
    for (const name of Object.values(roles)) types.delete(name);
  };
  const input = await openInput(path, {
    stdin,
    format,
    columnTypes: () => Promise.resolve(types),
    checkColumns: useColumns,
  });
  try {
    for await (const { rows, bad: unread } of input.chunks()) {
      for (const { line, problem } of unread) bad.add(input.unit, line, problem);
      for (const row of rows) {
        if (roles === undefined) useColumns(Object.keys(row.value));
        const judgment = roles === undefined ? 'the row is empty' : toJudgment(row, roles, options);
        const problem = typeof judgment === 'string' ? judgment : builder.add(judgment);
        if (problem !== undefined) bad.add(input.unit, row.line, problem);
      }
    }
  } finally {
    await input.close();
  }
  return names ?? [];
}

function rolesOf(
  names: readonly string[],
  { columns, candidateKey }: JudgmentsOptions,
  path: string,
): Record<Role, string> {
  const roleOf = (role: Role): string => {
    const given = columns[role];
    if (given !== undefined) {
      if (names.includes(given)) return given;
      const near = nearest(given, names);
      throw new InputError(`${path} has no column ${given}; it has ${names.join(', ')}`, {
        ...(near === undefined ? {} : { help: `did you mean ${near}?` }),
      });
    }
    const usual = role === 'id' ? [candidateKey, ...USUAL_NAMES.id] : USUAL_NAMES[role];
    const found = usual.find((name) => names.includes(name));
    if (found !== undefined) return found;
    throw new InputError(`${path} has no column ${usual.join(' or ')}; it has ${names.join(', ')}`, {
      help: `name the column of the ${role}: --columns ${role}=${names[0] ?? 'NAME'}`,
    });
  };
  return { query: roleOf('query'), id: roleOf('id'), grade: roleOf('grade') };
}

function toJudgment(
  { value: row }: InputRow,
  roles: Record<Role, string>,
  { context, carried }: JudgmentsOptions,
): Judgment | string {
  const query = idText(row[roles.query]);
  if (query === undefined || query === '') return `expected a query in the column ${roles.query}`;
  const id = idText(row[roles.id]);
  if (id === undefined || id === '') return `expected an id in the column ${roles.id}`;
  const grade = gradeOf(row[roles.grade]);
  if (grade === undefined)
    return `${roles.grade}: expected a number, found ${JSON.stringify(row[roles.grade])}`;
  const problem = Number.isNaN(grade) ? undefined : gradeProblem(grade);
  if (problem !== undefined) return `${roles.grade}: ${problem}`;
  const others = pick(row, context);
  const values = pick(row, carried);
  return {
    query,
    id,
    grade,
    ...(others === undefined ? {} : { context: others }),
    ...(values === undefined ? {} : { carried: values }),
  };
}

/** Returns NaN for an empty cell, and undefined for a value that is no number. */
function gradeOf(value: JsonValue | undefined): number | undefined {
  if (value === undefined || value === null) return NaN;
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  return value.trim() === '' ? NaN : numberOf(value.trim());
}

function pick(row: JsonObject, names: ReadonlyMap<string, unknown>): JsonObject | undefined {
  let found: Record<string, JsonValue> | undefined;
  for (const name of names.keys()) {
    const value = row[name];
    if (value !== undefined && value !== null) (found ??= {})[name] = value;
  }
  return found;
}

/** Reads `query=NAME,id=NAME,grade=NAME`. @throws UsageError */
export function parseColumns(text: string): Columns {
  const columns: Partial<Record<Role, string>> = {};
  for (const part of text.split(',')) {
    const [word = '', name = ''] = part.split('=').map((one) => one.trim());
    const role = ROLES.find((one) => one === word);
    if (role === undefined || name === '')
      throw new UsageError(
        `--columns ${text}: expected query=NAME, id=NAME or grade=NAME, separated by commas; found ${part}`,
      );
    columns[role] = name;
  }
  return columns;
}
