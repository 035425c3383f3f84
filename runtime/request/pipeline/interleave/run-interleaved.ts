import type { Plan } from '../../compile/plan.js';
import { Deadline } from '../../../ground/core/deadline.js';
import type { SharedRun } from '../../experiments/shared-run.js';
import type { Frame } from '../../../language/frame/frame.js';
import { Ranking, type RankingSnapshot } from '../../ordering/ranking.js';
import {
  firstPage,
  runComponents,
  runStep,
  type RankedCandidates,
  type StepReport,
  type StepServices,
  type StepWork,
} from '../components/run-components.js';
import { traceStep } from '../components/trace-step.js';
import type { TraceSpan } from '../../../project/tracing/trace-span.js';
import { shareColumns } from './arm-frame.js';
import { ForkRanking } from './fork-ranking.js';
import { InterleavedOrder } from './interleaved-order.js';
import { runKernels } from '../../../language/expression/run-kernels.js';

/** So many candidates are ordered at once if a record has all of them. For more, the answer would wait for the record. */
const FEW = 200;

/** The arm that is interleaved with control. */
export interface SecondArm {
  /** The experiment and the arm, as in `prices=cheap`. */
  readonly name: string;
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
 * control.
 *
 * The reads of the arm start before the steps of control, and control does not wait for them. When control has ended, the
 * arm has half of the time that is left, for the rest of its reads and its steps.
 * @throws as runComponents
 */
export async function runInterleaved(
  control: Plan,
  frame: Frame,
  ids: readonly string[],
  arm: SecondArm,
  services: StepServices,
): Promise<InterleavedCandidates> {
  const { deadline, page = firstPage(control), span, onHeld } = services;
  const { plan, shared } = arm;
  const reads = shared.hasReads ? undefined : new ArmReads(arm, deadline);
  try {
    const forked = new ForkRanking(control.steps, shared.first, services.observer);
    const ranked = await runComponents(control, frame, ids, { ...services, observer: forked });
    const problem = problemOf(ranked, shared.first);
    if (problem !== undefined) return alone(ranked, problem);
    const done = await inHalf(deadline, async (own) => {
      const armFrame =
        reads === undefined
          ? plan.frames.acquire(frame.count, frame.now, shared.isShared)
          : await own.within(reads.frame);
      const release = shareColumns(plan, shared, frame, armFrame, shared.hasReads);
      const ranking = new Ranking(armFrame, plan.candidateType.name, ids, { page, kept: forked.kept });
      await runArm(
        arm,
        { frame: armFrame, ranking, deadline: own, handlers: { onHeld } },
        span,
        forked.kept?.snapshot,
      );
      return { ranking, release };
    }).catch((error: unknown) => {
      deadline.check(); // the time of the whole request may be over
      // The frame of the arm is dropped: work that still runs may write to it.
      return messageOf(error);
    });
    if (typeof done === 'string') return alone(ranked, done);
    const order = new InterleavedOrder(ranked.ranking.side(), done.ranking.side(), ids.length, arm.coin);
    if (services.ordersAll === true && ids.length <= FEW) order.first(ids.length);
    const steps = withReturned(ranked, order.rows);
    ranked.ranking.interleave(order);
    return { ...ranked, steps, interleaved: order, problem: undefined, release: done.release };
  } finally {
    reads?.end();
  }
}

/** Runs work that has half of the time that is left. */
async function inHalf<T>(parent: Deadline, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const own = new Deadline(Math.max(1, leftOf(parent) / 2), { parent, isLazy: true });
  try {
    return await work(own);
  } finally {
    own.end();
  }
}

function leftOf({ started, ms }: Deadline): number {
  return started + ms - performance.now();
}

/** What an arm reads itself, while control runs. */
class ArmReads {
  /** The frame with the values. Its rejection is handled, also if nothing waits for it. */
  readonly frame: Promise<Frame>;
  readonly #deadline: Deadline;

  constructor({ read }: SecondArm, parent: Deadline) {
    this.#deadline = new Deadline(Math.max(1, leftOf(parent)), { parent, isLazy: true });
    this.frame = read(this.#deadline);
    this.frame.catch(() => undefined);
  }

  /** Gives up what has not been read. */
  end(): void {
    this.#deadline.abort(new Error('the arm has no time left for its reads'));
    this.#deadline.end();
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
  { name, plan, shared }: SecondArm,
  work: StepWork,
  parent: TraceSpan | undefined,
  snapshot: RankingSnapshot | undefined,
): Promise<void> {
  let copied = snapshot;
  const { frame, deadline } = work;
  for (const [index, step] of plan.steps.entries()) {
    if (shared.runs[index] !== true && step.kind !== 'effect') continue;
    deadline.check();
    const preparing = runKernels(step.prepare, frame, () => deadline.check());
    if (preparing !== undefined) await preparing;
    if (step.kind === 'effect') continue; // a later step may use a definition that an effect uses first
    const run = (span: TraceSpan | undefined): StepReport | Promise<StepReport> =>
      runStep(step, work, span, copied);
    const { outcome, reason } =
      parent?.isRecorded === true ? await traceStep(parent, step, run, name) : await run(parent);
    if (outcome === 'failed') throw new Error(`the step ${step.as} failed: ${reason}`);
    copied = undefined; // the step may have changed the ranking
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
