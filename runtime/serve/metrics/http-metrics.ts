import { collectDefaultMetrics, Counter, Registry } from 'prom-client';
import { KeyMetrics } from './key-metrics.js';
import type { OnlineReport } from '../../state/index/online-features.js';
import { StatusCounts } from '../../state/index/status-counts.js';
import type { FeedbackCounts } from '../feedback/feedback.js';
import type { ReadReport } from '../../state/index/feature-source.js';
import type { WriteBody } from '../../state/index/store-parts.js';
import type { RetrieverReport } from '../../request/pipeline/request/retrieval-report.js';
import { STAGES } from '../../request/pipeline/stages.js';
import type { TakenArm } from '../../request/experiments/live-experiments.js';
import type { PageTeams, Pipeline, RunReport } from '../../request/pipeline/types.js';
import { type Series, SeriesHistogram } from './series-histogram.js';

/**
 * Route label of requests that match no route. The client chooses the path, so a label per path would have no bound.
 */
const NO_ROUTE = 'none';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STAGE_SECONDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];
const CANDIDATES = [1, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000];

/** The counters of ranked requests, in the order in which they are shown. */
const RANKED = {
  duplicates: {
    name: 'millrace_pipeline_duplicate_candidates_total',
    help: 'Candidates that were ignored because their id appeared earlier in the request.',
    labelNames: ['pipeline'],
  },
  roundTrips: {
    name: 'millrace_pipeline_store_round_trips_total',
    help: 'Round trips to the store.',
    labelNames: ['pipeline'],
  },
  keysRead: {
    name: 'millrace_pipeline_store_keys_read_total',
    help: 'Keys read from the store.',
    labelNames: ['pipeline'],
  },
  outsideRoundTrips: {
    name: 'millrace_pipeline_source_round_trips_total',
    help: "Round trips to Feast's Redis, for features that are not in the store.",
    labelNames: ['pipeline'],
  },
  outsideKeysRead: {
    name: 'millrace_pipeline_source_keys_read_total',
    help: "Keys read from Feast's Redis.",
    labelNames: ['pipeline'],
  },
  retrievals: {
    name: 'millrace_retrievals_total',
    help: 'Questions to retrievers by outcome: found, partial, late, failed, not_asked (`when` was not true).',
    labelNames: ['pipeline', 'retriever', 'outcome'],
  },
  retrieved: {
    name: 'millrace_retrieved_candidates_total',
    help: 'Candidates that a retriever found.',
    labelNames: ['pipeline', 'retriever'],
  },
  reads: {
    name: 'millrace_view_reads_total',
    help: 'Reads of views by readers, by outcome: read, kept (fresh rows of all keys), partial, late, failed.',
    labelNames: ['view', 'outcome'],
  },
  readRows: {
    name: 'millrace_view_rows_total',
    help: 'Rows that requests needed of views that readers read, by where they came from: asked (the reader), kept (a fresh row), stale (an older row, because the reader did not answer).',
    labelNames: ['view', 'from'],
  },
  skippedSteps: {
    name: 'millrace_pipeline_skipped_steps_total',
    help: 'Steps that failed and were skipped because of on_error: skip.',
    labelNames: ['pipeline', 'step'],
  },
  experiments: {
    name: 'millrace_experiment_requests_total',
    help:
      'Requests of experiments by arm and outcome: answered, failed. `excluded` says why a request does not count in the ' +
      'result.',
    labelNames: ['experiment', 'arm', 'excluded', 'outcome'],
  },
  teams: {
    name: 'millrace_experiment_candidates_total',
    help: 'Answered candidates of interleaved requests, by the arm that placed them; `-` if both arms did.',
    labelNames: ['experiment', 'arm'],
  },
  degraded: {
    name: 'millrace_pipeline_degraded_total',
    help: 'Degraded answers, by the causes that the header Millrace-Degraded gives.',
    labelNames: ['pipeline', 'cause'],
  },
  unscored: {
    name: 'millrace_pipeline_unscored_candidates_total',
    help: 'Candidates without a score: a step that sets the score gave them none, and no other step scored them.',
    labelNames: ['pipeline'],
  },
  unknownFields: {
    name: 'millrace_pipeline_unknown_fields_total',
    help: 'Request fields that were ignored because nothing declares them.',
    labelNames: ['pipeline'],
  },
  coerced: {
    name: 'millrace_pipeline_coerced_values_total',
    help: 'Values of requests that were converted to their declared types, with accept: lax.',
    labelNames: ['pipeline'],
  },
} as const;

