import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import { KeyMetrics } from './key-metrics.js';
import type { OnlineReport } from '../../state/index/online-features.js';
import { StatusCounts } from '../../state/index/status-counts.js';
import type { FeedbackCounts } from '../feedback/feedback.js';
import { STAGES } from '../../request/pipeline/stages.js';
import type { TakenArm } from '../../request/experiments/live-experiments.js';
import type { PageTeams } from '../../request/pipeline/interleave/mixed-run.js';
import type { Pipeline, RunReport } from '../../request/pipeline/types.js';
import { SeriesHistogram } from './series-histogram.js';

/**
 * Route label of requests that match no route. The client chooses the path, so a label per path would have no bound.
 */
const NO_ROUTE = 'none';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const STAGE_SECONDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];
const CANDIDATES = [1, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000];

/** Counts and times the requests for Prometheus. Every label comes from the project, never from a client. */
export class HttpMetrics {
  readonly registry: Registry;
  readonly #requests: Counter<'route' | 'status'>;
  readonly #seconds: Histogram<'route' | 'status'>;
  readonly #stages: SeriesHistogram<'pipeline' | 'stage'>;
  readonly #steps: SeriesHistogram<'pipeline' | 'step'>;
  readonly #candidates: SeriesHistogram<'pipeline'>;
  readonly #duplicates: Counter<'pipeline'>;
  readonly #roundTrips: Counter<'pipeline'>;
  readonly #keysRead: Counter<'pipeline'>;
  readonly #outsideRoundTrips: Counter<'pipeline'>;
  readonly #outsideKeysRead: Counter<'pipeline'>;
  readonly #skippedSteps: Counter<'pipeline' | 'step'>;
  readonly #degraded: Counter<'pipeline' | 'cause'>;
  readonly #experiments: Counter<'experiment' | 'arm' | 'excluded' | 'outcome'>;
  readonly #teams: Counter<'experiment' | 'arm'>;
  readonly #unscored: Counter<'pipeline'>;
  readonly #unknownFields: Counter<'pipeline'>;

  /** Requests of keys. */
  readonly keys: KeyMetrics;
  readonly #refusedByHead = new Map<string, Map<number, number>>();
  readonly #statuses = new StatusCounts();
  readonly #attributeStatuses = new StatusCounts();
  readonly #missingEntities: Counter<'entity_type'>;
  readonly #onlineRoundTrips: Counter;
  readonly #onlineKeysRead: Counter;
  readonly #feedback: Counter<'type' | 'outcome'>;

