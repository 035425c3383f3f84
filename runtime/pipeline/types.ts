import type { StatusCounts } from '../index/status-counts.js';
import type { Degradation } from './page/degraded.js';
import type { PipelineAnswer } from './answer-types.js';
import type { Explanation } from './explain/explanation.js';
import type { StageTimes } from './stages.js';

/** What the caller of a pipeline knows beside the body. */
export interface RequestContext {
  /** Made up by the server when the body brings none. */
  readonly requestId: string;
  /** Aborted when the client is gone; the pipeline adds its own deadline. */
  readonly signal?: AbortSignal;
  /** Marks the events of this run, made up when absent: a request's id may come with several pages and tries. */
  readonly runId?: string;
}

/** A request's passage through the stages, told to metrics and explain. */
export interface RunReport {
  readonly stageMs: StageTimes;
  /** Store round trips. */
  readonly roundTrips: number;
  /** Keys read from the store. */
  readonly keysRead: number;
  /** The same of features that are kept outside the store, in Feast's Redis. */
  readonly outside: { readonly roundTrips: number; readonly keysRead: number };
  /** Candidates ranked. */
  readonly candidates: number;
  /** Candidates that were left out, since their id came before. */
  readonly duplicates: number;
  /** Steps that failed and were skipped by `on_error: skip`. */
  readonly skippedSteps: readonly string[];
  /** What makes the answer worse than the pipeline promises. */
  readonly degraded: readonly Degradation[];
  /** Candidates that a step which sets the score left without one, and no other step scored. */
  readonly unscored: number;
  /** Fields of the body that nothing declares, with how often each came. */
  readonly unknownFields: ReadonlyMap<string, number>;
  /** Of the batch features read. */
  readonly featureStatuses: StatusCounts;
  /** Of the attributes read from the index, with what the request carried of them; by `type.attribute`. */
  readonly attributeStatuses: StatusCounts;
  /** By entity type: ids that were looked up and are not in the index. */
  readonly missingEntities: ReadonlyMap<string, number>;
}

/** A compiled, mounted pipeline, as the HTTP app and the CLI see it. */
export interface Pipeline {
  readonly name: string;
  readonly route: string;
  readonly task: 'rank' | 'score';
  /**
   * Runs a request from its parsed body to its answer.
   * @throws MillraceError invalid_body, deadline_exceeded, component_failed, a code of STORE_READ_FAILURES
   */
  run(
    body: unknown,
    context: RequestContext,
  ): Promise<{ readonly answer: PipelineAnswer; readonly report: RunReport }>;
  /** Runs a request, without its effects, to tell why it is answered as it is. @throws as `run` */
  explain(body: unknown, context: RequestContext): Promise<Explanation>;
  /** JSON Schema (2020-12) of the request body, with descriptions; for OpenAPI. */
  readonly requestSchema: Readonly<Record<string, unknown>>;
  /** JSON Schema of the answer. */
  readonly answerSchema: Readonly<Record<string, unknown>>;
  /** The compiled plan as data: reads, columns, components; `millrace plan` prints it. */
  describe(): PlanDescription;
}

export interface PlanDescription {
  readonly pipeline: string;
  readonly route: string;
  /** The entity type that is ranked … */
  readonly rank?: string;
  /** … or, in its place, scored. */
  readonly score?: string;
  /** One entry for each round trip, in order. */
  readonly reads: readonly {
    readonly level: number;
    readonly of: string;
    readonly what: string;
    readonly wants: readonly string[];
  }[];
  readonly columns: readonly {
    readonly slot: number;
    readonly name: string;
    readonly kind: string;
    readonly scope: string;
  }[];
  readonly components: readonly {
    readonly step: number;
    readonly use: string;
    readonly kind: string;
    readonly as: string;
    readonly reads: readonly string[];
    readonly produces: readonly string[];
    /** Of a model's file: the first 12 hex digits of its content's SHA-256. */
    readonly version?: string;
    readonly when?: string;
    readonly top?: number;
  }[];
  /** Of a pipeline that scores: what is answered beside the score, name → expression. */
  readonly answer?: Readonly<Record<string, string>>;
}
