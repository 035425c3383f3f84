import type { JudgedCandidate, JudgedQuery } from '../evaluation/judgments.js';
import type { JudgedRanking } from '../evaluation/metrics.js';
import { PAGE_PLACES, type PlacedId } from '../evaluation/report.js';
import { shuffled } from '../../ground/core/shuffle.js';
import type { Contestant } from './contestant.js';
import type { RequestShape } from './request-shape.js';
import { runWhole } from './run-whole.js';

/** How equal scores are ordered: as the pipeline does, by the order sent; or by id, as trec_eval does. */
export type Ties = 'input' | 'id';

/** A candidate with the score that it was ranked by. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

/** What ranks the judged candidates of a query. */
export interface Ranker {
  readonly label: string;
  rank(query: JudgedQuery, candidates: readonly JudgedCandidate[], requestId: string): Promise<RankedQuery>;
}

interface RankedQuery {
  readonly ranked: readonly Scored[];
  readonly degraded: readonly string[];
  readonly missing: number;
}

/** What happened to the candidates of one side. */
export class RankingCounts {
  /** Ranked candidates without a grade. */
  unjudged = 0;
  /** Candidates that were sent and are not in the ranking. */
  removed = 0;
  /** Candidates that are not in the store. */
  missing = 0;
  /** Candidates sent. */
  sent = 0;
  /** Degraded rankings by cause. */
  readonly degraded = new Map<string, number>();
  /** Rankings that were degraded. */
  degradedRankings = 0;
}

/** Ranks with a pipeline. */
export function pipelineRanker(contestant: Contestant, shape: RequestShape): Ranker {
  return {
    label: contestant.label,
    async rank(query, candidates, requestId) {
      const { ranked, ...rest } = await runWhole(contestant, shape.bodyOf(query, candidates), requestId);
      return {
        ...rest,
        ranked: ranked.map(({ candidate_id: id, ranked_score: score }) => ({ id, score })),
      };
    },
  };
}

/** Takes the rankings of a file. Candidates that it does not hold count as not ranked. */
export function runRanker(label: string, run: ReadonlyMap<string, readonly Scored[]>): Ranker {
  return {
    label,
    rank: ({ query }) => {
      const ranked = [...(run.get(query) ?? [])].sort((a, b) => b.score - a.score);
      return Promise.resolve({ ranked, degraded: [], missing: 0 });
    },
  };
}

export interface RankOptions {
  /** How many orders each query's candidates are sent in; 0 sends them once, in the order of the file. */
  readonly shuffles: number;
  readonly seed: number;
  readonly ties: Ties;
}

export interface JudgedQueries {
  readonly count: number;
  /** Each with its index. They are read once, and not held. */
  readonly queries:
    | AsyncIterable<readonly [at: number, query: JudgedQuery]>
    | Iterable<readonly [at: number, query: JudgedQuery]>;
}

export interface RankedByAll {
  readonly at: number;
  readonly query: JudgedQuery;
  /** The first places by each ranker, in the first order of the candidates. */
  readonly pages: readonly (readonly PlacedId[])[];
  /** By ranker, then by order of the candidates. */
  readonly rankings: readonly (readonly JudgedRanking[])[];
}

/**
 * Yields the rankings of each query by each ranker. All rankers get the same orders of the candidates.
 * @param onRanked is called with each ranking
 */
export async function* rankJudged(
  { queries, count }: JudgedQueries,
  rankers: readonly Ranker[],
  counts: readonly RankingCounts[],
  { shuffles, seed, ties }: RankOptions,
  onRanked: (ranker: number, query: JudgedQuery, shuffle: number, ranked: readonly Scored[]) => void,
): AsyncGenerator<RankedByAll, void> {
  for await (const [at, query] of queries) {
    const grades = new Map(query.candidates.map(({ id, grade }) => [id, grade]));
    const ideal = [...grades.values()].filter((grade) => !Number.isNaN(grade)).sort((a, b) => b - a);
    const rankings = rankers.map((): JudgedRanking[] => []);
    const pages: (readonly PlacedId[])[] = [];
    for (let shuffle = 0; shuffle < Math.max(1, shuffles); shuffle++) {
      const candidates =
        shuffles === 0 ? query.candidates : shuffled(query.candidates, seed + shuffle * count + at);
      for (const [which, ranker] of rankers.entries()) {
        const found = await ranker.rank(query, candidates, `judged-${at + 1}`);
        const ranked = ties === 'id' ? tiesById(found.ranked) : found.ranked;
        onRanked(which, query, shuffle, ranked);
        if (shuffle === 0) pages.push(pageOf(ranked, grades));
        rankings[which]?.push({ ranked: ranked.map(({ id }) => grades.get(id) ?? NaN), ideal });
        const counted = counts[which];
        if (counted !== undefined && shuffle === 0) countRanking(counted, grades, ranked, found);
      }
    }
    yield { at, query, pages, rankings };
  }
}

function pageOf(ranked: readonly Scored[], grades: ReadonlyMap<string, number>): readonly PlacedId[] {
  return ranked.slice(0, PAGE_PLACES).map(({ id }) => ({ id, grade: grades.get(id) }));
}

/** By score, then by id in descending order of code points, as trec_eval's `te_chk_and_format.c` sorts. */
function tiesById(ranked: readonly Scored[]): readonly Scored[] {
  return [...ranked].sort(
    (a, b) => b.score - a.score || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)),
  );
}

function countRanking(
  counts: RankingCounts,
  grades: ReadonlyMap<string, number>,
  ranked: readonly Scored[],
  { degraded, missing }: RankedQuery,
): void {
  const ids = new Set(ranked.map(({ id }) => id));
  counts.sent += grades.size;
  counts.missing += missing;
  for (const id of ids) if (Number.isNaN(grades.get(id) ?? NaN)) counts.unjudged += 1;
  for (const id of grades.keys()) if (!ids.has(id)) counts.removed += 1;
  if (degraded.length > 0) counts.degradedRankings += 1;
  for (const cause of new Set(degraded)) counts.degraded.set(cause, (counts.degraded.get(cause) ?? 0) + 1);
}
