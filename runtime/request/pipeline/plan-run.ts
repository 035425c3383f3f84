import type { StoreFailure } from '../../ground/api/error-codes.js';
import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { LaxBody } from '../../ground/core/lax-value.js';
import type { Plan } from '../compile/plan.js';
import type { Frame } from '../../language/frame/frame.js';
import type { Choice, TakenArm } from '../experiments/live-experiments.js';
import type { RankedCandidates, StepReport } from './components/run-components.js';
import type { Trace } from './components/trace.js';
import type { ReadStatuses } from './features/fetch-features.js';
import type { BatchRead } from './hydrate/batch-read.js';
import type { MixedRun } from './interleave/mixed-run.js';
import type { InterleavedCandidates } from './interleave/run-interleaved.js';
import type { PipelineAnswer } from './answer-types.js';
import type { RankedRow } from '../ordering/ranking.js';
import type { PipelineServices } from './pipeline-services.js';
import type { BroughtCandidates, Retrieved } from './request/retrieval-report.js';
import type { IndexedCandidates } from './request/index-candidates.js';
import type { RankingRequest } from './request/read-request.js';
import type { StageRunner } from './stage-runner.js';
import type { RequestContext, RunReport } from './types.js';

/** What a client asks a pipeline. */
export interface Asked {
  /** Converted, once it is read, if the project accepts lax bodies. */
  body: unknown;
  /** Converts the body, and counts what it converted; undefined if the project accepts strict bodies alone. */
  lax?: LaxBody;
  readonly context: RequestContext;
  readonly isExplained: boolean;
}

/** Whether a request leaves no record and has no effects: it is only explained, or a preview. */
export function leavesNothing({ isExplained, context }: Asked): boolean {
  return isExplained || context.leavesNothing === true;
}

/** A checked request, and a frame with its ids. */
export interface OpenedRequest {
  readonly request: RankingRequest;
  readonly frame: Frame;
  /** Set if the candidates come from the index. */
  readonly indexed?: IndexedCandidates;
  /** The candidates that pins brought. */
  readonly brought?: BroughtCandidates;
  /** Set if retrievers found the candidates. */
  readonly retrieved?: Retrieved;
  /** The body with the candidates that were found. */
  readonly body?: JsonObject;
}

/** The answer, and the rows of its page. */
export interface AnsweredPage {
  readonly page: readonly RankedRow[];
  readonly answer: PipelineAnswer;
}

/** What the stages made of a request. Its report, its explanation and its record are made of it. */
export interface FinishedStages extends AnsweredPage {
  readonly ranked: RankedCandidates & Partial<Pick<InterleavedCandidates, 'release'>>;
  /** The reports of the steps, after effects saw the page. Those of effects that still run say so. */
  readonly steps: readonly StepReport[];
  readonly statuses: ReadStatuses;
  /** Undefined unless the request was to be interleaved. */
  readonly mixed: MixedRun | undefined;
  /** Undefined unless the request has events or is explained. */
  readonly trace: Trace | undefined;
  readonly batch: BatchRead;
  /** Why the candidates are unranked; undefined if they are ranked. */
  readonly lossCode: StoreFailure | undefined;
}

const NONE: readonly TakenArm[] = [];

/** One plan on its way through a request: what its stages use, and what is known when it ends. */
export class PlanRun {
  /** Undefined until the body is read. */
  opened: OpenedRequest | undefined;
  /** The experiments that the request takes part in. A request that fails is counted with its arms. */
  taken: readonly TakenArm[];
  /** Undefined unless the request was answered. */
  finished: { readonly done: FinishedStages; readonly report: RunReport } | undefined;
  /** `ok`, or the code of the error. */
  status = 'ok';

  /** @param choice what the experiments chose; undefined if the request takes part in none */
  constructor(
    readonly plan: Plan,
    readonly services: PipelineServices,
    readonly asked: Asked,
    readonly stages: StageRunner,
    readonly choice?: Choice,
  ) {
    this.taken = choice?.taken ?? NONE;
  }

  /** Call it when the request has failed. Its frame is dropped: work that still runs may write to it. */
  fail(error: unknown): void {
    this.status = error instanceof MillraceError ? error.code : 'internal';
    this.stages.fail(error);
    if (this.taken.length > 0) this.asked.context.failed?.(this.taken);
  }
}