/** The counters that come after those of statuses. */
const OTHERS = {
  searches: {
    name: 'millrace_front_searches_total',
    help:
      'Searches through fronts by outcome: ranked; passed (in the order of the engine, since they cannot be ranked); degraded ' +
      '(the ranking failed); failed (the engine answered an error).',
    labelNames: ['front', 'outcome'],
  },
  missingEntities: {
    name: 'millrace_missing_entities_total',
    help: 'Entities that rankings looked up, candidates or others, and that are not in the index.',
    labelNames: ['entity_type'],
  },
  onlineRoundTrips: {
    name: 'millrace_online_features_round_trips_total',
    help: "Round trips of get-online-features to the store or to Feast's Redis.",
    labelNames: [],
  },
  onlineKeysRead: {
    name: 'millrace_online_features_keys_read_total',
    help: 'Keys that get-online-features read.',
    labelNames: [],
  },
  coerced: {
    name: 'millrace_write_coerced_values_total',
    help: 'Values of uploads, updates and pushes that were converted to their declared types, with accept: lax.',
    labelNames: ['body'],
  },
  feedback: {
    name: 'millrace_feedback_events_total',
    help:
      'Feedback events by outcome: stored, duplicate, too_old, unused; uncounted: the part of these that is too old for counters; ' +
      'evicted: stored earlier and then removed to make room for newer events, so windows that cover them count too few.',
    labelNames: ['type', 'outcome'],
  },
} as const;

/** The requests of one route with one status. */
interface Requests {
  count: number;
  /** Undefined until one of them was admitted. */
  seconds: Series | undefined;
}

/** Counts and times the requests for Prometheus. Every label comes from the project, never from a client. */
export class HttpMetrics {
  readonly registry: Registry;
  readonly #seconds: SeriesHistogram<'route' | 'status'>;
  readonly #stages: SeriesHistogram<'pipeline' | 'stage'>;
  readonly #steps: SeriesHistogram<'pipeline' | 'step'>;
  readonly #retrievals: SeriesHistogram<'pipeline' | 'retriever'>;
  readonly #reads: SeriesHistogram<'view'>;
  readonly #candidates: SeriesHistogram<'pipeline'>;
  readonly #ranked: Counters<typeof RANKED>;
  readonly #others: Counters<typeof OTHERS>;

  /** Requests of keys. */
  readonly keys: KeyMetrics;
  /** By route and status. */
  readonly #requests = new Map<string, Map<number, Requests>>();
  readonly #statuses = new StatusCounts();
  readonly #attributeStatuses = new StatusCounts();

