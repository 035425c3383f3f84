import { Random } from '../../ground/core/random.js';
import { shuffled } from '../../ground/core/shuffle.js';
import { atOnce } from '../../ground/core/pieces.js';
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

/**
 * The measure of each query with the values of a point; undefined if the point is not possible.
 * @param on numbers of the queries that are wanted; by default all
 */
export type MeasureQueries = (point: Point, on?: readonly number[]) => Promise<Float64Array | undefined>;

export interface TuneOptions {
  readonly seed: number;
  /** The values of today. */
  readonly start: Point;
  /** Searches from random values besides the one from the values of today; by default 4. */
  readonly restarts?: number;
  /** How long the search may take; by default it is not limited. */
  readonly budgetMs?: number;
  /** Milliseconds of a clock; by default the time of the process. */
  readonly now?: () => number;
  /** Stops the search, as the end of the budget does. */
  readonly signal?: AbortSignal;
  /** Measures the values of today and the chosen ones; by default as the search measures. */
  readonly exact?: MeasureQueries;
  /** Called after each measured point with the share of the search that is done, and the best mean so far. */
  readonly onProgress?: (done: number, evaluations: number, best: number) => void;
}

export interface TuneResult {
  /** The best values for all queries. */
  readonly point: Point;
  /** The mean over all queries, on which the values were chosen. */
  readonly fitted: { readonly before: number; readonly after: number };
  /** Means over queries whose values were chosen on other queries; NaN if the search was stopped before any. */
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
  /** Whether the budget or the signal ended a search early. The values are then the best so far. */
  readonly isStopped: boolean;
}

const FOLDS = 5;
export const DEFAULT_RESTARTS = 4;
/** With more queries than this, random starts climb on so many of them, and the best climbs on from there on all. */
const MOST_FOR_STARTS = 300;
/** Numbers kept of measured points; about 64 MB. */
const MOST_KEPT = 8e6;

/**
 * Looks for the values of params with the highest mean measure. The gain is estimated by cross-validation: each fifth of
 * the queries is measured with values that were chosen on the other queries. Each of the six searches has an equal share of
 * the budget.
 * @throws RangeError if fewer than 5 queries have a measure
 */
export async function tune(
  params: readonly TunedParam[],
  measure: MeasureQueries,
  options: TuneOptions,
): Promise<TuneResult> {
  const { seed, start, signal, exact = measure } = options;
  const today = await exact(start);
  if (today === undefined) throw new Error('the values of today cannot be measured');
  // The measure is not defined if no candidate of a query is relevant, whatever the values.
  const queries = Array.from(today.keys()).filter((query) => !Number.isNaN(today[query]));
  if (queries.length < FOLDS)
    throw new RangeError(
      `tuning needs at least ${FOLDS} queries with a relevant candidate, found ${queries.length}`,
    );
  const search = new Search(params, new Measured(measure), options);
  const fitted = await search.best(queries);
  const chosen = new Map<number, number>();
  let done = 0;
  for (const fold of foldsOf(queries, seed)) {
    if (signal?.aborted === true) break;
    const held = new Set(fold);
    const { point } = await search.best(queries.filter((query) => !held.has(query)));
    const values = await exact(point, fold);
    for (const query of fold) chosen.set(query, measureOf(values, query));
    done += 1;
  }
  const held = queries.filter((query) => chosen.has(query));
  const before = held.map((query) => measureOf(today, query));
  const later = held.map((query) => chosen.get(query) ?? 0);
  const deltas = later.map((value, i) => value - (before[i] ?? 0));
  return {
    point: fitted.point,
    fitted: { before: meanOf(today, queries), after: meanOf(await exact(fitted.point, queries), queries) },
    outOfFold: {
      before: mean(before),
      after: mean(later),
      delta: mean(deltas),
      interval: atOnce(bootstrapInterval(deltas, seed)),
      folds: done,
    },
    queries: queries.length,
    evaluations: search.measured.evaluations,
    isStopped: search.isStopped,
  };
}

