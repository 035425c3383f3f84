import type { Registry } from 'prom-client';
import type { InstanceEntry } from '../../state/instances/instance-entries.js';

/** The window of rates and latencies: so many samples, and the milliseconds between them. */
const SAMPLES = 13;
export const SAMPLE_MS = 5000;

const REQUESTS = 'millrace_http_requests_total';
const SECONDS = 'millrace_http_request_duration_seconds';
const DEGRADED = 'millrace_pipeline_degraded_total';
const REFUSED = ['millrace_requests_shed_total', 'millrace_requests_refused_total'];
const FEEDBACK = 'millrace_feedback_events_total';
const ARMS = 'millrace_experiment_requests_total';
const SOURCE_UP = 'millrace_source_up';
const SOURCE_LAG = 'millrace_source_lag_messages';
const SOURCE_SETTLED = 'millrace_source_last_settled_timestamp_seconds';
const LEDGER = 'millrace_ledger_last_write_timestamp_seconds';
const NAMES = [
  REQUESTS,
  SECONDS,
  DEGRADED,
  ...REFUSED,
  FEEDBACK,
  ARMS,
  SOURCE_UP,
  SOURCE_LAG,
  SOURCE_SETTLED,
  LEDGER,
];

/** What a pipeline did in the window. Rates are per second. */
export interface LivePipeline {
  readonly pipeline: string;
  readonly requests: number;
  /** Answers with a status of 400 or more. */
  readonly failed: number;
  readonly degraded: number;
  /** Milliseconds; null without requests. */
  readonly p50: number | null;
  readonly p99: number | null;
}

/** How a process is. A time is ISO 8601, and null if there was none since its start. */
export interface LiveState {
  /** The seconds that the rates are over. */
  readonly window: number;
  /** Requests that were refused by load, host, origin or rate, per second. */
  readonly refused: number;
  readonly pipelines: readonly LivePipeline[];
  /** Events of feedback that were stored and counted, per second, and when the last one was. */
  readonly feedback: number;
  readonly last_feedback: string | null;
  readonly last_ledger_write: string | null;
  readonly sources: readonly {
    readonly source: string;
    readonly is_up: boolean;
    /** Messages that are not read yet; null if it is not known. */
    readonly lag: number | null;
    readonly last: string | null;
  }[];
  /** The requests of each arm since the start of the process. */
  readonly arms: readonly { readonly experiment: string; readonly arm: string; readonly requests: number }[];
}

/** What an instance says of itself. */
export interface ToldInstance extends InstanceEntry, LiveState {
  /** When it started, ISO 8601. */
  readonly started: string;
  /** The version of the project's files that it serves. */
  readonly project: string;
}

export const STATES = ['current', 'stale'] as const;

export interface ShownInstance extends Omit<ToldInstance, 'seen'> {
  /** When it last said something, ISO 8601. */
  readonly seen: string;
  /** `stale`: it said nothing for a while, so what it said holds no more. */
  readonly state: (typeof STATES)[number];
}

export interface InstanceList {
  /** The time of the answer, ISO 8601. */
  readonly at: string;
  readonly instances: readonly ShownInstance[];
}

