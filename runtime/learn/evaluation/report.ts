import { Names } from '../../ground/core/columns.js';
import { type Pieces } from '../../ground/core/pieces.js';
import type { Metric } from './metric-names.js';
import type { JudgedRanking, MetricOptions } from './metrics.js';
import {
  bootstrapInterval,
  holm,
  mean,
  randomisationTest,
  type Interval,
} from '../../ground/core/statistics.js';

/** How many places of a page are kept of each query, for reports that show pages. */
export const PAGE_PLACES = 10;

/** A candidate on a page. */
export interface PlacedId {
  readonly id: string;
  /** Undefined if it is not judged. */
  readonly grade?: number | undefined;
}

/** The rankings of one query. */
export interface QueryRankings {
  /** The slice that the query belongs to; undefined without slices. */
  readonly slice?: string | undefined;
  /** The first places of each side. */
  readonly pages?: readonly (readonly PlacedId[])[];
  /** Several, if the query was ranked from several orders of its candidates. */
  readonly rankings: readonly JudgedRanking[];
  /** Those of the baseline. */
  readonly baseline?: readonly JudgedRanking[] | undefined;
}

export interface MeasureOptions extends MetricOptions {
  /** What becomes of a query without a relevant candidate: left out, or counted with this value. */
  readonly empty: 'skip' | 0 | 1;
}

/** A metric over all queries. */
export interface MetricReport {
  readonly metric: string;
  /** The number of queries that count. */
  readonly queries: number;
  /** NaN if no query counts. */
  readonly mean: number;
  readonly interval: Interval;
  /** The comparison with the baseline, over the same queries. */
  readonly delta?: DeltaReport;
}

export interface DeltaReport {
  readonly baseline: number;
  readonly mean: number;
  readonly interval: Interval;
  /** Of the paired randomisation test, two-sided. */
  readonly p: number;
}

/** The first metric over the queries of one slice. */
export interface SliceReport extends MetricReport {
  readonly slice: string;
  /** The p value, corrected by Holm for the number of slices. */
  readonly correctedP?: number;
}

export interface QueryReport {
  readonly query: string;
  readonly slice?: string | undefined;
  /** The candidate at the first place. */
  readonly first?: string | undefined;
  /** Values by metric; null if the metric is not defined for the query. */
  readonly values: Readonly<Record<string, number | null>>;
  readonly baseline?: Readonly<Record<string, number | null>> | undefined;
}

export interface EvaluationReport {
  readonly metrics: readonly MetricReport[];
  readonly slices: readonly SliceReport[];
  readonly queries: MeasuredQueries;
}

/** The measures of all queries, in columns: an object for each would need four times the memory. */
export class MeasuredQueries implements Iterable<QueryReport> {
  readonly #metrics: readonly Metric[];
  readonly #options: MeasureOptions;
  readonly #queryAt: (at: number) => string;
  /** By query, side and place: the number of the candidate, plus 1; 0 for none. */
  readonly #placed: Uint32Array;
  /** Their grades; NaN for none. */
  readonly #grades: Float32Array;
  readonly #ids = new Names();
  readonly #places: number;
  readonly #sides: number;
  readonly slices: (string | undefined)[] = [];
  /** By metric: NaN where it is not defined for the query. */
  readonly values: ReadonlyMap<string, Float64Array>;
  /** Those of the baseline. */
  readonly baseline: ReadonlyMap<string, Float64Array> | undefined;

  /** @param queries how many there are, the name of each, and how many places of their pages are kept */
  constructor(
    queries: {
      readonly count: number;
      readonly queryAt: (at: number) => string;
      readonly places?: number | undefined;
    },
    metrics: readonly Metric[],
    options: MeasureOptions,
    hasBaseline: boolean,
  ) {
    const { count, queryAt, places = 1 } = queries;
    this.#metrics = metrics;
    this.#options = options;
    this.#queryAt = queryAt;
    this.#places = places;
    this.#sides = hasBaseline ? 2 : 1;
    this.#placed = new Uint32Array(count * places * this.#sides);
    this.#grades = new Float32Array(this.#placed.length);
    const columns = (): Map<string, Float64Array> =>
      new Map(metrics.map(({ name }) => [name, new Float64Array(count)]));
    this.values = columns();
    this.baseline = hasBaseline ? columns() : undefined;
  }

