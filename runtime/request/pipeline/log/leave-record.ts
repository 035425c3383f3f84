import type { Plan } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { StepReport } from '../components/run-components.js';
import { leavesNothing, type OpenedRequest, type PlanRun } from '../plan-run.js';
import type { LoggedRun, ServedRun } from './ranking-log.js';

/**
 * Ends a request that was answered or has failed: records it if its unit is in the share, after its answer was handed over,
 * and then releases its frames. A request of which the body was not read, and one that is only explained, leave nothing.
 */
export function leaveRecord(run: PlanRun): void {
  const { opened, services, asked } = run;
  if (opened === undefined) return;
  const { log, usage } = services;
  if (leavesNothing(asked) || log?.wants(opened.request) !== true) {
    releaseFrames(run, opened);
    return;
  }
  const logged = loggedRun(run, opened);
  usage?.begin();
  // Not in a later turn: the columns are still in the processor's cache. The promises of the answer run first.
  process.nextTick(() => {
    const end = (): void => {
      releaseFrames(run, opened);
      usage?.end();
    };
    const fail = (error: unknown): void => log.onError(error);
    let adding: Promise<void> | undefined;
    try {
      adding = log.add(logged);
    } catch (error) {
      fail(error);
    }
    if (adding === undefined) end();
    else void adding.catch(fail).finally(end);
  });
}

function loggedRun({ finished, status, stages, taken, asked }: PlanRun, opened: OpenedRequest): LoggedRun {
  const ms = performance.now() - stages.clock.started;
  const { request, frame } = opened;
  const { runId } = finished?.done.trace ?? asked.context;
  const served = finished && servedRun(finished);
  return { request, frame, runId, experiments: taken, ms, status, served };
}

/** Without spreads: they cost more than the rest of `loggedRun`. */
function servedRun({ done, report: { degraded } }: NonNullable<PlanRun['finished']>): ServedRun {
  const { ranked, page, mixed } = done;
  return { ranking: ranked.ranking, steps: ranked.steps, page, degraded, teams: mixed?.teams };
}

/** The frame of a failed request is dropped: work that still runs may write to it. */
function releaseFrames({ plan, finished }: PlanRun, { frame }: OpenedRequest): void {
  if (finished === undefined) return;
  const { ranked, steps } = finished.done;
  // The frame that is released last is used next: that of control, whose columns are in the processor's cache.
  ranked.release?.();
  releaseFrame(plan, frame, steps);
}

/**
 * Returns the frame of an answered request to the pool. A failed step, also a skipped one, may still write to the frame, so
 * the frame is then dropped. An effect may read the frame after the answer is sent, so the release waits for it.
 */
export function releaseFrame(plan: Plan, frame: Frame, steps: readonly StepReport[]): void {
  let pending: Promise<void>[] | undefined;
  for (const { outcome, pending: effect } of steps) {
    if (outcome === 'failed') return;
    if (effect !== undefined) (pending ??= []).push(effect);
  }
  if (pending === undefined) plan.frames.release(frame);
  else void Promise.all(pending).then(() => plan.frames.release(frame));
}