  constructor(registry = new Registry()) {
    this.registry = registry;
    const registers = [registry];
    const refusedByHead = this.#refusedByHead;
    this.keys = new KeyMetrics(registry);
    collectDefaultMetrics({ register: registry });
    this.#requests = new Counter({
      name: 'millrace_http_requests_total',
      help: 'Requests by route and status; status 499 means that the client disconnected before the answer.',
      labelNames: ['route', 'status'],
      registers,
      // These refusals are counted in a plain map first, because a refusal must be cheap.
      collect() {
        for (const [route, statuses] of refusedByHead)
          for (const [status, refused] of statuses) this.inc({ route, status }, refused);
        refusedByHead.clear();
      },
    });
    this.#seconds = new Histogram({
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
    this.#candidates = new SeriesHistogram({
      name: 'millrace_pipeline_candidates',
      help: 'Number of candidates in a request.',
      labelNames: ['pipeline'],
      buckets: CANDIDATES,
      registers,
    });
    this.#duplicates = new Counter({
      name: 'millrace_pipeline_duplicate_candidates_total',
      help: 'Candidates that were ignored because their id appeared earlier in the request.',
      labelNames: ['pipeline'],
      registers,
    });
    this.#roundTrips = new Counter({
      name: 'millrace_pipeline_store_round_trips_total',
      help: 'Round trips to the store.',
      labelNames: ['pipeline'],
      registers,
    });
    this.#keysRead = new Counter({
      name: 'millrace_pipeline_store_keys_read_total',
      help: 'Keys read from the store.',
      labelNames: ['pipeline'],
      registers,
    });
    this.#outsideRoundTrips = new Counter({
      name: 'millrace_pipeline_source_round_trips_total',
      help: "Round trips to Feast's Redis, for features that are not in the store.",
      labelNames: ['pipeline'],
      registers,
    });
    this.#outsideKeysRead = new Counter({
      name: 'millrace_pipeline_source_keys_read_total',
      help: "Keys read from Feast's Redis.",
      labelNames: ['pipeline'],
      registers,
    });
    this.#skippedSteps = new Counter({
      name: 'millrace_pipeline_skipped_steps_total',
      help: 'Steps that failed and were skipped because of on_error: skip.',
      labelNames: ['pipeline', 'step'],
      registers,
    });
    this.#experiments = new Counter({
      name: 'millrace_experiment_requests_total',
      help:
        'Requests of experiments by arm and outcome: answered, failed. `excluded` says why a request does not count in the ' +
        'result.',
      labelNames: ['experiment', 'arm', 'excluded', 'outcome'],
      registers,
    });
    this.#teams = new Counter({
      name: 'millrace_experiment_candidates_total',
      help: 'Answered candidates of interleaved requests, by the arm that placed them; `-` if both arms did.',
      labelNames: ['experiment', 'arm'],
      registers,
    });
    this.#degraded = new Counter({
      name: 'millrace_pipeline_degraded_total',
      help: 'Degraded answers, by the causes that the header Millrace-Degraded gives.',
      labelNames: ['pipeline', 'cause'],
      registers,
    });
    this.#unscored = new Counter({
      name: 'millrace_pipeline_unscored_candidates_total',
      help: 'Candidates without a score: a step that sets the score gave them none, and no other step scored them.',
      labelNames: ['pipeline'],
      registers,
    });
    this.#unknownFields = new Counter({
      name: 'millrace_pipeline_unknown_fields_total',
      help: 'Request fields that were ignored because nothing declares them.',
      labelNames: ['pipeline'],
      registers,
    });
    const statuses = this.#statuses;
    new Counter({
      name: 'millrace_feature_values_total',
      help:
        'Values of batch features that rankings and get-online-features read, by status; cause: why the default ' +
        'was used.',
      labelNames: ['view', 'status', 'cause'],
      registers,
      // Requests add to plain counters, which costs almost nothing. They are copied here when the registry is read.
      collect() {
        this.reset();
        for (const { view, status, cause = '', values } of statuses.list())
          this.inc({ view, status, cause }, values);
      },
    });
    const attributeStatuses = this.#attributeStatuses;
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
    this.#missingEntities = new Counter({
      name: 'millrace_missing_entities_total',
      help: 'Entities that rankings looked up, candidates or others, and that are not in the index.',
      labelNames: ['entity_type'],
      registers,
    });
    this.#onlineRoundTrips = new Counter({
      name: 'millrace_online_features_round_trips_total',
      help: "Round trips of get-online-features to the store or to Feast's Redis.",
      registers,
    });
    this.#onlineKeysRead = new Counter({
      name: 'millrace_online_features_keys_read_total',
      help: 'Keys that get-online-features read.',
      registers,
    });
    this.#feedback = new Counter({
      name: 'millrace_feedback_events_total',
      help:
        'Feedback events by outcome: stored, duplicate, too_old, unused; evicted: stored earlier and then removed to make room ' +
        'for newer events, so windows that cover them count too few.',
      labelNames: ['type', 'outcome'],
      registers,
    });
  }

  answered(route: string | undefined, status: number, seconds: number): void {
    const labels = { route: route ?? NO_ROUTE, status };
    this.#requests.inc(labels);
    this.#seconds.observe(labels, seconds);
  }

  /** Counts a request that was answered from its head alone. It is not in the histogram of durations. */
  refusedByHead(route: string | undefined, status: number): void {
    const key = route ?? NO_ROUTE;
    let statuses = this.#refusedByHead.get(key);
    if (statuses === undefined) this.#refusedByHead.set(key, (statuses = new Map<number, number>()));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  /** Counts a request that was rejected before it was read. Its time is zero. */
  refused(status: number): void {
    this.#requests.inc({ route: NO_ROUTE, status });
  }

  recorded(counts: FeedbackCounts): void {
    for (const { type, outcome, count } of counts) this.#feedback.inc({ type, outcome }, count);
  }

  read(report: OnlineReport): void {
    this.#statuses.addAll(report.featureStatuses);
    this.#onlineRoundTrips.inc(report.roundTrips);
    this.#onlineKeysRead.inc(report.keysRead);
  }

  /** Resolves the labels of a pipeline. @returns what counts each of its requests */
  pipeline({ name, steps }: Pick<Pipeline, 'name' | 'steps'>): (report: RunReport) => void {
    const stages = STAGES.map((stage) => ({
      name: stage.name,
      seconds: this.#stages.series({ pipeline: name, stage: stage.name }),
    }));
    const stepSeconds = steps.map((step) => this.#steps.series({ pipeline: name, step }));
    const candidates = this.#candidates.series({ pipeline: name });
    return (report) => {
      for (const { name: stage, seconds } of stages) seconds.observe(report.stageMs[stage] / 1000);
      for (const [i, seconds] of stepSeconds.entries()) {
        const ms = report.stepMs[i] ?? NaN;
        if (!Number.isNaN(ms)) seconds.observe(ms / 1000);
      }
      candidates.observe(report.candidates);
      this.#ranked(name, report);
    };
  }

  /** Counts a request that failed after its arms were chosen. */
  failed(experiments: readonly TakenArm[]): void {
    this.#taken(experiments, 'failed');
  }

  #taken(experiments: readonly TakenArm[], outcome: 'answered' | 'failed'): void {
    for (const { experiment, arm, excluded = 'no' } of experiments)
      this.#experiments.inc({ experiment, arm, excluded, outcome });
  }

  #placed({ experiment, arms, teams }: PageTeams): void {
    for (const [team, arm] of ['-', ...arms].entries()) {
      const count = teams.filter((one) => one === team).length;
      if (count > 0) this.#teams.inc({ experiment, arm }, count);
    }
  }

  #ranked(pipeline: string, report: RunReport): void {
    const labels = { pipeline };
    this.#statuses.addAll(report.featureStatuses);
    this.#attributeStatuses.addAll(report.attributeStatuses);
    for (const [entity_type, count] of report.missingEntities)
      this.#missingEntities.inc({ entity_type }, count);
    if (report.duplicates > 0) this.#duplicates.inc(labels, report.duplicates);
    this.#roundTrips.inc(labels, report.roundTrips);
    this.#keysRead.inc(labels, report.keysRead);
    if (report.outside.roundTrips > 0) {
      this.#outsideRoundTrips.inc(labels, report.outside.roundTrips);
      this.#outsideKeysRead.inc(labels, report.outside.keysRead);
    }
    for (const step of report.skippedSteps) this.#skippedSteps.inc({ pipeline, step });
    this.#taken(report.experiments, 'answered');
    if (report.interleaved !== undefined) this.#placed(report.interleaved);
    for (const cause of new Set(report.degraded.map((one) => one.cause)))
      this.#degraded.inc({ pipeline, cause });
    if (report.unscored > 0) this.#unscored.inc(labels, report.unscored);
    let unknown = 0;
    for (const times of report.unknownFields.values()) unknown += times;
    if (unknown > 0) this.#unknownFields.inc(labels, unknown);
  }
}