  /** Measures the rankings of a query, which need not be held afterwards. */
  measure(at: number, { slice, pages = [], rankings, baseline }: QueryRankings): void {
    for (const [side, page] of pages.entries())
      for (const [place, { id, grade = NaN }] of page.slice(0, this.#places).entries()) {
        const row = (at * this.#sides + side) * this.#places + place;
        this.#placed[row] = this.#ids.add(id) + 1;
        this.#grades[row] = grade;
      }
    if (slice !== undefined) this.slices[at] = slice;
    for (const metric of this.#metrics) {
      set(this.values.get(metric.name), at, this.#valueOf(metric, rankings));
      set(this.baseline?.get(metric.name), at, this.#valueOf(metric, baseline ?? []));
    }
  }

  of(at: number): QueryReport {
    return {
      query: this.#queryAt(at),
      slice: this.slices[at],
      first: this.#idAt(at * this.#sides * this.#places),
      values: valuesAt(this.values, at),
      baseline: this.baseline && valuesAt(this.baseline, at),
    };
  }

  /** The first places of each side. */
  pagesOf(at: number): readonly (readonly PlacedId[])[] {
    return Array.from({ length: this.#sides }, (_, side) =>
      Array.from(
        { length: this.#places },
        (_place, place) => (at * this.#sides + side) * this.#places + place,
      ).flatMap((row) => {
        const id = this.#idAt(row);
        const grade = this.#grades[row] ?? NaN;
        return id === undefined ? [] : [Number.isNaN(grade) ? { id } : { id, grade }];
      }),
    );
  }

  *[Symbol.iterator](): Generator<QueryReport, void> {
    const count = this.#placed.length / (this.#sides * this.#places);
    for (let at = 0; at < count; at++) yield this.of(at);
  }

  #idAt(row: number): string | undefined {
    return this.#ids.at((this.#placed[row] ?? 0) - 1);
  }

  #valueOf(metric: Metric, several: readonly JudgedRanking[]): number {
    const values = several.flatMap((one) => metric.of(one, this.#options) ?? []);
    if (values.length > 0) return mean(values);
    return this.#options.empty === 'skip' ? NaN : this.#options.empty;
  }
}

function set(column: Float64Array | undefined, at: number, value: number): void {
  if (column !== undefined) column[at] = value;
}

function valuesAt(columns: ReadonlyMap<string, Float64Array>, at: number): QueryReport['values'] {
  const valueOf = (value = NaN): number | null => (Number.isNaN(value) ? null : value);
  return Object.fromEntries(Array.from(columns, ([name, column]) => [name, valueOf(column[at])]));
}

/** Evaluates measured queries: every metric with its interval, the comparison with the baseline, slices, and each query. */
export function* evaluate(queries: MeasuredQueries, seed: number): Pieces<EvaluationReport> {
  const metrics = [...queries.values.keys()];
  const [first] = metrics;
  return {
    metrics: yield* eachOf(metrics, (name) => reportOf(name, queries, seed)),
    slices: first === undefined ? [] : yield* slicesOf(first, queries, seed),
    queries,
  };
}

/** A query that a report shows, with the pages of each side. */
export interface ShownQuery extends QueryReport {
  readonly pages: readonly (readonly PlacedId[])[];
}

/**
 * The queries with the lowest values of the first metric, worst first, and those that lost and won most against the
 * baseline.
 */
export interface WorstQueries {
  readonly lowest: readonly ShownQuery[];
  readonly lost: readonly ShownQuery[];
  readonly won: readonly ShownQuery[];
}

export function worstQueries({ queries }: EvaluationReport, most: number): WorstQueries {
  const [values = new Float64Array()] = queries.values.values();
  const [baseline = new Float64Array()] = queries.baseline?.values() ?? [];
  const valueOf = (at: number): number => values[at] ?? NaN;
  const deltaOf = (at: number): number => valueOf(at) - (baseline[at] ?? NaN);
  const worst = (by: (at: number) => number, isOne: (at: number) => boolean): readonly ShownQuery[] => {
    const firstOf = (some: readonly number[]): number[] =>
      some.toSorted((a, b) => by(a) - by(b)).slice(0, most);
    // A few are listed of many, so only these are held.
    let found: number[] = [];
    for (let at = 0; at < values.length; at++) {
      if (isOne(at)) found.push(at);
      if (found.length > 2 * most + 1000) found = firstOf(found);
    }
    return firstOf(found).map((at) => ({ ...queries.of(at), pages: queries.pagesOf(at) }));
  };
  return {
    lowest: worst(valueOf, (at) => Number.isFinite(valueOf(at))),
    lost: worst(deltaOf, (at) => deltaOf(at) < 0),
    won: worst(
      (at) => -deltaOf(at),
      (at) => deltaOf(at) > 0,
    ),
  };
}

/** @param isOne which queries count; by default all */
function* reportOf(
  metric: string,
  { values: columns, baseline }: MeasuredQueries,
  seed: number,
  isOne: (at: number) => boolean = () => true,
): Pieces<MetricReport> {
  const values = columns.get(metric) ?? new Float64Array();
  const counted = values.filter((value, at) => !Number.isNaN(value) && isOne(at));
  const report = {
    metric,
    queries: counted.length,
    mean: mean(counted),
    interval: yield* bootstrapInterval(counted, seed),
  };
  const others = baseline?.get(metric);
  if (others === undefined) return report;
  const deltas = values.map((value, at) => value - (others[at] ?? NaN));
  const isCompared = (_: number, at: number): boolean => !Number.isNaN(deltas[at]) && isOne(at);
  const differences = deltas.filter(isCompared);
  return {
    ...report,
    delta: {
      baseline: mean(others.filter(isCompared)),
      mean: mean(differences),
      interval: yield* bootstrapInterval(differences, seed),
      p: yield* randomisationTest(differences, seed),
    },
  };
}

function* eachOf<T, U>(list: readonly T[], map: (one: T) => Pieces<U>): Pieces<U[]> {
  const mapped: U[] = [];
  for (const one of list) mapped.push(yield* map(one));
  return mapped;
}

function* slicesOf(metric: string, queries: MeasuredQueries, seed: number): Pieces<readonly SliceReport[]> {
  const names = [...new Set(queries.slices.flatMap((slice) => slice ?? []))].sort();
  const slices = yield* eachOf(names, function* (slice) {
    return { slice, ...(yield* reportOf(metric, queries, seed, (at) => queries.slices[at] === slice)) };
  });
  const corrected = holm(slices.map(({ delta }) => delta?.p ?? 1));
  return slices.map((slice, at) =>
    slice.delta === undefined ? slice : { ...slice, correctedP: corrected[at] ?? 1 },
  );
}
