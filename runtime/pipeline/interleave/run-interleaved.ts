import type { Plan } from '../../compile/plan.js';
import { Deadline } from '../../core/deadline.js';
import type { SharedRun } from '../../experiments/shared-run.js';
import type { Frame } from '../../frame/frame.js';
import { Ranking, type KeptRanking } from '../components/ranking.js';
import {
  firstPage,
  runComponents,
  runStep,
  type RankedCandidates,
  type StepServices,
} from '../components/run-components.js';
import { openArmFrame } from './arm-frame.js';
import { InterleavedOrder } from './interleaved-order.js';
import { KeepRanking } from './keep-ranking.js';

/** The arm that is interleaved with control. */
export interface SecondArm {
  readonly plan: Plan;
  readonly shared: SharedRun;
  /** See `teamDraft`. */
  readonly coin: (round: number) => boolean;
  /** Reads what control does not read, into a frame of the arm. Called only if there is such a thing. */
  read(deadline: Deadline): Promise<Frame>;
}

/** Candidates of both arms in one order, or those of control alone. */
export interface InterleavedCandidates extends RankedCandidates {
  /** Undefined if a step of either arm failed. */
  readonly interleaved: InterleavedOrder | undefined;
  /** Why the arms are not interleaved; undefined if they are. */
  readonly problem: string | undefined;
  /** Call it when the ranking is no longer read. */
  release(): void;
}

/**
 * Runs the steps of control, then those of the arm that differ, and interleaves both orders. Steps that both arms share
 * run once. Effects are those of control. If a step of either arm fails that both do not share, the order is that of
 * control. The arm has half of the time that control leaves.
 * @throws as runComponents
 */
export async function runInterleaved(
  control: Plan,
  frame: Frame,
  ids: readonly string[],
  arm: SecondArm,
  services: StepServices,
): Promise<InterleavedCandidates> {
  const keeper = new KeepRanking(control.steps, arm.shared.first, services.observer);
  const ranked = await runComponents(control, frame, ids, { ...services, observer: keeper });
  const alone = (problem: string, release: () => void): InterleavedCandidates => ({
    ...ranked,
    interleaved: undefined,
    problem,
    release,
  });
  const failed = ranked.steps.slice(arm.shared.first).find(({ outcome }) => outcome === 'failed');
  if (failed !== undefined) return alone(`the step ${failed.step.as} of control failed`, () => undefined);
  const { deadline } = services;
  const left = deadline.started + deadline.ms - performance.now();
  const own = new Deadline(Math.max(1, left / 2), { parent: deadline });
  try {
    const read = arm.shared.hasReads ? undefined : await arm.read(own);
    const { frame: armFrame, release } = openArmFrame(arm.plan, arm.shared, frame, read);
    const ranking = await runArm(arm, armFrame, ids, keeper.kept, own, services);
    const order = new InterleavedOrder(ranked.ranking.side(), ranking.side(), ids.length, arm.coin);
    const steps = withReturned(ranked, order.rows);
    ranked.ranking.interleave(order);
    return { ...ranked, steps, interleaved: order, problem: undefined, release };
  } catch (error) {
    deadline.check(); // the time of the whole request may be over
    // The frame of the arm is dropped: work that still runs may write to it.
    return alone(error instanceof Error ? error.message : String(error), () => undefined);
  } finally {
    own.end();
  }
}

async function runArm(
  { plan, shared }: SecondArm,
  frame: Frame,
  ids: readonly string[],
  kept: KeptRanking | undefined,
  deadline: Deadline,
  { page = firstPage(plan) }: StepServices,
): Promise<Ranking> {
  const ranking = new Ranking(frame, plan.candidateType.name, ids, page);
  if (kept !== undefined) ranking.reset(kept);
  for (const [index, step] of plan.steps.entries()) {
    if (shared.runs[index] !== true && step.kind !== 'effect') continue;
    deadline.check();
    for (const kernel of step.prepare) kernel(frame); // a later step may use a definition that an effect uses first
    if (step.kind === 'effect') continue;
    const { outcome, reason } = await runStep(step, frame, ranking, deadline, () => undefined, undefined);
    if (outcome === 'failed') throw new Error(`the step ${step.as} failed: ${reason}`);
  }
  deadline.check();
  return ranking;
}

/** A row that a filter of control removed can come back, since the arm keeps it. */
function withReturned({ steps }: RankedCandidates, rows: Int32Array): RankedCandidates['steps'] {
  if (steps.every(({ removed }) => removed.length === 0)) return steps;
  const isIn = new Set(rows);
  return steps.map((report) => {
    const removed = report.removed.filter((row) => !isIn.has(row));
    return removed.length === report.removed.length ? report : { ...report, removed };
  });
}
