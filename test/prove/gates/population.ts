import { existsSync } from 'node:fs';
import { Random } from '../../../runtime/ground/core/random.js';
import type { QueryRankings } from '../../../runtime/learn/evaluation/report.js';
import type { MetricOptions } from '../../../runtime/learn/evaluation/metrics.js';
import { repositoryPath } from '../../support/repository.js';
import { readJudgedQueries } from '../../acceptance/judged-queries.js';

/** Judged queries of one kind of shop: their grades. Each trial draws queries from them, with replacement. */
export interface Population {
  readonly name: string;
  readonly queries: readonly (readonly number[])[];
}

export const METRIC_OPTIONS: MetricOptions = { gain: 'exp2', relevant: 1, maxGrade: 3 };

/** The grades of the Chorus judgments, if the data are beside the repository. */
export function chorus(): Population | undefined {
  const path = repositoryPath('..', 'shared', 'data', 'chorus-icecat', 'Broad_Query_Set_rated.csv');
  if (!existsSync(path)) return undefined;
  const queries = readJudgedQueries(path).map(({ grades }) => [...grades.values()]);
  return { name: 'like those of Chorus', queries };
}

/** Generated queries: from 4 to 50 candidates, few or most of them relevant, grades 0 to 3. */
export function generated(seed: number): Population {
  const random = new Random(seed);
  const queries: number[][] = [];
  while (queries.length < 400) {
    const share = random.next() ** 1.5;
    const grades = Array.from({ length: random.between(4, 50) }, () =>
      random.chance(share) ? random.between(1, 3) : 0,
    );
    if (grades.some((grade) => grade > 0)) queries.push(grades);
  }
  return { name: 'generated', queries };
}

/**
 * A change of a ranking. Both rankings order the candidates by `signal · grade + common noise + own noise`: they know
 * something of the grades, make the same mistakes, and each makes some of its own. With the same signal on both sides the
 * change is neutral, because the rankings could be exchanged.
 */
export interface Change {
  /** The signal of the baseline, and of the changed ranking. */
  readonly before: number;
  readonly after: number;
  /** Standard deviation of the own noise; that of the common noise is 1. */
  readonly own: number;
}

/** Draws queries, and ranks each of them before and after the change. */
export function drawRankings(
  { queries }: Population,
  { before, after, own }: Change,
  count: number,
  seed: number,
): QueryRankings[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, at) => {
    const grades = queries[random.between(0, queries.length - 1)] ?? [];
    const common = grades.map(() => normal(random));
    const ranked = (signal: number): number[] =>
      rankBy(
        grades,
        grades.map((grade, i) => signal * grade + (common[i] ?? 0) + own * normal(random)),
      );
    const ideal = [...grades].sort((a, b) => b - a);
    return {
      query: String(at),
      baseline: [{ ranked: ranked(before), ideal }],
      rankings: [{ ranked: ranked(after), ideal }],
    };
  });
}

/** The items by score, highest first. */
export function rankBy(items: readonly number[], scores: readonly number[]): number[] {
  const order = Array.from(items.keys()).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  return order.map((at) => items[at] ?? 0);
}

/** A standard normal number. Source: Box and Muller, Annals of Mathematical Statistics 1958. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
