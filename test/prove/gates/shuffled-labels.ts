import { Random } from '../../../runtime/ground/core/random.js';
import { shuffled } from '../../../runtime/ground/core/shuffle.js';
import { ndcg } from '../../../runtime/learn/evaluation/metrics.js';
import type { QueryRankings } from '../../../runtime/learn/evaluation/report.js';
import { climb, rounded, type TunedParam } from '../../../runtime/learn/tuning/coordinate-ascent.js';
import { METRIC_OPTIONS, normal, rankBy, type Population } from './population.js';

/** A query with the features of its candidates. */
interface Query {
  readonly grades: readonly number[];
  /** By candidate. */
  readonly features: readonly (readonly number[])[];
  /** The grades, highest first. */
  readonly ideal: readonly number[];
}

/** How much each feature knows of the grade. */
const SIGNALS = [0.6, 0.3, 0.15, 0, 0];
/** The model of today gives the informative features the same weight. */
const TODAY = [1, 1, 1, 0, 0];
const WEIGHTS: readonly TunedParam[] = SIGNALS.map((_, at) => ({ name: `w${at}`, min: -1, max: 1 }));
const TRAINED_ON = 20;

/**
 * Trains a linear model on queries whose labels were shuffled within each query. Training is that of `millrace tune`.
 * @returns rankings of other queries, with their true labels, by the model of today and by the trained one
 */
export async function trainOnShuffled(
  population: Population,
  count: number,
  seed: number,
): Promise<QueryRankings[]> {
  const random = new Random(seed);
  const training = draw(population, TRAINED_ON, random).map((query, at) => ({
    ...query,
    grades: shuffled(query.grades, seed + at),
  }));
  const objective = (weights: readonly number[]): Promise<number> =>
    Promise.resolve(training.reduce((sum, query) => sum + ndcgOf(query, weights), 0) / training.length);
  const start = WEIGHTS.map((param) => rounded(2 * random.next() - 1, param));
  const { point } = await climb(WEIGHTS, objective, start);
  return draw(population, count, random).map((query, at) => ({
    query: String(at),
    baseline: [{ ranked: rankWith(query, TODAY), ideal: query.ideal }],
    rankings: [{ ranked: rankWith(query, point), ideal: query.ideal }],
  }));
}

function draw({ queries }: Population, count: number, random: Random): Query[] {
  return Array.from({ length: count }, () => {
    const grades = queries[random.between(0, queries.length - 1)] ?? [];
    const features = grades.map((grade) => SIGNALS.map((signal) => signal * grade + normal(random)));
    return { grades, features, ideal: [...grades].sort((a, b) => b - a) };
  });
}

function rankWith({ grades, features }: Query, weights: readonly number[]): number[] {
  return rankBy(
    grades,
    features.map((values) => values.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0)),
  );
}

function ndcgOf(query: Query, weights: readonly number[]): number {
  return ndcg({ ranked: rankWith(query, weights), ideal: query.ideal }, 10, METRIC_OPTIONS) ?? 0;
}
