import { shuffled } from '../../ground/core/shuffle.js';
import type { Metric } from '../evaluation/metric-names.js';
import type { JudgedRanking } from '../evaluation/metrics.js';
import type { LoggedRequest } from '../tuning/logged-values.js';
import { textOf, type RequestRows } from '../training/data-files.js';

/** What tuning raises. */
export interface TunedMeasure {
  readonly name: string;
  /** The ranks that it reads. */
  readonly depth: number;
  /** Takes the grades of each request, before any measure. */
  learn(grades: Float64Array): void;
  /** Undefined if the measure is not defined for the query. */
  of(ranking: JudgedRanking): number | undefined;
}

export type Gain = 'exp2' | 'linear';

/** The probability that a user looks at a place, and the largest weight that it gives. */
export interface Weighing {
  readonly propensities: readonly number[];
  readonly clip: number;
}

export function ndcgMeasure(metric: Metric, gain: Gain): TunedMeasure {
  const options = { gain, relevant: 1, maxGrade: 1 };
  return {
    name: metric.name,
    depth: metric.k,
    learn: () => undefined,
    of: (ranking) => metric.of(ranking, options),
  };
}

/**
 * The discounted cumulative gain, of grades that are gains already, divided by the mean gain of the ideal orders. NDCG
 * divides by the ideal gain of each request, in which the weight of an only click would cancel out.
 * Source: Agarwal et al., "A general framework for counterfactual learning-to-rank", SIGIR 2019.
 */
export function dcgMeasure({ metric }: { readonly metric: Metric }): TunedMeasure {
  const { k } = metric;
  let ideal = 0;
  let requests = 0;
  return {
    name: `${metric.name.replace('ndcg', 'dcg')} weighted by propensity`,
    depth: k,
    learn(grades) {
      const best = dcg(
        [...grades].sort((a, b) => b - a),
        k,
      );
      if (best <= 0) return;
      ideal += best;
      requests += 1;
    },
    of: (ranking) => ((ranking.ideal[0] ?? 0) > 0 ? (dcg(ranking.ranked, k) * requests) / ideal : undefined),
  };
}

function dcg(gains: readonly number[], k: number): number {
  let sum = 0;
  for (let i = 0; i < Math.min(k, gains.length); i++) sum += (gains[i] ?? 0) / Math.log2(i + 2);
  return sum;
}

/**
 * A request of a data set as tuning takes it, with the rows that a user examined.
 * @param at its number, which with the seed gives the order of its rows
 * @param weighing if given, the grades are gains: those of the labels, times the weights of the places
 * @returns undefined if no row was examined
 */
export function toLogged(
  { time, rows }: RequestRows,
  { seed, gain }: { readonly seed: number; readonly gain: Gain },
  at: number,
  weighing: Weighing | undefined,
): LoggedRequest | undefined {
  const examined = rows.filter((row) => row.examined === true || row.examined === 'true');
  if (examined.length === 0) return undefined;
  // The rows are in the order that was shown. In that order, equal scores would agree with the clicks.
  const order = shuffled(examined, seed + at);
  const grades = Float64Array.from(order, ({ label, weight, place }) => {
    const grade = Number(label);
    if (weighing === undefined) return grade;
    const value = gain === 'exp2' ? 2 ** grade - 1 : grade;
    return value * Number(weight ?? 1) * placeWeight(Number(place), weighing);
  });
  return { time, ids: order.map(({ candidate_id: id }) => textOf(id)), rows: order, grades };
}

function placeWeight(place: number, { propensities, clip }: Weighing): number {
  const propensity = propensities[Math.min(place, propensities.length) - 1] ?? 1;
  return Math.min(clip, 1 / propensity);
}