/** The searches of a call of `tune`, one after the other. */
class Search {
  isStopped = false;
  readonly #starts: readonly Point[];
  readonly #now: () => number;
  readonly #began: number;
  #searches = 0;
  #best = -Infinity;

  constructor(
    readonly params: readonly TunedParam[],
    readonly measured: Measured,
    readonly options: TuneOptions,
  ) {
    const { start, restarts = DEFAULT_RESTARTS, seed, now = () => performance.now() } = options;
    this.#now = now;
    this.#began = now();
    this.#starts = [start, ...randomStarts(params, restarts, seed)];
  }

  /** The best values for some queries. */
  async best(on: readonly number[]): Promise<Optimum> {
    const { start, seed } = this.options;
    this.#searches += 1;
    const isFirst = this.#searches === 1;
    let climbs = 0;
    const objectiveOn =
      (some: readonly number[]) =>
      async (point: Point): Promise<number> => {
        const value = meanOf(await this.measured.at(point, some), some);
        if (isFirst) this.#best = Math.max(this.#best, value);
        const share = (this.#searches - 1 + Math.min(1, climbs / (this.#starts.length + 1))) / (FOLDS + 1);
        this.options.onProgress?.(share, this.measured.evaluations, this.#best);
        return value;
      };
    const isOver = (): boolean => this.#isOver();
    const sample = on.length > 2 * MOST_FOR_STARTS ? shuffled(on, seed).slice(0, MOST_FOR_STARTS) : on;
    let found: Optimum | undefined;
    for (const from of this.#starts) {
      if (found !== undefined && isOver()) break;
      const climbed = await climb(this.params, objectiveOn(sample), from, { isOver });
      found = found === undefined ? climbed : better(found, climbed);
      climbs += 1;
    }
    const objective = objectiveOn(on);
    if (sample !== on) {
      this.#best = -Infinity;
      const today = { point: start, value: await objective(start) };
      const near = await climb(this.params, objective, found?.point ?? start, { isOver, isNear: true });
      found = better(today, near);
    }
    found ??= { point: start, value: -Infinity };
    return isOver() ? found : withoutIdleChanges(objective, found, start);
  }

  /** Whether the current search has used its share of the budget, or the user wants it to end. */
  #isOver(): boolean {
    const { budgetMs = Infinity, signal } = this.options;
    const until = (budgetMs * this.#searches) / (FOLDS + 1);
    const isOver = signal?.aborted === true || this.#now() - this.#began > until;
    this.isStopped ||= isOver;
    return isOver;
  }
}

/** Measures each query at each point once. The searches of the folds meet at many points. */
class Measured {
  evaluations = 0;
  /** By point: NaN for a query that was not measured there; undefined if the point is not possible. */
  readonly #kept = new Map<string, Float64Array | undefined>();
  #numbers = 0;

  constructor(private readonly measure: MeasureQueries) {}

  /** @returns by query; those of `on` are measured */
  async at(point: Point, on: readonly number[]): Promise<Float64Array | undefined> {
    const key = point.join(' ');
    const known = this.#kept.get(key);
    if (known === undefined && this.#kept.has(key)) return undefined;
    const wanted = known === undefined ? on : on.filter((query) => Number.isNaN(known[query]));
    if (wanted.length === 0) return known;
    this.evaluations += 1;
    const values = await this.measure(point, wanted);
    if (values === undefined) return this.#keep(point, undefined);
    const all = known ?? this.#keep(point, new Float64Array(values.length).fill(NaN));
    for (const query of wanted) if (all !== undefined) all[query] = measureOf(values, query);
    return all;
  }

  #keep(point: Point, values: Float64Array | undefined): Float64Array | undefined {
    this.#numbers += values?.length ?? 0;
    if (this.#numbers > MOST_KEPT) {
      this.#kept.clear();
      this.#numbers = values?.length ?? 0;
    }
    this.#kept.set(point.join(' '), values);
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
