import type { CardsById } from '../../state/index/cards.js';
import type { DeltaReport, EvaluationReport, WorstQueries } from '../evaluation/report.js';
import type { CheckedGate } from './gates.js';
import type { RankingCounts } from './rank-judged.js';

/** The result of `millrace evaluate`, as its outputs need it. */
export interface Evaluation {
  readonly pipeline: string;
  /** What the pipeline is compared with, as the user named it; undefined without a comparison. */
  readonly against: string | undefined;
  /** Where the grades come from: a file, or the clicks of a ledger. */
  readonly source: { readonly judgments: string } | { readonly ledger: string };
  readonly report: EvaluationReport;
  readonly worst: WorstQueries;
  /** Whether whole pages of these queries are known, and not their first places alone. */
  readonly hasPages: boolean;
  /** The cards of the candidates on the pages of the worst and best queries. */
  readonly cards: CardsById;
  /** Queries in the file. */
  readonly queries: number;
  /** The middle number of candidates of a query. */
  readonly medianCandidates: number;
  readonly counts: RankingCounts;
  readonly baselineCounts: RankingCounts | undefined;
  /** The share of judged candidates in the first ranks: `judged@k`. */
  readonly judgedAt: { readonly k: number; readonly mean: number };
  readonly slice: string | undefined;
  readonly gates: readonly CheckedGate[];
  /** How queries without a relevant candidate count. */
  readonly empty: 'skip' | 0 | 1;
}

/** The JSON that `--json` prints. Numbers that are not known are null. */
export function evaluationJson(evaluation: Evaluation): unknown {
  const { report, counts, baselineCounts, judgedAt } = evaluation;
  const countsJson = (one: RankingCounts): unknown => ({
    candidates: one.sent,
    unjudged: one.unjudged,
    removed: one.removed,
    missing: one.missing,
    degraded: one.degradedRankings,
    degraded_by: Object.fromEntries(one.degraded),
  });
  return {
    pipeline: evaluation.pipeline,
    ...(evaluation.against === undefined ? {} : { against: evaluation.against }),
    ...evaluation.source,
    ...('ledger' in evaluation.source ? { agreement_with: 'clicks' } : {}),
    queries: evaluation.queries,
    median_candidates: evaluation.medianCandidates,
    ...(countsJson(counts) as object),
    ...(baselineCounts === undefined ? {} : { against_counts: countsJson(baselineCounts) }),
    judged_at: { k: judgedAt.k, mean: judgedAt.mean },
    metrics: report.metrics.map(({ metric, queries, mean, interval, delta }) => ({
      metric,
      queries,
      mean,
      lower: interval.lower,
      upper: interval.upper,
      ...(delta === undefined ? {} : { delta: deltaJson(delta) }),
    })),
    ...(evaluation.slice === undefined
      ? {}
      : {
          slice: evaluation.slice,
          slices: report.slices.map(({ slice, metric, queries, mean, interval, delta, correctedP }) => ({
            slice,
            metric,
            queries,
            mean,
            ...interval,
            ...(delta === undefined ? {} : { delta: { ...deltaJson(delta), corrected_p: correctedP } }),
          })),
        }),
    gates: evaluation.gates,
    per_query: Array.from(report.queries, (one) => {
      const card = evaluation.cards.get(one.first ?? '');
      return card === undefined ? one : { ...one, card };
    }),
  };
}

function deltaJson({ baseline, mean, interval, p }: DeltaReport): object {
  return { baseline, mean, ...interval, p };
}
