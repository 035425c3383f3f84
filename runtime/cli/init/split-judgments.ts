import { join } from 'node:path';
import { shuffled } from '../../ground/core/shuffle.js';
import type { JudgedQuery } from '../../learn/evaluation/judgments.js';
import type { CliContext } from '../context.js';
import type { Columns } from '../../learn/judge/judgment-columns.js';
import { readJudgments } from '../../learn/judge/read-judgments.js';
import type { SeenIds } from '../../project/rows/seen-ids.js';
import { writeWhole } from '../../ground/core/write-whole.js';
import type { ProductGuess } from '../../project/starter/product-guess.js';

export const TRAIN = 'judgments/train.csv';
export const TEST = 'judgments/test.csv';
const TRAIN_SHARE = 0.6;
/** With fewer queries, a part says nothing, so all are for tuning. */
const FEWEST = 10;
const SEED = 0;

/** Judgments, in two parts that share no query. */
export interface SplitJudgments {
  readonly queries: readonly JudgedQuery[];
  readonly train: number;
  readonly test: number;
  readonly candidates: number;
  /** The candidates that are products of the file. */
  readonly found: number;
  /** An id that is not. */
  readonly notFound: string | undefined;
  /** The most candidates of a query. */
  readonly longest: number;
  /** The query with the most grades. */
  readonly example: string | undefined;
}

/** Reads a file of judgments. @throws as `readJudgments` */
export async function readSplit(
  context: CliContext,
  path: string,
  guess: ProductGuess,
  ids: SeenIds,
  columns: Columns,
): Promise<SplitJudgments> {
  const empty = new Map<string, never>();
  const shape = { candidateKey: guess.key.name, fields: empty, carried: empty, attributes: empty };
  const { queries } = await readJudgments(context, path, { isForeign: true, columns }, shape);
  let found = 0;
  let notFound: string | undefined;
  const all = queries.flatMap(({ candidates }) => candidates);
  for (const { id } of all) {
    if (ids.has(id)) found += 1;
    else notFound ??= id;
  }
  const train = queries.length < FEWEST ? queries.length : Math.round(TRAIN_SHARE * queries.length);
  const example = [...queries].sort(
    (a, b) => graded(b) - graded(a) || b.candidates.length - a.candidates.length,
  );
  return {
    queries,
    train,
    test: queries.length - train,
    candidates: all.length,
    found,
    notFound,
    longest: Math.max(0, ...queries.map(({ candidates }) => candidates.length)),
    example: example[0]?.query,
  };
}

function graded({ candidates }: JudgedQuery): number {
  return candidates.filter(({ grade }) => grade > 0).length;
}

/** Writes the two parts. The same file is always divided in the same way. @returns the paths */
export async function writeSplit(
  folder: string,
  { queries, train, test }: SplitJudgments,
  guess: ProductGuess,
): Promise<readonly string[]> {
  const order = shuffled([...queries.keys()], SEED);
  const first = new Set(order.slice(0, train));
  const part = (isTrain: boolean): string =>
    csvOf(
      queries.filter((_, at) => first.has(at) === isTrain),
      guess.key.name,
    );
  await writeWhole(join(folder, TRAIN), part(true));
  if (test === 0) return [TRAIN];
  await writeWhole(join(folder, TEST), part(false));
  return [TRAIN, TEST];
}

function csvOf(queries: readonly JudgedQuery[], key: string): string {
  const lines = queries.flatMap(({ query, candidates }) =>
    candidates.map(({ id, grade }) =>
      [query, id, Number.isNaN(grade) ? '' : String(grade)].map(cell).join(','),
    ),
  );
  return `${['query', key, 'grade'].join(',')}\n${lines.map((line) => `${line}\n`).join('')}`;
}

function cell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
