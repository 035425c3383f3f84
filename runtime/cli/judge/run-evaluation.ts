import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Gate } from '../../learn/evaluation/gate.js';
import type { JudgedQuery } from '../../learn/evaluation/judgments.js';
import type { Metric } from '../../learn/evaluation/metric-names.js';
import { judged } from '../../learn/evaluation/metrics.js';
import { evaluate, type QueryRankings } from '../../learn/evaluation/report.js';
import { mean, quantile } from '../../ground/core/statistics.js';
import type { CliContext } from '../context.js';
import { fileProblem } from '../file-problem.js';
import { CommandFailure } from '../failure.js';
import { startProgress } from '../load/progress.js';
import type { Contestants, Named } from './contestants.js';
import { judgedSource, loggedSource, type Source, type SourceFlags } from './evaluation-sources.js';
import type { Evaluation } from './evaluation.js';
import { checkGate } from './gates.js';
import { rankJudged, RankingCounts, runRanker, type Ranker, type Scored, type Ties } from './rank-judged.js';
import { trecRunLines } from './trec-run.js';

/** What the user says about an evaluation. */
export interface EvaluationFlags extends SourceFlags {
  readonly ledger?: string;
  readonly metrics: readonly Metric[];
  readonly against?: string;
  readonly gain: 'exp2' | 'linear';
  readonly empty: 'skip' | '0' | '1';
  readonly ties: Ties;
  readonly relevant: number;
  readonly maxGrade?: number;
  readonly seed: number;
  /** The file for the rankings. */
  readonly run?: string;
}

/**
 * Ranks all queries with each pipeline, and measures the rankings.
 * @param run the rankings of the baseline, if it is a TREC run
 */
export async function runEvaluation(
  context: CliContext,
  flags: EvaluationFlags,
  gates: readonly Gate[],
  { all }: Contestants,
  baseline: Named | undefined,
  run: ReadonlyMap<string, readonly Scored[]> | undefined,
): Promise<Evaluation> {
  const [main] = all;
  if (main === undefined) throw new Error('no pipeline was opened');
  const source =
    flags.ledger === undefined
      ? await judgedSource(context, flags, all, main)
      : await loggedSource(context, flags, flags.ledger, all, main);
  const { queries } = source;
  const rankers = [...source.rankers];
  if (run !== undefined) rankers.push(runRanker(baseline?.text ?? '', run));
  const counts = rankers.map(() => new RankingCounts());
  const rankings = await rankAll(context, flags, source, rankers, counts, main.label);
  const metrics = allMetrics(flags.metrics, gates);
  const options = {
    gain: flags.gain,
    relevant: flags.relevant,
    maxGrade: flags.maxGrade ?? highestGrade(queries),
    empty: flags.empty === 'skip' ? ('skip' as const) : flags.empty === '1' ? (1 as const) : (0 as const),
    seed: flags.seed,
  };
  const report = evaluate(rankings, metrics, options);
  const [own = new RankingCounts(), other] = counts;
  const gateCounts = {
    queries: report.metrics[0]?.queries ?? 0,
    unjudged: own.unjudged,
    removed: own.removed,
    missing: own.missing,
    degraded: own.degradedRankings,
  };
  const depth = metrics.find(({ k }) => Number.isFinite(k))?.k ?? 10;
  return {
    pipeline: main.definition.name,
    against: flags.against,
    source: flags.ledger === undefined ? { judgments: flags.judgments ?? '' } : { ledger: flags.ledger },
    report,
    queries: queries.length,
    medianCandidates: quantile(Float64Array.from(queries, ({ candidates }) => candidates.length).sort(), 0.5),
    counts: own,
    baselineCounts: other,
    judgedAt: {
      k: depth,
      mean: mean(rankings.flatMap((one) => one.rankings.flatMap((ranking) => judged(ranking, depth) ?? []))),
    },
    slice: flags.slice,
    gates: gates.map((gate) => checkGate(gate, report, gateCounts)),
    empty: options.empty,
  };
}

async function rankAll(
  { stderr }: CliContext,
  flags: EvaluationFlags,
  { queries, slices, shuffles }: Source,
  rankers: readonly Ranker[],
  counts: readonly RankingCounts[],
  tag: string,
): Promise<readonly QueryRankings[]> {
  const rankings: QueryRankings[] = [];
  const output = flags.run === undefined ? undefined : createWriteStream(flags.run);
  const failed =
    output &&
    once(output, 'finish').catch((error: unknown) => {
      throw new CommandFailure(`cannot write ${flags.run ?? ''}: ${fileProblem(error)}`);
    });
  failed?.catch(() => undefined); // it is awaited at the end
  const judgedRankings = rankJudged(
    queries,
    rankers,
    counts,
    { ...flags, shuffles },
    (ranker, { query }, shuffle, ranked) => {
      if (ranker === 0 && shuffle === 0) output?.write(trecRunLines(query, ranked, tag));
    },
  );
  const progress = startProgress(stderr, 'ranking', queries.length, 'queries');
  try {
    for await (const { query, rankings: byRanker } of judgedRankings) {
      const [own = [], baseline] = byRanker;
      rankings.push({
        query: query.query,
        slice: slices?.get(query.query),
        rankings: own,
        ...(baseline === undefined ? {} : { baseline }),
      });
      progress.update(rankings.length, rankings.length);
    }
  } finally {
    progress.stop();
    output?.end();
  }
  await failed;
  return rankings;
}

/** The metrics that are asked for, and those that only conditions read. */
function allMetrics(asked: readonly Metric[], gates: readonly Gate[]): readonly Metric[] {
  const metrics = new Map(asked.map((metric) => [metric.name, metric]));
  for (const { value } of gates) if (value.kind === 'metric') metrics.set(value.metric.name, value.metric);
  return [...metrics.values()];
}

function highestGrade(queries: readonly JudgedQuery[]): number {
  let highest = 1;
  for (const { candidates } of queries)
    for (const { grade } of candidates) if (grade > highest) highest = grade;
  return highest;
}
