import type { Coerced } from '../../ground/core/lax-value.js';
import type { StoreState } from '../../state/store/store-check.js';
import type { Logger } from 'pino';
import type { ApiKey } from '../access/api-key.js';
import type { Invitations } from '../access/invitations.js';
import type { PreviewLinks } from '../access/preview-links.js';
import type { Sessions } from '../access/sessions.js';
import type { ComparisonAnswer, ComparisonList, ComparisonState } from '../compare/comparison.js';
import type { Asking } from '../compare/comparisons.js';
import type { KeptTest, LoggedRanking } from '../compare/workshop-answers.js';
import type { Judging } from '../judging/judging.js';
import type { EntityType } from '../../project/config/model/entities.js';
import type { EventKind } from '../../project/config/model/events.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type { ExperimentState } from '../../request/experiments/experiment-states.js';
import type { ReleaseList, RollbackEnd, RolledBack } from '../../state/releases/release-answers.js';
import type { Drafts } from '../../state/curation/drafts.js';
import type { ValueForms } from '../../state/index/online-answer.js';
import type { OnlineReport } from '../../state/index/online-features.js';
import type { FeedbackCounts } from '../feedback/feedback.js';
import type { Settings } from '../../project/settings/settings.js';
import type { AllowedHosts } from '../../project/settings/allowed-hosts.js';
import type { Pipeline } from '../../request/pipeline/types.js';
import type { Deadline } from '../../ground/core/deadline.js';
import type { Usage } from '../../ground/core/usage.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import type { Tracing } from '../../project/tracing/tracing.js';
import type { CompiledFront } from '../fronts/open-front.js';
import type { Admission } from './admission/admission.js';
import type { Edge } from './edge/edge.js';
import type { BodyMemory } from './bodies/body-memory.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import type { Instance } from './instance.js';
import type { InstanceList } from '../metrics/live-meter.js';

/** The services that the HTTP app calls. Bodies are parsed JSON; the services validate them. */
export interface HttpServices {
  readonly entities: EntityService;
  readonly features: FeatureService;
  readonly feastWrites: FeastWriteService;
  readonly scans: ScanService;
  readonly online: OnlineFeatureService;
  readonly feedback: FeedbackService;
  readonly forget: ForgetService;
  readonly counters: CounterRebuildService;
  readonly curation: CuratedRules;
  readonly drafts: DraftService;
  /** Lists and stops experiments; undefined if the process serves none. */
  readonly experiments?: ExperimentService;
  /** Undefined in a process that ranks: it compares nothing. */
  readonly comparisons?: ComparisonService | undefined;
  readonly judging: JudgingService;
  /** Undefined in a process that ranks. */
  readonly workshop?: WorkshopService | undefined;
  /** All instances; undefined if they are not known. */
  readonly live?: { list(): Promise<InstanceList> } | undefined;
  readonly pipelines: readonly Pipeline[];
  readonly fronts?: readonly CompiledFront[];
  readonly store: {
    ping(): Promise<void>;
    /** Conditions that do not stop the store but should be fixed. */
    warnings?(): readonly { readonly code: string; readonly detail: string }[];
  };
  /** The services of packages: the state of each that declares its health. */
  readonly shared?: { health(): Promise<Readonly<Record<string, StoreState>>> };
  /** The keys that requests need; undefined if they need none. */
  readonly keys?: KeyService | undefined;
  readonly sessions: SessionService;
  readonly invitations: InvitationService;
  readonly previewLinks: PreviewLinkService;
  /** For the API reference. */
  readonly entityTypes: ReadonlyMap<string, EntityType>;
  /** For the API reference. */
  readonly views: ReadonlyMap<string, FeatureView>;
  /** The names of the lists of curation/. */
  readonly curationLists: readonly string[];
  /** The names of the counters. */
  readonly counterNames: readonly string[];
  /** The names of the experiments. */
  readonly experimentNames: readonly string[];
  /** The kinds of feedback. */
  readonly eventKinds: ReadonlyMap<string, EventKind>;
  readonly logger: Logger;
  /** Where audit lines go; undefined if there are none. */
  readonly auditLog?: Logger | undefined;
  /** The version of Millrace, for the API reference. */
  readonly version: string;
  readonly limits?: Partial<BodyLimits>;
  readonly times?: Partial<TimeLimits>;
  /** The memory for the bodies of all requests; by default a new one. */
  readonly bodyMemory?: BodyMemory;
  /** The admission of the process; by default a new one. */
  readonly admission?: Admission;
  /** Refuses requests by host, origin and rate; by default none. */
  readonly edge?: Edge;
  /** Counts the admitted requests in flight. */
  readonly usage?: Usage;
  /** Undefined if requests are not traced. */
  readonly tracing?: Tracing | undefined;
  /** The metrics of the process; by default new ones. */
  readonly metrics?: HttpMetrics;
  /** The process, for /readyz, /metrics and /workbench; by default one that never shuts down. */
  readonly instance?: Instance;
  /** Version of the project's files, for /readyz and /workbench. */
  readonly projectVersion?: string;
  /** The version of the release that serves instead of the files, for /readyz. */
  readonly release?: string | undefined;
  readonly watched?: RankingWatch | undefined;
  /** The last projects that were served; undefined if the process keeps none. */
  readonly releases?: ReleaseService | undefined;
  /** The name of the project, for /workbench. */
  readonly projectName?: string;
  /** The hosts whose images /workbench shows; by default none. */
  readonly imageHosts?: AllowedHosts;
  /** See the setting; by default `on`. */
  readonly workbench?: Settings['workbench'];
  /** Whether the service applies changes of the project's files, for /workbench. */
  readonly watches?: boolean;
}

