import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Count, Gate } from '../evaluation/gate.js';
import type { Metric } from '../evaluation/metric-names.js';
import { judged } from '../evaluation/metrics.js';
import {
  evaluate,
  MeasuredQueries,
  PAGE_PLACES,
  worstQueries,
  type EvaluationReport,
} from '../evaluation/report.js';
import { inTurns } from '../../ground/core/pieces.js';
import { quantile } from '../../ground/core/statistics.js';
import type { Console } from '../../ground/core/console.js';
import { fileProblem } from '../../ground/core/file-problem.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { startProgress } from '../../ground/core/progress.js';
import type { Contestant } from './contestant.js';
import { judgedSource, loggedSource, type Source, type SourceFlags } from './evaluation-sources.js';
import type { Evaluation } from './evaluation.js';
import { checkGate } from './gates.js';
import {
  rankJudged,
  RankingCounts,
  runRanker,
  type RankedByAll,
  type Ranker,
  type Scored,
  type Ties,
} from './rank-judged.js';
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
  /** How many of the worst queries are listed, with cards. */
  readonly worst: number;
  /** The file for the rankings. */
  readonly run?: string;
  /** Whether the pages of the worst and best queries are shown. */
  readonly pages?: boolean;
}

/** A baseline that is a TREC run. */
export interface RunBaseline {
  readonly name: string;
  readonly run: ReadonlyMap<string, readonly Scored[]>;
}

/** Ranks all queries with each pipeline, and measures the rankings. */
export async function runEvaluation(
  context: Console,
  flags: EvaluationFlags,
  gates: readonly Gate[],
  all: readonly Contestant[],
  baseline?: RunBaseline,
): Promise<Evaluation> {
  const [main] = all;
  if (main === undefined) throw new Error('no pipeline was opened');
  const source =
    flags.ledger === undefined
      ? await judgedSource(context, flags, all, main)
      : await loggedSource(context, flags, flags.ledger, all, main);
  const rankers = [...source.rankers];
  if (baseline !== undefined) rankers.push(runRanker(baseline.name, baseline.run));
  const counts = rankers.map(() => new RankingCounts());
  const metrics = allMetrics(flags.metrics, gates);
  const options = {
    gain: flags.gain,
    relevant: flags.relevant,
    maxGrade: flags.maxGrade ?? source.highestGrade,
    empty: flags.empty === 'skip' ? ('skip' as const) : flags.empty === '1' ? (1 as const) : (0 as const),
  };
  const depth = metrics.find(({ k }) => Number.isFinite(k))?.k ?? 10;
  const measured = new MeasuredQueries(
    { ...source, places: flags.pages === true ? PAGE_PLACES : 1 },
    metrics,
    options,
    rankers.length > 1,
  );
  const sizes = new Uint32Array(source.count);
  const shares = { sum: 0, count: 0 };
  for await (const { at, query, pages, rankings } of rankAll(
    context,
    flags,
    source,
    { rankers, counts },
    main.label,
  )) {
    const [ranked = [], other] = rankings;
    const slice = source.slices?.get(query.query);
    measured.measure(at, { slice, pages, rankings: ranked, baseline: other });
    sizes[at] = query.candidates.length;
    for (const share of ranked.flatMap((one) => judged(one, depth) ?? [])) {
      shares.sum += share;
      shares.count += 1;
    }
  }
  const report = await inTurns(evaluate(measured, flags.seed), context.checkStopped);
  const worst = worstQueries(report, flags.worst);
  const cards = await main.project.cards.orNone(
    main.definition.candidateType.value,
    [...worst.lowest, ...worst.lost, ...worst.won].flatMap(({ pages }) => pages.flat().map(({ id }) => id)),
    (message) => context.stderr.write(`warning: ${message}\n`),
  );
  const [own = new RankingCounts(), other] = counts;
  const gateCounts = countsForGates(report, own);
  return {
    pipeline: main.definition.name,
    against: flags.against,
    source: flags.ledger === undefined ? { judgments: flags.judgments ?? '' } : { ledger: flags.ledger },
    report,
    worst,
    hasPages: flags.pages === true,
    cards,
    queries: source.count,
    medianCandidates: quantile(sizes.sort(), 0.5),
    counts: own,
    baselineCounts: other,
    judgedAt: { k: depth, mean: shares.sum / shares.count },
    slice: flags.slice,
    gates: gates.map((gate) => checkGate(gate, report, gateCounts)),
    empty: options.empty,
  };
}

function countsForGates(
  { metrics }: EvaluationReport,
  { unjudged, removed, missing, degradedRankings: degraded }: RankingCounts,
): Readonly<Record<Count, number>> {
  return { queries: metrics[0]?.queries ?? 0, unjudged, removed, missing, degraded };
}

async function* rankAll(
  { stderr }: Console,
  flags: EvaluationFlags,
  { shuffles, ...judgedQueries }: Source,
  { rankers, counts }: { readonly rankers: readonly Ranker[]; readonly counts: readonly RankingCounts[] },
  tag: string,
): AsyncGenerator<RankedByAll, void> {
  const output = flags.run === undefined ? undefined : createWriteStream(flags.run);
  const failed =
    output &&
    once(output, 'finish').catch((error: unknown) => {
      throw new CommandFailure(`cannot write ${flags.run ?? ''}: ${fileProblem(error)}`);
    });
  failed?.catch(() => undefined); // it is awaited at the end
  const judgedRankings = rankJudged(
    judgedQueries,
    rankers,
    counts,
    { ...flags, shuffles },
    (ranker, { query }, shuffle, ranked) => {
      if (ranker === 0 && shuffle === 0) output?.write(trecRunLines(query, ranked, tag));
    },
  );
  const progress = startProgress(stderr, 'ranking', judgedQueries.count, 'queries');
  let done = 0;
  try {
    for await (const one of judgedRankings) {
      yield one;
      progress.update(++done, done);
    }
  } finally {
    progress.stop();
    output?.end();
  }
  await failed;
}

/** The metrics that are asked for, and those that only conditions read. */
function allMetrics(asked: readonly Metric[], gates: readonly Gate[]): readonly Metric[] {
  const metrics = new Map(asked.map((metric) => [metric.name, metric]));
  for (const { value } of gates) if (value.kind === 'metric') metrics.set(value.metric.name, value.metric);
  return [...metrics.values()];
}
