import type { JudgedQuery } from '../../learn/evaluation/judgments.js';
import type { CliContext } from '../context.js';
import type { Contestant } from './contestants.js';
import { clickedQueries, loggedRanker, readGrades, readLoggedRequests } from './logged-requests.js';
import { pipelineRanker, type Ranker } from './rank-judged.js';
import type { JudgmentsFlags } from './judgments-options.js';
import { readJudgments, type JudgedShape } from './read-judgments.js';
import { requestShape, type RequestShape } from './request-shape.js';
import { slicesOf } from './slices.js';

/** What the user says about the source of the queries. */
export interface SourceFlags extends JudgmentsFlags {
  readonly slice?: string;
  readonly last: number;
  readonly label: ReadonlyMap<string, number>;
  readonly shuffles: number;
}

/** The queries that an evaluation measures on, and what ranks them. */
export interface Source {
  readonly queries: readonly JudgedQuery[];
  readonly slices: ReadonlyMap<string, string> | undefined;
  readonly rankers: readonly Ranker[];
  /** See `RankOptions`. */
  readonly shuffles: number;
}

/** The queries of a file of judgments. */
export async function judgedSource(
  context: CliContext,
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
    queries,
    slices:
      flags.slice === undefined ? undefined : await slicesOf(queries, flags.slice, columns, main, shape),
    rankers: all.map((one, at) => pipelineRanker(one, shapes[at] ?? shape)),
    shuffles: flags.shuffles,
  };
}

/** The requests of a ledger, with what users did. */
export async function loggedSource(
  context: CliContext,
  flags: SourceFlags,
  ledger: string,
  all: readonly Contestant[],
  main: Contestant,
): Promise<Source> {
  const requests = await readLoggedRequests(context, ledger, flags.last, main);
  const grades = await readGrades(context, ledger, requests, flags.label);
  const bodies = clickedQueries(requests, grades);
  return {
    queries: [...bodies.keys()],
    slices: undefined,
    rankers: all.map((one) => loggedRanker(one, bodies)),
    // The order of a log is that of real requests. One shuffle is the default, which is for judgments.
    shuffles: flags.shuffles === 1 ? 0 : flags.shuffles,
  };
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