/** Somebody who looks at rankings that were answered. */
export interface RankingWatch {
  /**
   * Called with the pipeline of each ranking that is about to be answered. It may return a function, which takes the ranking
   * when its answer is sent. Undefined while nobody looks: then it costs nothing.
   */
  choose: ((pipeline: string) => ((answered: AnsweredRanking) => void) | undefined) | undefined;
}

/** The sessions of people in a browser. */
export type SessionService = Pick<Sessions, 'open' | 'end' | 'describe' | 'mustLoad' | 'load' | 'access'>;

/** The invitations that are made over HTTP. */
export type InvitationService = Pick<Invitations, 'list' | 'create' | 'revoke'>;

/** The links to previews. */
export type PreviewLinkService = Pick<PreviewLinks, 'share' | 'links' | 'revoke' | 'open'>;

/** The keys in service. They may change while the app runs. */
export interface KeyService {
  /** Returns the key with this text, also if it is expired or revoked. */
  find(text: string): ApiKey | undefined;
  byId(id: string): ApiKey | undefined;
  /** Conditions that do not stop the service but should be fixed. */
  warnings(): readonly { readonly code: string; readonly detail: string }[];
}

/**
 * Each method returns the response body or throws MillraceError. `span` is the parent of the spans of its work, and `coerced`
 * counts the values that it converts.
 */
export interface EntityService {
  upload(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<unknown>;
  update(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<unknown>;
  get(body: unknown, span?: TraceSpan): Promise<unknown>;
  remove(body: unknown, span?: TraceSpan): Promise<unknown>;
}

export interface FeatureService {
  push(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<unknown>;
  remove(body: unknown, span?: TraceSpan): Promise<unknown>;
}

/** Writes in the forms of Feast's feature server. */
export interface FeastWriteService {
  write(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<unknown>;
  push(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<unknown>;
}

/** Each method returns one page of the store's content. */
export interface ScanService {
  entities(body: unknown, span?: TraceSpan): Promise<unknown>;
  features(body: unknown, span?: TraceSpan): Promise<unknown>;
}

export interface OnlineFeatureService {
  /**
   * @param parent the deadline of the request
   * @param forms how values are written
   */
  read(
    body: unknown,
    parent?: Deadline,
    span?: TraceSpan,
    forms?: ValueForms,
  ): Promise<{ readonly answer: unknown; readonly report: OnlineReport }>;
}

export interface FeedbackService {
  record(
    body: unknown,
    span?: TraceSpan,
  ): Promise<{ readonly answer: unknown; readonly counts: FeedbackCounts }>;
}

export interface ForgetService {
  run(body: unknown): Promise<unknown>;
}

export interface CounterRebuildService {
  rebuild(body: unknown): Promise<unknown>;
}

/** Comparisons of pipelines, as jobs of the process. */
export interface ComparisonService {
  list(who: Asking): Promise<ComparisonList>;
  start(body: unknown, who: Asking): Promise<ComparisonState>;
  get(body: unknown, who: Asking): ComparisonAnswer;
  stop(body: unknown, who: Asking): ComparisonState;
}

/** Rounds of judging. */
export type JudgingService = Pick<
  Judging,
  'list' | 'start' | 'query' | 'grade' | 'add' | 'export' | 'remove'
>;

/** What the process of the workbench does with one ranking. */
export interface WorkshopService {
  /** Whether this process finds a ledger. */
  hasLedger(): boolean;
  logged(body: unknown, who: Asking): Promise<LoggedRanking>;
  keep(body: unknown, who: Asking): Promise<KeptTest>;
}

/** Drafts of changes to lists. @param author the name of the key or of the person */
export type DraftService = Pick<
  Drafts,
  'put' | 'get' | 'discard' | 'upload' | 'export' | 'publish' | 'history' | 'undo' | 'preview' | 'zone'
>;

/** The rules that lists have over the API. */
export interface CuratedRules {
  put(body: unknown): Promise<unknown>;
  get(body: unknown): Promise<unknown>;
}

/** The maximum sizes of bodies, in bytes after inflating. */
export interface BodyLimits {
  /** For a pipeline's route. */
  readonly rankingBytes: number;
  /** For uploads of entities, pushes of features, and rules of curation. */
  readonly uploadBytes: number;
  /** For every other route. */
  readonly otherBytes: number;
}

/** Time limits for routes other than those of pipelines, in milliseconds. */
export interface TimeLimits {
  readonly onlineMs: number;
  /** For every other route. */
  readonly requestMs: number;
}

export const DEFAULT_TIMES: TimeLimits = { onlineMs: 1000, requestMs: 15_000 };

export const DEFAULT_LIMITS: BodyLimits = {
  rankingBytes: 2 * 1024 * 1024,
  uploadBytes: 12 * 1024 * 1024,
  otherBytes: 1024 * 1024,
};

/** A ranking that was answered. */
export interface AnsweredRanking {
  /** As it was parsed. */
  readonly body: object;
  readonly requestId: string;
}

/** See `ServedReleases`. */
export interface ReleaseService {
  list(): Promise<ReleaseList>;
  rollBack(body: unknown): Promise<RolledBack>;
  end(body: unknown): Promise<RollbackEnd>;
}

export interface ExperimentService {
  list(): { readonly experiments: readonly ExperimentState[] };
  stop(body: unknown): Promise<ExperimentState>;
  resume(body: unknown): Promise<ExperimentState>;
}
