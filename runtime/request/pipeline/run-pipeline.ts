import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../ground/api/types.js';
import type { Plan } from '../compile/plan.js';
import { saltedDraws } from './components/draws.js';
import { runComponents, type RankedCandidates } from './components/run-components.js';
import { runServed } from './components/run-served.js';
import { Trace } from './components/trace.js';
import { unranked } from './components/unranked.js';
import { explainRun } from './explain/explain-run.js';
import { fetchFeatures, unreadFeatures } from './features/fetch-features.js';
import { hydrate } from './hydrate/hydrate.js';
import { readsOf } from './hydrate/read-services.js';
import { StoreLoss } from './hydrate/store-loss.js';
import { refuseArms } from '../experiments/live-experiments.js';
import { chooseArm } from './interleave/choose-arm.js';
import { mixedRun } from './interleave/mixed-run.js';
import { runInterleaved, type InterleavedCandidates, type SecondArm } from './interleave/run-interleaved.js';
import { secondArm } from './interleave/second-arm.js';
import { leaveRecord } from './log/leave-record.js';
import { answerPage } from './page/answer-page.js';
import type { PipelineRun, PipelineServices } from './pipeline-services.js';
import { PlanRun, type Asked, type OpenedRequest } from './plan-run.js';
import { openBody, readBody } from './request/open-request.js';
import { pageStart } from './request/read-request.js';
import { reportOf } from './run-report.js';
import { StageRunner } from './stage-runner.js';
import type { RequestContext } from './types.js';

/**
 * Answers one request: reads its body under the called plan, chooses its arm, and runs the plan of the arm. If the arm is
 * another pipeline, the body is read under its plan, too.
 * @throws MillraceError invalid_body, deadline_exceeded, component_failed, a code of STORE_READ_FAILURES
 */
export async function answer(
  called: Plan,
  services: PipelineServices,
  body: unknown,
  context: RequestContext,
  isExplained = false,
): Promise<PipelineRun> {
  const asked = { body, context, isExplained };
  const stages = new StageRunner(called.definition.limits.time, context, services.usage);
  const first = new PlanRun(called, services, asked, stages);
  let run = first;
  try {
    first.opened = await readBody(first, keepThose);
    if (services.experiments !== undefined) run = chooseArm(first, first.opened, services.experiments);
    else if (context.arms !== undefined) refuseArms(context.arms);
    run.opened ??= await readBody(run, keepThose);
    return await runPlan(run, run.opened);
  } catch (error) {
    run.fail(error);
    throw error;
  } finally {
    leaveRecord(run);
    run.stages.close();
    stages.close();
  }
}

/** Runs one plan on a request that is read: hydrate → features → components → page, and what the request leaves. */
async function runPlan(run: PlanRun, opened: OpenedRequest): Promise<PipelineRun> {
  const { plan, services, stages, asked } = run;
  const { request, frame } = opened;
  const loss = new StoreLoss(plan, stages.deadline);
  const reads = readsOf(services, stages, loss.time, asked.context.span);
  try {
    const rival = run.choice?.rival && secondArm(run, run.choice.rival, opened, reads);
    const trace = request.includeEvents || asked.isExplained ? traceOf(asked) : undefined;
    stages.enter('hydrate');
    const pending = await loss.survive(hydrate(plan, frame, request, reads));
    stages.enter('features');
    const read = pending && (await loss.survive(fetchFeatures(plan, frame, pending, reads)));
    const statuses = read ?? unreadFeatures(plan, frame);
    stages.enter('components');
    const ranked =
      loss.code === undefined ? await runArms(run, opened, trace, rival) : unranked(plan, frame, request.ids);
    const mixed = run.choice?.rival && mixedRun(run.choice.taken, run.choice.rival, ranked);
    if (mixed !== undefined) run.taken = mixed.taken;
    stages.enter('page');
    const paged = await answerPage(run, opened, ranked.ranking, trace, loss.code);
    stages.leave();
    const { page, answer: answered } = paged;
    const steps = runServed(run, opened, ranked, page);
    const done = { ...paged, ranked, steps, statuses, mixed, trace, batch: reads.batch, lossCode: loss.code };
    const report = reportOf(run, opened, done);
    const explanation = asked.isExplained ? await explainRun(run, opened, done, report) : undefined;
    run.finished = { done, report };
    return { answer: answered, report, explanation };
  } finally {
    reads.resident?.end();
    loss.end();
  }
}

/** Runs the steps of the plan, and those of the arm that is interleaved with it. */
function runArms(
  { plan, services, stages, asked }: PlanRun,
  { request, frame }: OpenedRequest,
  observer: Trace | undefined,
  rival: SecondArm | undefined,
): Promise<RankedCandidates | InterleavedCandidates> {
  const { onEffectError, onHeld, exploreSalt = '', log } = services;
  const { ids, paging, requestId } = request;
  const own = {
    deadline: stages.deadline,
    onEffectError,
    onHeld,
    observer,
    draws: exploreSalt === '' ? undefined : saltedDraws(plan, exploreSalt, requestId),
    page: { size: paging.userPageSize, first: pageStart(paging) },
    ordersAll: asked.isExplained ? undefined : log?.ordersAll(request),
    span: stages.span,
  };
  return rival === undefined
    ? runComponents(plan, frame, ids, own)
    : runInterleaved(plan, frame, ids, rival, own);
}

function traceOf({ context, isExplained }: Asked): Trace {
  return new Trace(context.runId ?? randomUUID(), isExplained);
}

/** The ids of those candidates that the plan of a condition keeps. It reads the store as any plan does. */
async function keepThose(filter: Plan, body: JsonObject, of: PlanRun): Promise<readonly string[]> {
  const { store, layouts, now } = of.services;
  const context = { requestId: of.asked.context.requestId, deadline: of.stages.deadline };
  const stages = new StageRunner(filter.definition.limits.time, context, undefined);
  const run = new PlanRun(filter, { store, layouts, now }, { body, context, isExplained: false }, stages);
  try {
    stages.enter('read');
    run.opened = await openBody(run, body);
    const kept = await runPlan(run, run.opened);
    return (kept.answer.ranked_candidates ?? []).map(({ candidate_id: id }) => id);
  } finally {
    leaveRecord(run);
    stages.close();
  }
}