  constructor(registry = new Registry()) {
    this.registry = registry;
    const registers = [registry];
    const requests = this.#requests;
    this.keys = new KeyMetrics(registry);
    collectDefaultMetrics({ register: registry });
    // They are gauges, and Prometheus keeps the suffix for counters. Each is the sum of the gauge without it.
    for (const kind of ['resources', 'handles', 'requests'])
      registry.removeSingleMetric(`nodejs_active_${kind}_total`);
    new Counter({
      name: 'millrace_http_requests_total',
      help: 'Requests by route and status; status 499 means that the client disconnected before the answer.',
      labelNames: ['route', 'status'],
      registers,
      // Requests are counted in plain numbers first, because a refusal must be cheap.
      collect() {
        this.reset();
        for (const [route, statuses] of requests)
          for (const [status, { count }] of statuses) this.inc({ route, status }, count);
      },
    });
    this.#seconds = new SeriesHistogram({
      name: 'millrace_http_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its answer.',
      labelNames: ['route', 'status'],
      buckets: SECONDS,
      registers,
    });
    this.#stages = new SeriesHistogram({
      name: 'millrace_pipeline_stage_duration_seconds',
      help: 'Time that a request spent in a stage of the pipeline.',
      labelNames: ['pipeline', 'stage'],
      buckets: STAGE_SECONDS,
      registers,
    });
    this.#steps = new SeriesHistogram({
      name: 'millrace_pipeline_step_duration_seconds',
      help: 'Time that a request spent in a step, with the definitions that the step is the first to read.',
      labelNames: ['pipeline', 'step'],
      buckets: STAGE_SECONDS,
      registers,
    });
    this.#retrievals = new SeriesHistogram({
      name: 'millrace_retrieval_duration_seconds',
      help: 'Time until a retriever answered, failed, or was late.',
      labelNames: ['pipeline', 'retriever'],
      buckets: SECONDS,
      registers,
    });
    this.#reads = new SeriesHistogram({
      name: 'millrace_view_read_duration_seconds',
      help: 'Time until a reader answered, failed, or was late.',
      labelNames: ['view'],
      buckets: SECONDS,
      registers,
    });
    this.#candidates = new SeriesHistogram({
      name: 'millrace_pipeline_candidates',
      help: 'Number of candidates in a request.',
      labelNames: ['pipeline'],
      buckets: CANDIDATES,
      registers,
    });
    this.#ranked = countersOf(RANKED, registers);
    countValues(registers, this.#statuses, this.#attributeStatuses);
    this.#others = countersOf(OTHERS, registers);
  }

  /** Counts what became of the retrievers of a request. */
  retrieved(pipeline: string, reports: readonly RetrieverReport[]): void {
    for (const { as: retriever, outcome, found, ms } of reports) {
      this.#ranked.retrievals.inc({ pipeline, retriever, outcome });
      if (found > 0) this.#ranked.retrieved.inc({ pipeline, retriever }, found);
      if (outcome !== 'not_asked') this.#retrievals.series({ pipeline, retriever }).observe(ms / 1000);
    }
  }

  /** Counts a read of a view by its reader. */
  readView({ view, outcome, keys, asked, stale, ms }: ReadReport): void {
    this.#ranked.reads.inc({ view, outcome });
    const rows = { asked: asked - stale, kept: keys - asked, stale };
    for (const [from, count] of Object.entries(rows))
      if (count > 0) this.#ranked.readRows.inc({ view, from }, count);
    if (outcome !== 'kept') this.#reads.series({ view }).observe(ms / 1000);
  }

  answered(route: string | undefined, status: number, seconds: number): void {
    const requests = this.#count(route ?? NO_ROUTE, status);
    requests.seconds ??= this.#seconds.series({ route: route ?? NO_ROUTE, status });
    requests.seconds.observe(seconds);
  }

  /** Counts a request that was answered from its head alone. It is not in the histogram of durations. */
  refusedByHead(route: string | undefined, status: number): void {
    this.#count(route ?? NO_ROUTE, status);
  }

  /** Counts a request that was rejected before it was read. Its time is zero. */
  refused(status: number): void {
    this.#count(NO_ROUTE, status);
  }

  #count(route: string, status: number): Requests {
    let statuses = this.#requests.get(route);
    if (statuses === undefined) this.#requests.set(route, (statuses = new Map<number, Requests>()));
    let requests = statuses.get(status);
    if (requests === undefined) statuses.set(status, (requests = { count: 0, seconds: undefined }));
    requests.count++;
    return requests;
  }

  recorded(counts: FeedbackCounts): void {
    for (const { type, outcome, count } of counts) this.#others.feedback.inc({ type, outcome }, count);
  }

  /** Counts the values that were converted of a body that stores records. */
  coerced(body: WriteBody, values: number): void {
    this.#others.coerced.inc({ body }, values);
  }

  read(report: OnlineReport): void {
    this.#statuses.addAll(report.featureStatuses);
    this.#others.onlineRoundTrips.inc(report.roundTrips);
    this.#others.onlineKeysRead.inc(report.keysRead);
  }

  /** Resolves the labels of a pipeline. @returns what counts each of its requests */
  pipeline({ name, steps }: Pick<Pipeline, 'name' | 'steps'>): (report: RunReport) => void {
    const stages = STAGES.map((stage) => ({
      name: stage.name,
      seconds: this.#stages.series({ pipeline: name, stage: stage.name }),
    }));
    const stepSeconds = steps.map((step) => this.#steps.series({ pipeline: name, step }));
    const candidates = this.#candidates.series({ pipeline: name });
    let isShown = false;
    return (report) => {
      for (const { name: stage, seconds } of stages) seconds.observe(report.stageMs[stage] / 1000);
      for (const [i, seconds] of stepSeconds.entries()) {
        const ms = report.stepMs[i] ?? NaN;
        if (!Number.isNaN(ms)) seconds.observe(ms / 1000);
      }
      candidates.observe(report.candidates);
      // Most requests read nothing from the store. Their zeros are added once, so that the counters are shown.
      if (!isShown || report.roundTrips > 0) {
        this.#ranked.roundTrips.inc({ pipeline: name }, report.roundTrips);
        this.#ranked.keysRead.inc({ pipeline: name }, report.keysRead);
        isShown = true;
      }
      this.#countCauses(name, report);
    };
  }

  /** Counts a search through a front. */
  searched(front: string, outcome: string): void {
    this.#others.searches.inc({ front, outcome });
  }

  /** Counts a request that failed after its arms were chosen. */
  failed(experiments: readonly TakenArm[]): void {
    this.#taken(experiments, 'failed');
  }

  #taken(experiments: readonly TakenArm[], outcome: 'answered' | 'failed'): void {
    for (const { experiment, arm, excluded = 'no' } of experiments)
      this.#ranked.experiments.inc({ experiment, arm, excluded, outcome });
  }

  #placed({ experiment, arms, teams }: PageTeams): void {
    for (const [team, arm] of ['-', ...arms].entries()) {
      const count = teams.filter((one) => one === team).length;
      if (count > 0) this.#ranked.teams.inc({ experiment, arm }, count);
    }
  }

  #countCauses(pipeline: string, report: RunReport): void {
    const labels = { pipeline };
    this.#statuses.addAll(report.featureStatuses);
    this.#attributeStatuses.addAll(report.attributeStatuses);
    for (const [entity_type, count] of report.missingEntities)
      this.#others.missingEntities.inc({ entity_type }, count);
    if (report.duplicates > 0) this.#ranked.duplicates.inc(labels, report.duplicates);
    if (report.outside.roundTrips > 0) {
      this.#ranked.outsideRoundTrips.inc(labels, report.outside.roundTrips);
      this.#ranked.outsideKeysRead.inc(labels, report.outside.keysRead);
    }
    for (const step of report.skippedSteps) this.#ranked.skippedSteps.inc({ pipeline, step });
    this.#taken(report.experiments, 'answered');
    if (report.interleaved !== undefined) this.#placed(report.interleaved);
    if (report.degraded.length > 0)
      for (const cause of new Set(report.degraded.map((one) => one.cause)))
        this.#ranked.degraded.inc({ pipeline, cause });
    if (report.unscored > 0) this.#ranked.unscored.inc(labels, report.unscored);
    let unknown = 0;
    for (const times of report.unknownFields.values()) unknown += times;
    if (unknown > 0) this.#ranked.unknownFields.inc(labels, unknown);
    if (report.coerced !== undefined) this.#ranked.coerced.inc(labels, report.coerced.total);
  }
}

