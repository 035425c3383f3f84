import type { ValueType } from '../../api/types.js';
import type { JudgedQuery } from '../../evaluation/judgments.js';
import type { CliContext } from '../context.js';
import type { Contestant } from './contestants.js';
import { clickedQueries, loggedRanker, readGrades, readLoggedRequests } from './logged-requests.js';
import { pipelineRanker, type Ranker } from './rank-judged.js';
import { readJudgments, type Columns, type JudgmentFormat } from './read-judgments.js';
import { requestShape, type RequestShape } from './request-shape.js';
import { slicesOf } from './slices.js';

/** What the user says about the source of the queries. */
interface SourceFlags {
  readonly judgments?: string;
  readonly format?: JudgmentFormat;
  readonly columns?: Columns;
  readonly queryField?: string;
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
  const { queries, columns } = await readJudgments(
    context,
    flags.judgments ?? '',
    judgmentsOptions(flags, shapes),
  );
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
  const grades = await readGrades(ledger, requests, flags.label);
  const bodies = clickedQueries(requests, grades);
  return {
    queries: [...bodies.keys()],
    slices: undefined,
    rankers: all.map((one) => loggedRanker(one, bodies)),
    // The order of a log is that of real requests. One shuffle is the default, which is for judgments.
    shuffles: flags.shuffles === 1 ? 0 : flags.shuffles,
  };
}

function judgmentsOptions(
  flags: SourceFlags,
  shapes: readonly RequestShape[],
): Parameters<typeof readJudgments>[2] {
  const context = new Map<string, ValueType | undefined>();
  const carried = new Map<string, ValueType>();
  const attributes = new Map<string, ValueType>();
  // If pipelines differ in a type, the first one's counts: both get the same judgments.
  for (const shape of [...shapes].reverse()) {
    for (const [name, type] of shape.fields) context.set(name, type);
    for (const [name, type] of shape.carried) carried.set(name, type);
    for (const [name, type] of shape.attributes) attributes.set(name, type);
  }
  if (flags.slice !== undefined && !context.has(flags.slice)) context.set(flags.slice, undefined);
  return {
    format: flags.format,
    columns: flags.columns ?? {},
    candidateKey: shapes[0]?.candidateKey ?? 'id',
    context,
    carried,
    attributes,
  };
}
