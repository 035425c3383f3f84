import type { Registry } from 'prom-client';
import type { InstanceEntry } from '../../state/instances/instance-entries.js';

/** The number of samples in the window of rates and latencies, and the milliseconds between them. */
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

/** The state of a process. A time is ISO 8601; null if the event has not occurred since the start. */
export interface LiveState {
  /** The length of the window of the rates, seconds. */
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

/** The entry that an instance publishes. */
export interface ToldInstance extends InstanceEntry, LiveState {
  /** When it started, ISO 8601. */
  readonly started: string;
  /** The version of the project's files that it serves. */
  readonly project: string;
}

export const STATES = ['current', 'stale'] as const;

export interface ShownInstance extends Omit<ToldInstance, 'seen'> {
  /** When it last published its state, ISO 8601. */
  readonly seen: string;
  /** `stale`: it has published nothing for 20 seconds. */
  readonly state: (typeof STATES)[number];
}

export interface InstanceList {
  /** The time of the answer, ISO 8601. */
  readonly at: string;
  readonly instances: readonly ShownInstance[];
}

type Labels = Readonly<Partial<Record<string, string | number>>>;

interface Value {
  /** Of a histogram: which of its values it is. */
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
}

/** The requests of a route. */
interface RouteTotals {
  requests: number;
  failed: number;
  /** Cumulative, by upper bound in seconds. */
  readonly buckets: Map<number, number>;
}

/** Counts since the start of the process. */
interface Totals {
  /** Epoch milliseconds. */
  readonly at: number;
  refused: number;
  feedback: number;
  readonly routes: Map<string, RouteTotals>;
  /** By pipeline. */
  readonly degraded: Map<string, number>;
}

type Gauges = Pick<LiveState, 'last_ledger_write' | 'sources' | 'arms'>;

/** Reads rates of the last minute from the metrics of a process. Requests do no work for it. */
export class LiveMeter {
  readonly #registry: Registry;
  #samples: readonly Totals[] = [];
  #gauges: Gauges = { last_ledger_write: null, sources: [], arms: [] };
  #feedbackAt: number | undefined;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** To be called every `SAMPLE_MS`. @param now epoch milliseconds */
  async sample(now: number): Promise<void> {
    const totals = await this.#totals(now);
    if (totals.feedback > (this.#samples.at(-1)?.feedback ?? 0)) this.#feedbackAt = now;
    this.#samples = [...this.#samples, totals].slice(-SAMPLES);
    this.#gauges = await this.#gaugesNow();
  }

  /** @param pipelines with their routes */
  state(pipelines: readonly { readonly name: string; readonly route: string }[]): LiveState {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    const seconds = ((last?.at ?? 0) - (first?.at ?? 0)) / 1000;
    const rate = (of: (totals: Totals) => number | undefined): number => {
      const grown = (last === undefined ? 0 : (of(last) ?? 0)) - (first === undefined ? 0 : (of(first) ?? 0));
      return seconds > 0 ? round(grown / seconds) : 0;
    };
    return {
      window: seconds,
      refused: rate(({ refused }) => refused),
      pipelines: pipelines.map(({ name, route }) => {
        const buckets = bucketsOf(first?.routes.get(route), last?.routes.get(route));
        return {
          pipeline: name,
          requests: rate(({ routes }) => routes.get(route)?.requests),
          failed: rate(({ routes }) => routes.get(route)?.failed),
          degraded: rate(({ degraded }) => degraded.get(name)),
          p50: quantileMs(buckets, 0.5),
          p99: quantileMs(buckets, 0.99),
        };
      }),
      feedback: rate(({ feedback }) => feedback),
      last_feedback: timeOf(this.#feedbackAt),
      ...this.#gauges,
    };
  }

  async #values(name: string): Promise<readonly Value[]> {
    return (await this.#registry.getSingleMetric(name)?.get())?.values ?? [];
  }

  async #totals(at: number): Promise<Totals> {
    const totals: Totals = { at, refused: 0, feedback: 0, routes: new Map(), degraded: new Map() };
    for (const name of REFUSED) for (const { value } of await this.#values(name)) totals.refused += value;
    for (const { labels, value } of await this.#values(FEEDBACK))
      if (labels['outcome'] === 'stored') totals.feedback += value;
    for (const { labels, value } of await this.#values(DEGRADED))
      add(totals.degraded, String(labels['pipeline']), value);
    for (const { labels, value } of await this.#values(REQUESTS)) {
      const route = routeIn(totals, labels);
      route.requests += value;
      if (Number(labels['status']) >= 400) route.failed += value;
    }
    for (const { metricName, labels, value } of await this.#values(SECONDS))
      if (metricName === `${SECONDS}_bucket`)
        add(
          routeIn(totals, labels).buckets,
          labels['le'] === '+Inf' ? Infinity : Number(labels['le']),
          value,
        );
    return totals;
  }

  async #gaugesNow(): Promise<Gauges> {
    const [ups, lags, settled, written, taken] = await Promise.all(
      [SOURCE_UP, SOURCE_LAG, SOURCE_SETTLED, LEDGER, ARMS].map((name) => this.#values(name)),
    );
    const of = (values: readonly Value[] | undefined, source: Labels[string]): number | undefined =>
      values?.find(({ labels }) => labels['source'] === source)?.value;
    return {
      last_ledger_write: timeOf(1000 * Math.max(0, ...(written ?? []).map(({ value }) => value))),
      sources: (ups ?? []).map(({ labels: { source }, value }) => ({
        source: String(source),
        is_up: value === 1,
        lag: of(lags, source) ?? null,
        last: timeOf(1000 * (of(settled, source) ?? 0)),
      })),
      arms: (taken ?? [])
        .filter(({ labels }) => labels['excluded'] === 'no' && labels['outcome'] === 'answered')
        .map(({ labels, value }) => ({
          experiment: String(labels['experiment']),
          arm: String(labels['arm']),
          requests: value,
        })),
    };
  }
}

function add<K>(counts: Map<K, number>, key: K, value: number): void {
  counts.set(key, (counts.get(key) ?? 0) + value);
}

function routeIn({ routes }: Totals, { route }: Labels): RouteTotals {
  const name = String(route);
  let found = routes.get(name);
  if (found === undefined) routes.set(name, (found = { requests: 0, failed: 0, buckets: new Map() }));
  return found;
}

/** What each bucket gained, cumulative, by its upper bound in seconds. */
function bucketsOf(
  first: RouteTotals | undefined,
  last: RouteTotals | undefined,
): readonly (readonly [bound: number, count: number])[] {
  return Array.from(
    last?.buckets ?? [],
    ([bound, count]) => [bound, count - (first?.buckets.get(bound) ?? 0)] as const,
  ).sort(([a], [b]) => a - b);
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
