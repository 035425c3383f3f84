import { Random } from '../../ground/core/random.js';
import { shuffled } from '../../ground/core/shuffle.js';
import { bootstrapInterval, mean, type Interval } from '../../ground/core/statistics.js';
import {
  better,
  climb,
  rounded,
  withoutIdleChanges,
  type Optimum,
  type Point,
  type TunedParam,
} from './coordinate-ascent.js';

/** The measure of each query with the values of a point; undefined if the point is not possible. */
export type MeasureQueries = (point: Point) => Promise<Float64Array | undefined>;

export interface TuneOptions {
  readonly seed: number;
  /** The values of today. */
  readonly start: Point;
  /** Searches from random values besides the one from the values of today; by default 4. */
  readonly restarts?: number;
  /** Called after each climb. */
  readonly onProgress?: (done: number, total: number, evaluations: number) => void;
}

export interface TuneResult {
  /** The best values for all queries. */
  readonly point: Point;
  /** The mean over all queries, on which the values were chosen. */
  readonly fitted: { readonly before: number; readonly after: number };
  /** Means over queries whose values were chosen on other queries. */
  readonly outOfFold: {
    readonly before: number;
    readonly after: number;
    readonly delta: number;
    readonly interval: Interval;
    readonly folds: number;
  };
  /** Queries with a measure. */
  readonly queries: number;
  /** Points that were measured. */
  readonly evaluations: number;
}

const FOLDS = 5;
export const DEFAULT_RESTARTS = 4;
/** Numbers kept of measured points; about 64 MB. */
const MOST_KEPT = 8e6;

/**
 * Looks for the values of params with the highest mean measure. The gain is estimated by cross-validation: each fifth of
 * the queries is measured with values that were chosen on the other queries.
 * @throws RangeError if fewer than 5 queries have a measure
 */
export async function tune(
  params: readonly TunedParam[],
  measure: MeasureQueries,
  { seed, start, restarts = DEFAULT_RESTARTS, onProgress }: TuneOptions,
): Promise<TuneResult> {
  const measured = new Measured(measure);
  const today = await measured.at(start);
  if (today === undefined) throw new Error('the values of today cannot be measured');
  // The measure is not defined if no candidate of a query is relevant, whatever the values.
  const queries = Array.from(today.keys()).filter((query) => !Number.isNaN(today[query]));
  if (queries.length < FOLDS)
    throw new RangeError(
      `${queries.length} queries have a relevant candidate; tuning needs at least ${FOLDS}`,
    );

  const starts = [start, ...randomStarts(params, restarts, seed)];
  const total = (FOLDS + 1) * starts.length;
  let done = 0;
  const best = async (on: readonly number[]): Promise<Optimum> => {
    const objective = async (point: Point): Promise<number> => meanOf(await measured.at(point), on);
    let found: Optimum | undefined;
    for (const from of starts) {
      const climbed = await climb(params, objective, from);
      found = found === undefined ? climbed : better(found, climbed);
      onProgress?.(++done, total, measured.evaluations);
    }
    return withoutIdleChanges(objective, found ?? { point: start, value: meanOf(today, on) }, start);
  };

  const after = new Float64Array(today);
  const folds = foldsOf(queries, seed);
  for (const fold of folds) {
    const held = new Set(fold);
    const { point } = await best(queries.filter((query) => !held.has(query)));
    const values = await measured.at(point);
    for (const query of fold) after[query] = measureOf(values, query);
  }
  const fitted = await best(queries);
  const [before, later] = [today, after].map((values) => queries.map((query) => values[query] ?? 0));
  const deltas = (later ?? []).map((value, i) => value - (before?.[i] ?? 0));
  return {
    point: fitted.point,
    fitted: { before: meanOf(today, queries), after: fitted.value },
    outOfFold: {
      before: mean(before ?? []),
      after: mean(later ?? []),
      delta: mean(deltas),
      interval: bootstrapInterval(deltas, seed),
      folds: folds.length,
    },
    queries: queries.length,
    evaluations: measured.evaluations,
  };
}

/** Measures each point once. The searches of the folds meet at many points. */
class Measured {
  evaluations = 0;
  readonly #measure: MeasureQueries;
  readonly #kept = new Map<string, Float64Array | undefined>();
  #numbers = 0;

  constructor(measure: MeasureQueries) {
    this.#measure = measure;
  }

  async at(point: Point): Promise<Float64Array | undefined> {
    const key = point.join(' ');
    if (this.#kept.has(key)) return this.#kept.get(key);
    this.evaluations += 1;
    const values = await this.#measure(point);
    this.#numbers += values?.length ?? 0;
    if (this.#numbers > MOST_KEPT) {
      this.#kept.clear();
      this.#numbers = values?.length ?? 0;
    }
    this.#kept.set(key, values);
    return values;
  }
}

function randomStarts(params: readonly TunedParam[], count: number, seed: number): Point[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () =>
    params.map((param) => rounded(param.min + random.next() * (param.max - param.min), param)),
  );
}

function foldsOf(queries: readonly number[], seed: number): number[][] {
  const folds = Array.from({ length: FOLDS }, (): number[] => []);
  shuffled(queries, seed).forEach((query, at) => folds[at % FOLDS]?.push(query));
  return folds;
}

function meanOf(values: Float64Array | undefined, queries: readonly number[]): number {
  if (values === undefined) return -Infinity;
  let sum = 0;
  for (const query of queries) sum += measureOf(values, query);
  return sum / queries.length;
}

/** A ranking without a measure is worth nothing: with other values, the query has one. */
function measureOf(values: Float64Array | undefined, query: number): number {
  const value = values?.[query] ?? NaN;
  return Number.isNaN(value) ? 0 : value;
}
