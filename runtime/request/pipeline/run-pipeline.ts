import { setImmediate as nextTurn } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../ground/api/types.js';
import { planInService } from '../compile/plan-columns.js';
import type { Phases, Plan } from '../compile/plan.js';
import { saltedDraws } from '../ordering/explore/draws.js';
import { runComponents, type RankedCandidates } from './components/run-components.js';
import { LaterValues } from './components/later-values.js';
import { runServed } from './components/run-served.js';
import { Trace } from './components/trace.js';
import { unranked } from './components/unranked.js';
import { explainRun } from './explain/explain-run.js';
import { fetchFeatures, unreadFeatures } from './features/fetch-features.js';
import { MANY_ROWS } from './hydrate/cell-read.js';
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
import { leavesNothing, PlanRun, type Asked, type OpenedRequest } from './plan-run.js';
import { openBody, readBody } from './request/open-request.js';
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
  const plan = called.columns === undefined ? called : planInService(called, context.rules);
  const first = new PlanRun(plan, services, asked, stages);
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
    // An explanation and events show all values, and arms share them.
    const phases = trace === undefined && run.choice === undefined ? phasesFor(plan, frame.count) : undefined;
    const first = phases === undefined ? plan : { ...plan, levels: phases.levels };
    const pending = await loss.survive(() => hydrate(first, frame, request, reads));
    stages.enter('features');
    const read = pending && (await loss.survive(() => fetchFeatures(first, frame, pending, reads)));
    stages.enter('components');
    const later = read && phases && new LaterValues(phases, plan, opened, reads, read);
    const rank = (): Promise<RankedCandidates | InterleavedCandidates> =>
      runArms(run, opened, { trace, rival, later });
    const found = read && (await (later === undefined ? rank() : loss.survive(rank)));
    const ranked = found ?? unranked(plan, frame, request.ids);
    const statuses = (found && read) ?? unreadFeatures(plan, frame);
    const mixed = run.choice?.rival && mixedRun(run.choice.taken, run.choice.rival, ranked);
    if (mixed !== undefined) run.taken = mixed.taken;
    // The rules of the order are settled now, which takes some milliseconds.
    if (frame.count > MANY_ROWS) await nextTurn();
    stages.enter('page');
    const paged = await answerPage(run, opened, ranked.ranking, trace, loss.code);
    stages.leave();
    const { page, answer: answered } = paged;
    const steps = plan.hasEffects ? runServed(run, opened, ranked, page) : ranked.steps;
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

/** A request of fewer candidates reads and computes everything for all of them: so many times the `top:` of its steps. */
const WORTH_WAITING = 3;

/** The phases of a plan, if they pay for a request of so many candidates. */
function phasesFor({ phases }: Plan, count: number): Phases | undefined {
  return phases !== undefined && count >= WORTH_WAITING * phases.top ? phases : undefined;
}

/** Who takes part in the steps of a request. */
interface Runners {
  readonly trace: Trace | undefined;
  readonly rival: SecondArm | undefined;
  readonly later: LaterValues | undefined;
}

/** Runs the steps of the plan, and those of the arm that is interleaved with it. */
function runArms(
  { plan, services, stages, asked }: PlanRun,
  { request, frame }: OpenedRequest,
  { trace, rival, later }: Runners,
): Promise<RankedCandidates | InterleavedCandidates> {
  const { onEffectError, onHeld, exploreSalt = '', log } = services;
  const { ids, paging, requestId } = request;
  frame.requestId = requestId;
  frame.salt = exploreSalt;
  const own = {
    deadline: stages.deadline,
    onEffectError,
    onHeld,
    observer: trace,
    isRehearsal: leavesNothing(asked),
    later,
    draws: exploreSalt === '' ? undefined : saltedDraws(plan, exploreSalt, requestId),
    page: { size: paging.size, first: paging.start },
    ordersAll: asked.isExplained ? undefined : asked.context.page !== undefined || log?.ordersAll(request),
    span: stages.span,
  };
  return rival === undefined
    ? runComponents(plan, frame, ids, own)
    : runInterleaved(plan, frame, ids, rival, own);
}

function traceOf({ context }: Asked): Trace {
  return new Trace(context.runId ?? randomUUID());
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