interface Value {
  readonly name: string;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

interface Sample {
  readonly at: number;
  readonly values: readonly Value[];
}

/** Reads rates of the last minute from the metrics of a process. It costs requests nothing. */
export class LiveMeter {
  readonly #registry: Registry;
  #samples: readonly Sample[] = [];
  #feedbackAt: number | undefined;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** To be called every `SAMPLE_MS`. @param now epoch milliseconds */
  async sample(now: number): Promise<void> {
    const values: Value[] = [];
    for (const name of NAMES) {
      const metric = await this.#registry.getSingleMetric(name)?.get();
      for (const one of metric?.values ?? [])
        values.push({
          name: ('metricName' in one ? String(one.metricName) : undefined) ?? name,
          labels: one.labels,
          value: one.value,
        });
    }
    const before = this.#samples.at(-1);
    this.#samples = [...this.#samples, { at: now, values }].slice(-SAMPLES);
    const counted = (of: Sample | undefined): number =>
      sum(of, FEEDBACK, ({ outcome }) => outcome === 'stored');
    if (counted(this.#samples.at(-1)) > counted(before)) this.#feedbackAt = now;
  }

  /** @param pipelines with their routes */
  state(pipelines: readonly { readonly name: string; readonly route: string }[]): LiveState {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const seconds = ((last?.at ?? 0) - (first?.at ?? 0)) / 1000;
    const grown = (name: string, isOne: (labels: Value['labels']) => boolean = () => true): number =>
      sum(last, name, isOne) - sum(first, name, isOne);
    const rate = (count: number): number => (seconds > 0 ? round(count / seconds) : 0);
    return {
      window: seconds,
      refused: rate(REFUSED.reduce((all, name) => all + grown(name), 0)),
      pipelines: pipelines.map(({ name, route }) => {
        const isOwn = (labels: Value['labels']): boolean => labels['route'] === route;
        const buckets = bucketsOf(first, last, isOwn);
        return {
          pipeline: name,
          requests: rate(grown(REQUESTS, isOwn)),
          failed: rate(grown(REQUESTS, (labels) => isOwn(labels) && Number(labels['status']) >= 400)),
          degraded: rate(grown(DEGRADED, (labels) => labels['pipeline'] === name)),
          p50: quantileMs(buckets, 0.5),
          p99: quantileMs(buckets, 0.99),
        };
      }),
      feedback: rate(grown(FEEDBACK, ({ outcome }) => outcome === 'stored')),
      last_feedback: timeOf(this.#feedbackAt),
      last_ledger_write: timeOf(1000 * Math.max(0, ...valuesOf(last, LEDGER).map(({ value }) => value))),
      sources: valuesOf(last, SOURCE_UP).map(({ labels: { source }, value }) => {
        const own = (name: string): number | undefined =>
          valuesOf(last, name).find(({ labels }) => labels['source'] === source)?.value;
        return {
          source: String(source),
          is_up: value === 1,
          lag: own(SOURCE_LAG) ?? null,
          last: timeOf(1000 * (own(SOURCE_SETTLED) ?? 0)),
        };
      }),
      arms: valuesOf(last, ARMS)
        .filter(({ labels }) => labels['excluded'] === 'no' && labels['outcome'] === 'answered')
        .map(({ labels, value }) => ({
          experiment: String(labels['experiment']),
          arm: String(labels['arm']),
          requests: value,
        })),
    };
  }
}

const valuesOf = (of: Sample | undefined, name: string): readonly Value[] =>
  (of?.values ?? []).filter((one) => one.name === name);

function sum(of: Sample | undefined, name: string, isOne: (labels: Value['labels']) => boolean): number {
  return valuesOf(of, name).reduce((all, { labels, value }) => (isOne(labels) ? all + value : all), 0);
}

/** What each bucket of the histogram of durations gained, cumulative, by its upper bound in seconds. */
function bucketsOf(
  first: Sample | undefined,
  last: Sample | undefined,
  isOne: (labels: Value['labels']) => boolean,
): readonly (readonly [bound: number, count: number])[] {
  const counts = new Map<number, number>();
  for (const [of, sign] of [
    [last, 1],
    [first, -1],
  ] as const)
    for (const { labels, value } of valuesOf(of, `${SECONDS}_bucket`)) {
      const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
      if (isOne(labels)) counts.set(bound, (counts.get(bound) ?? 0) + sign * value);
    }
  return [...counts].sort(([a], [b]) => a - b);
}

/** As `histogram_quantile` of Prometheus: linear inside a bucket. */
function quantileMs(
  buckets: readonly (readonly [bound: number, count: number])[],
  share: number,
): number | null {
  const all = buckets.at(-1)?.[1] ?? 0;
  if (all === 0) return null;
  let [low, below] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= share * all)
      return round(
        1000 * (bound === Infinity ? low : low + ((bound - low) * (share * all - below)) / (count - below)),
      );
    [low, below] = [bound, count];
  }
  return null;
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined || ms === 0 ? null : new Date(ms).toISOString();
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
