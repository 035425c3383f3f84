import type { Plan } from '../../compile/plan.js';
import { Deadline } from '../../core/deadline.js';
import type { SharedRun } from '../../experiments/shared-run.js';
import type { Frame } from '../../frame/frame.js';
import { Ranking } from '../components/ranking.js';
import {
  firstPage,
  runComponents,
  runStep,
  type RankedCandidates,
  type StepServices,
} from '../components/run-components.js';
import { shareColumns } from './arm-frame.js';
import { ForkRanking } from './fork-ranking.js';
import { InterleavedOrder } from './interleaved-order.js';

/** The arm that is interleaved with control. */
export interface SecondArm {
  readonly plan: Plan;
  readonly shared: SharedRun;
  /** See `teamDraft`. */
  readonly coin: (round: number) => boolean;
  /** Reads what control does not read, into a frame of the arm. Called only if there is such a thing. */
  readonly read: (deadline: Deadline) => Promise<Frame>;
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
 * control. The steps of the arm have half of the time that control leaves.
 * @throws as runComponents
 */
export async function runInterleaved(
  control: Plan,
  frame: Frame,
  ids: readonly string[],
  arm: SecondArm,
  services: StepServices,
): Promise<InterleavedCandidates> {
  const { deadline, page = firstPage(control) } = services;
  const opened = await openArm(arm, frame, deadline);
  const fork = (from?: Ranking): Ranking =>
    new Ranking(opened.frame, arm.plan.candidateType.name, ids, page, undefined, from);
  const forked = new ForkRanking(control.steps, arm.shared.first, fork, services.observer);
  const ranked = await runComponents(control, frame, ids, { ...services, observer: forked });
  const problem = opened.problem ?? problemOf(ranked, arm.shared.first);
  if (problem !== undefined) return alone(ranked, problem);
  const release = shareColumns(arm.plan, arm.shared, frame, opened.frame, arm.shared.hasReads);
  const ranking = forked.ranking ?? fork();
  try {
    await inHalf(deadline, (own) => runArm(arm, opened.frame, ranking, own));
  } catch (error) {
    deadline.check(); // the time of the whole request may be over
    // The frame of the arm is dropped: work that still runs may write to it.
    return alone(ranked, messageOf(error));
  }
  const order = new InterleavedOrder(ranked.ranking.side(), ranking.side(), ids.length, arm.coin);
  const steps = withReturned(ranked, order.rows);
  ranked.ranking.interleave(order);
  return { ...ranked, steps, interleaved: order, problem: undefined, release };
}

/** Runs work that has half of the time that is left. */
async function inHalf<T>(parent: Deadline, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const left = parent.started + parent.ms - performance.now();
  const own = new Deadline(Math.max(1, left / 2), { parent, isLazy: true });
  try {
    return await work(own);
  } finally {
    own.end();
  }
}

/** The frame of the arm; with what it reads itself, if control does not read everything. */
async function openArm(
  { plan, shared, read }: SecondArm,
  control: Frame,
  deadline: Deadline,
): Promise<{ readonly frame: Frame; readonly problem?: string }> {
  const empty = (): Frame => plan.frames.acquire(control.count, control.now, shared.isShared);
  if (shared.hasReads) return { frame: empty() };
  try {
    return { frame: await inHalf(deadline, read) };
  } catch (error) {
    deadline.check();
    return { frame: empty(), problem: messageOf(error) };
  }
}

function problemOf({ steps }: RankedCandidates, first: number): string | undefined {
  for (let at = first; at < steps.length; at++) {
    const report = steps[at];
    if (report?.outcome === 'failed') return `the step ${report.step.as} of control failed`;
  }
  return undefined;
}

function alone(ranked: RankedCandidates, problem: string): InterleavedCandidates {
  return { ...ranked, interleaved: undefined, problem, release: () => undefined };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function runArm(
  { plan, shared }: SecondArm,
  frame: Frame,
  ranking: Ranking,
  deadline: Deadline,
): Promise<void> {
  for (const [index, step] of plan.steps.entries()) {
    if (shared.runs[index] !== true && step.kind !== 'effect') continue;
    deadline.check();
    for (const kernel of step.prepare) kernel(frame); // a later step may use a definition that an effect uses first
    if (step.kind === 'effect') continue;
    const { outcome, reason } = await runStep(step, frame, ranking, deadline, () => undefined, undefined);
    if (outcome === 'failed') throw new Error(`the step ${step.as} failed: ${reason}`);
  }
  deadline.check();
}

/** A row that a filter of control removed can come back, since the arm keeps it. */
function withReturned({ steps, ranking }: RankedCandidates, rows: Int32Array): RankedCandidates['steps'] {
  if (rows === ranking.rows || steps.every(({ removed }) => removed.length === 0)) return steps;
  const isIn = new Set(rows);
  return steps.map((report) => {
    const removed = report.removed.filter((row) => !isIn.has(row));
    return removed.length === report.removed.length ? report : { ...report, removed };
  });
}
