import type { Console } from '../../ground/core/console.js';
import type { Contestant } from './contestant.js';
import { clickedQueries, findLoggedRequests, loggedRanker, readGrades } from './logged-requests.js';
import { pipelineRanker, type JudgedQueries, type Ranker } from './rank-judged.js';
import type { JudgmentsFlags } from './judgments-options.js';
import { readJudgments, type JudgedShape } from './read-judgments.js';
import { requestShape, type RequestShape } from './request-shape.js';
import { slicesOf } from './slices.js';

/** What the user says about the source of the queries. */
export interface SourceFlags extends JudgmentsFlags {
  readonly slice?: string;
  readonly last: number;
  readonly loggedBy?: string;
  readonly label: ReadonlyMap<string, number>;
  readonly shuffles: number;
}

/** The queries that an evaluation measures on, and what ranks them. */
export interface Source extends JudgedQueries {
  /** The name of a query, by its index. */
  readonly queryAt: (at: number) => string;
  /** At least 1. */
  readonly highestGrade: number;
  readonly slices: ReadonlyMap<string, string> | undefined;
  readonly rankers: readonly Ranker[];
  /** See `RankOptions`. */
  readonly shuffles: number;
}

/** The queries of a file of judgments. */
export async function judgedSource(
  context: Console,
  flags: SourceFlags,
  all: readonly Contestant[],
  main: Contestant,
): Promise<Source> {
  const shapes = all.map((one) => requestShape(one, flags.queryField));
  const [shape] = shapes;
  if (shape === undefined) throw new Error('no pipeline was opened');
  if (shape.queryPlace === undefined)
    context.stderr.write(
      `note: a request to ${main.definition.name} has no field for the query; it is not sent\n`,
    );
  const judged = judgedShape(shape, shapes, flags.slice);
  const { queries, columns } = await readJudgments(context, flags.judgments ?? '', flags, judged);
  return {
    count: queries.length,
    queryAt: (at) => queries[at]?.query ?? '',
    queries: queries.entries(),
    highestGrade: highestOf(queries.map(({ candidates }) => candidates.map(({ grade }) => grade))),
    slices:
      flags.slice === undefined ? undefined : await slicesOf(queries, flags.slice, columns, main, shape),
    rankers: all.map((one, at) => pipelineRanker(one, shapes[at] ?? shape)),
    shuffles: flags.shuffles,
  };
}

/** The requests of a ledger, with what users did. */
export async function loggedSource(
  context: Console,
  flags: SourceFlags,
  ledger: string,
  all: readonly Contestant[],
  main: Contestant,
): Promise<Source> {
  const found = await findLoggedRequests(context, ledger, flags.last, main, flags.loggedBy);
  const grades = await readGrades(context, ledger, found, flags.label);
  return {
    count: found.length,
    queryAt: (at) => found.idAt(at),
    queries: clickedQueries(found, grades, main),
    highestGrade: Math.max(1, grades.highest),
    slices: undefined,
    rankers: all.map(loggedRanker),
    // The order of a log is that of real requests. One shuffle is the default, which is for judgments.
    shuffles: flags.shuffles === 1 ? 0 : flags.shuffles,
  };
}

function highestOf(grades: readonly (readonly number[])[]): number {
  return grades.flat().reduce((highest, grade) => (grade > highest ? grade : highest), 1);
}

/** What any of the pipelines takes from the judgments, and the column to slice by. */
function judgedShape(
  { candidateKey }: RequestShape,
  shapes: readonly RequestShape[],
  slice: string | undefined,
): JudgedShape {
  // If pipelines differ in a type, the first one's counts: both get the same judgments.
  const reversed = shapes.toReversed();
  const fields = new Map(reversed.flatMap((shape) => [...shape.fields]));
  if (slice !== undefined && !fields.has(slice)) fields.set(slice, undefined);
  return {
    candidateKey,
    fields,
    carried: new Map(reversed.flatMap((shape) => [...shape.carried])),
    attributes: new Map(reversed.flatMap((shape) => [...shape.attributes])),
  };
}
