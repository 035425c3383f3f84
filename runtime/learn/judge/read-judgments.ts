import type { JudgedQuery } from '../evaluation/judgments.js';
import { readQrel } from '../evaluation/text-rows.js';
import type { Console } from '../../ground/core/console.js';
import { formatByName, INPUT_FORMATS } from '../../project/rows/open-input.js';
import { readTextLines } from '../../project/rows/text-lines.js';
import type { Columns } from './judgment-columns.js';
import { JudgmentRows } from './judgment-rows.js';
import { readTable } from './read-judgment-table.js';
import { isLibSvm, readLibSvm } from './read-libsvm.js';
import type { RequestShape } from './request-shape.js';

export const JUDGMENT_FORMATS = [...INPUT_FORMATS, 'qrels', 'libsvm'] as const;
export type JudgmentFormat = (typeof JUDGMENT_FORMATS)[number];

/** What the user says about the file. */
export interface FileFlags {
  readonly format?: JudgmentFormat | undefined;
  /** The flag that sets the format; by default `--format`. */
  readonly formatFlag?: string;
  readonly columns?: Columns | undefined;
  /** Whether a CSV file may have another separator than the comma. */
  readonly isForeign?: boolean;
}

/** What a request can take from the file: columns with these names are read. */
export type JudgedShape = Pick<RequestShape, 'candidateKey' | 'fields' | 'carried' | 'attributes'>;

export interface Judgments {
  readonly queries: readonly JudgedQuery[];
  /** The columns of the file; undefined for a format without names. */
  readonly columns: readonly string[] | undefined;
  /** Rows that repeat another row. */
  readonly repeated: number;
}

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
  context: Console,
  path: string,
  { format: given, formatFlag = '--format', columns: names = {}, isForeign = false }: FileFlags,
  shape: JudgedShape,
): Promise<Judgments> {
  const format = given ?? EXTENSIONS.find(([pattern]) => pattern.test(path))?.[1] ?? (await sniffed(path));
  const judgments = new JudgmentRows(context.stderr, path);
  let columns: readonly string[] | undefined;
  if (format === 'qrels') await readQrels(context, path, judgments);
  else if (format === 'libsvm') await readLibSvm(context, path, shape, judgments);
  else
    columns = await readTable(
      context,
      { path, format, isForeign, ...(isForeign ? {} : { formatFlag }) },
      names,
      shape,
      judgments,
    );
  return { queries: judgments.queries(), columns, repeated: judgments.repeated };
}

/** LETOR, MSLR, Istella and Yahoo name their files train.txt and test.txt. */
async function sniffed(path: string): Promise<JudgmentFormat | undefined> {
  const isNamed = path === '-' || formatByName(path.replace(/\.gz$/, '')) !== undefined;
  return !isNamed && (await isLibSvm(path)) ? 'libsvm' : undefined;
}

async function readQrels({ stdin }: Console, path: string, judgments: JudgmentRows): Promise<void> {
  for await (const { line, text } of readTextLines(path, stdin)) judgments.add('line', line, readQrel(text));
}
