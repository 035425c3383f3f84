import { randomUUID } from 'node:crypto';
import { inTurns } from '../core/pieces.js';
import type { Plan } from '../compile/plan.js';
import type { StatusCounts } from '../index/status-counts.js';
import type { Frame } from '../frame/frame.js';
import type { ResidentTables } from '../resident/resident-tables.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { Store } from '../store/store.js';
import { answerOf } from './page/answer.js';
import { BatchRead } from './hydrate/batch-read.js';
import { Deadline } from '../core/deadline.js';
import { degradationsOf, unscoredOf } from './page/degraded.js';
import { eventsOf } from './page/events.js';
import { explain } from './explain/explain.js';
import type { Explanation } from './explain/explanation.js';
import { countStatuses, fetchFeatures } from './features/fetch-features.js';
import { fillRequest } from './request/fill-request.js';
import { hydrate } from './hydrate/hydrate.js';
import { cutPage } from './page/page.js';
import { Ranking } from './components/ranking.js';
import { readRequest } from './request/read-request.js';
import { ResidentSession } from './hydrate/resident-session.js';
import { runComponents, type EffectErrorHandler, type StepReport } from './components/run-components.js';
import type { SourceReaders } from './hydrate/source-cells.js';
import { StageClock, type StageName } from './stages.js';
import { Trace } from './components/trace.js';
import type { RequestContext, RunReport } from './types.js';
import type { PipelineAnswer } from './answer-types.js';
import type { Usage } from '../core/usage.js';

export interface PipelineServices {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Undefined where nothing is kept in process. */
  readonly resident?: ResidentTables;
  /** Of features that are kept outside the store: those of the plan (readersOf). */
  readonly readers?: SourceReaders;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onEffectError?: EffectErrorHandler;
  /** Counts requests, and what they leave running. */
  readonly usage?: Usage;
}

export interface PipelineRun {
  readonly answer: PipelineAnswer;
  readonly report: RunReport;
  /** Only where it was asked for. */
  readonly explanation?: Explanation;
}

/** The whole of a request: hydrate → fetch features → components → page. */
export async function runPipeline(
  plan: Plan,
  services: PipelineServices,
  body: unknown,
  context: RequestContext,
  isExplained = false,
): Promise<PipelineRun> {
  const clock = new StageClock();
  const request = readRequest(plan, body, context.requestId);
  const deadline = new Deadline(plan.definition.limits.time, context.signal, services.usage, clock.started);
  const endStage = (stage: StageName): void => {
    clock.done(stage);
    deadline.check();
  };
  const resident = services.resident && new ResidentSession(services.resident);
  try {
    const frame = plan.frames.acquire(request.ids.length, services.now());
    fillRequest(plan, frame, request);
    endStage('read');

    const batch = new BatchRead(services.store, deadline);
    const { layouts, readers, onEffectError = () => undefined } = services;
    const records = await hydrate(plan, frame, request, { batch, layouts, resident, readers });
    endStage('hydrate');

    fetchFeatures(frame, records);
    resident?.end();
    const statuses = countStatuses(plan, frame);
    endStage('features');

    const ranking = new Ranking(frame, plan.candidateType.name, request.ids);
    // Scores of a ranking start at 0; that of one entity is absent until a step sets it.
    if (plan.definition.task === 'score') ranking.scores.fill(NaN);
    const trace = request.includeEvents || isExplained ? new Trace(isExplained) : undefined;
    const runId = trace === undefined ? '' : (context.runId ?? randomUUID());
    const steps = await runComponents(plan, frame, ranking, deadline, onEffectError, trace);
    endStage('components');

    const page = cutPage(ranking, request.paging);
    const check = (): void => deadline.check();
    const answer: PipelineAnswer = {
      ...answerOf(plan, frame, request, page),
      ...(trace !== undefined && request.includeEvents
        ? { events: await inTurns(eventsOf(plan, frame, ranking, request, page, trace, runId), check) }
        : {}),
    };
    endStage('page');

    // Only a frame that no step can still be writing to goes back: after an error, a skipped one too, it is dropped.
    const report = reportOf(request, batch, steps, statuses, ranking, clock);
    const explanation =
      trace !== undefined && isExplained
        ? await inTurns(
            explain({ plan, request, runId, frame, ranking, page, steps, trace, statuses, report, answer }),
            check,
          )
        : undefined;
    if (report.skippedSteps.length === 0) releaseWhenRead(plan, frame, steps);
    return explanation === undefined ? { answer, report } : { answer, report, explanation };
  } finally {
    resident?.end();
    deadline.end();
  }
}

/** An effect may read the frame after the answer is given. */
function releaseWhenRead(plan: Plan, frame: Frame, steps: readonly StepReport[]): void {
  const pending = steps.flatMap(({ pending: effect }) => effect ?? []);
  if (pending.length === 0) plan.frames.release(frame);
  else void Promise.all(pending).then(() => plan.frames.release(frame));
}

function reportOf(
  request: ReturnType<typeof readRequest>,
  batch: BatchRead,
  steps: readonly StepReport[],
  featureStatuses: StatusCounts,
  ranking: Ranking,
  clock: StageClock,
): RunReport {
  const unscored = unscoredOf(steps, ranking);
  return {
    stageMs: clock.ms,
    roundTrips: batch.roundTrips,
    keysRead: batch.keysRead,
    outside: batch.outside,
    candidates: request.ids.length,
    duplicates: request.duplicates.length,
    skippedSteps: steps.filter(({ outcome }) => outcome === 'failed').map(({ step }) => step.as),
    degraded: degradationsOf(steps, featureStatuses, unscored, ranking.rows.length),
    unscored,
    unknownFields: request.unknownFields,
    featureStatuses,
  };
}