interface CounterEntry {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

type Counters<T extends Readonly<Record<string, CounterEntry>>> = {
  readonly [Name in keyof T]: Counter<T[Name]['labelNames'][number]>;
};

function countersOf<T extends Readonly<Record<string, CounterEntry>>>(
  table: T,
  registers: Registry[],
): Counters<T> {
  return Object.fromEntries(
    Object.entries(table).map(([key, { name, help, labelNames }]) => [
      key,
      new Counter({ name, help, labelNames, registers }),
    ]),
  ) as unknown as Counters<T>;
}

/**
 * Shows the counts of values by status. Requests add to plain counts, which costs almost nothing. They are copied when the
 * registry is read.
 */
function countValues(registers: Registry[], statuses: StatusCounts, attributeStatuses: StatusCounts): void {
  new Counter({
    name: 'millrace_feature_values_total',
    help:
      'Values of batch features that rankings and get-online-features read, by status; cause: why the default ' +
      'was used.',
    labelNames: ['view', 'status', 'cause'],
    registers,
    collect() {
      this.reset();
      for (const { view, status, cause = '', values } of statuses.list())
        this.inc({ view, status, cause }, values);
    },
  });
  new Counter({
    name: 'millrace_attribute_values_total',
    help: 'Values of attributes of the index that rankings read, by status; failed: the stored value does not fit the schema.',
    labelNames: ['entity_type', 'attribute', 'status'],
    registers,
    collect() {
      this.reset();
      for (const { view: label, status, values } of attributeStatuses.list()) {
        const dot = label.indexOf('.');
        this.inc({ entity_type: label.slice(0, dot), attribute: label.slice(dot + 1), status }, values);
      }
    },
  });
}
