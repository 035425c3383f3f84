import type { Metric } from './metric-names.js';
import type { JudgedRanking, MetricOptions } from './metrics.js';
import {
  bootstrapInterval,
  holm,
  mean,
  randomisationTest,
  type Interval,
} from '../../ground/core/statistics.js';

/** The rankings of one query. */
export interface QueryRankings {
  readonly query: string;
  /** The slice that the query belongs to; undefined without slices. */
  readonly slice?: string | undefined;
  /** Several, if the query was ranked from several orders of its candidates. */
  readonly rankings: readonly JudgedRanking[];
  /** Those of the baseline. */
  readonly baseline?: readonly JudgedRanking[];
}

export interface ReportOptions extends MetricOptions {
  /** What becomes of a query without a relevant candidate: left out, or counted with this value. */
  readonly empty: 'skip' | 0 | 1;
  readonly seed: number;
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
  /** Values by metric; null if the metric is not defined for the query. */
  readonly values: Readonly<Record<string, number | null>>;
  readonly baseline?: Readonly<Record<string, number | null>>;
}

export interface EvaluationReport {
  readonly metrics: readonly MetricReport[];
  readonly slices: readonly SliceReport[];
  readonly queries: readonly QueryReport[];
}

/** Evaluates rankings: every metric with its interval, the comparison with the baseline, slices, and each query. */
export function evaluate(
  rankings: readonly QueryRankings[],
  metrics: readonly Metric[],
  options: ReportOptions,
): EvaluationReport {
  const columns = metrics.map((metric) => columnOf(rankings, metric, options));
  const [first] = columns;
  return {
    metrics: columns.map((column) => reportOf(column, rankings, options)),
    slices: first === undefined ? [] : slicesOf(first, rankings, options),
    queries: rankings.map(({ query, slice, baseline }, at) => ({
      query,
      ...(slice === undefined ? {} : { slice }),
      values: Object.fromEntries(columns.map(({ metric, values }) => [metric, values[at] ?? null])),
      ...(baseline === undefined
        ? {}
        : { baseline: Object.fromEntries(columns.map((one) => [one.metric, one.baseline[at] ?? null])) }),
    })),
  };
}

/** The values of one metric, by query; undefined where a query does not count. */
interface Column {
  readonly metric: string;
  readonly values: readonly (number | undefined)[];
  readonly baseline: readonly (number | undefined)[];
}

function columnOf(rankings: readonly QueryRankings[], metric: Metric, options: ReportOptions): Column {
  const valueOf = (several: readonly JudgedRanking[]): number | undefined => {
    const values = several.flatMap((one) => metric.of(one, options) ?? []);
    if (values.length > 0) return mean(values);
    return options.empty === 'skip' ? undefined : options.empty;
  };
  return {
    metric: metric.name,
    values: rankings.map((one) => valueOf(one.rankings)),
    baseline: rankings.map(({ baseline }) => (baseline === undefined ? undefined : valueOf(baseline))),
  };
}

function reportOf(
  { metric, values, baseline }: Column,
  rankings: readonly QueryRankings[],
  { seed }: ReportOptions,
  isIn: (at: number) => boolean = () => true,
): MetricReport {
  const counted = values.flatMap((value, at) => (value !== undefined && isIn(at) ? [value] : []));
  const report = {
    metric,
    queries: counted.length,
    mean: mean(counted),
    interval: bootstrapInterval(counted, seed),
  };
  if (rankings.every((one) => one.baseline === undefined)) return report;
  const before: number[] = [];
  const differences: number[] = [];
  values.forEach((value, at) => {
    const other = baseline[at];
    if (value === undefined || other === undefined || !isIn(at)) return;
    before.push(other);
    differences.push(value - other);
  });
  return {
    ...report,
    delta: {
      baseline: mean(before),
      mean: mean(differences),
      interval: bootstrapInterval(differences, seed),
      p: randomisationTest(differences, seed),
    },
  };
}

function slicesOf(
  column: Column,
  rankings: readonly QueryRankings[],
  options: ReportOptions,
): readonly SliceReport[] {
  const names = [...new Set(rankings.flatMap(({ slice }) => slice ?? []))].sort();
  const slices = names.map((slice) => ({
    slice,
    ...reportOf(column, rankings, options, (at) => rankings[at]?.slice === slice),
  }));
  const corrected = holm(slices.map(({ delta }) => delta?.p ?? 1));
  return slices.map((slice, at) =>
    slice.delta === undefined ? slice : { ...slice, correctedP: corrected[at] ?? 1 },
  );
}
