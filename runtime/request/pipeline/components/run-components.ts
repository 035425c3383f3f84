import type { Column } from '../../../ground/api/columns.js';
import type {
  EffectComponent,
  FeatureComponent,
  FilterComponent,
  RuleComponent,
  RuleReport,
} from '../../../ground/api/component.js';
import { MillraceError } from '../../../ground/api/errors.js';
import type { Plan, PlannedStep } from '../../compile/plan.js';
import { runKernels } from '../../../language/expression/run-kernels.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { Causes } from '../../ordering/causes.js';
import type { StepOutcome } from '../explain/explanation.js';
import { checkReport, checkSelection, failOutputs, outputsOf, settleOutputs } from './check-work.js';
import type { Draws } from '../../ordering/explore/draws.js';
import type { PageGrid } from '../../ordering/page-grid.js';
import type { DroppedRow } from '../../ordering/rule-kind.js';
import type { Deadline } from '../../../ground/core/deadline.js';
import { errorCodeOf, type TraceSpan } from '../../../project/tracing/trace-span.js';
import { Ranking, type RankingSnapshot } from '../../ordering/ranking.js';
import { StepEdit } from '../../ordering/step-edit.js';
import { StepView } from './step-view.js';
import { traceStep } from './trace-step.js';

/** The outcome of one step. Explanations, events and metrics read it. */
export interface StepReport {
  readonly step: PlannedStep;
  readonly outcome: StepOutcome;
  /** The rows that a filter removed, or that a rule hid or dropped as one of a group. */
  readonly removed: readonly number[];
  /** Why a filter removed rows, or the error of a failed step. */
  readonly reason: string;
  /** For a rule: how many candidates it changed. */
  readonly applied: number;
  /** For a rule: candidates with an unknown value, left as they were. For a filter: candidates kept undecided. */
  readonly skipped: number;
  /** For a rule: candidates that got a score that is not finite, which was undone. They count as skipped, too. */
  readonly notFinite?: number;
  /** For a rule: which rules inside the step changed which rows. */
  readonly causes?: Causes | undefined;
  /** For a rule that sets the score: the rows that it worked on, and the rows that it left without a score. */
  readonly scored?: { readonly rows: Int32Array; readonly left: readonly number[] };
  /** The ranking before a step that ran and may have changed it. */
  readonly before?: RankingSnapshot | undefined;
  /** For an effect: resolves when the effect no longer reads the frame. It never rejects. */
  readonly pending?: Promise<void>;
}

/** Sees the ranking before and after each step. It exists only for requests with events or an explanation. */
export interface StepObserver {
  before(step: PlannedStep, ranking: Ranking): void;
  after(report: StepReport, ranking: Ranking): void;
  /** Called when the final order is made. */
  end(ranking: Ranking): void;
}

/** Calls that report a step while a request runs. All are optional. */
export interface StepHandlers {
  /** Called when an effect fails. The error is not reported anywhere else. */
  readonly onEffectError?: ((step: PlannedStep, error: unknown) => void) | undefined;
  /** Called when a component computed for long without a pause: no other request ran meanwhile. */
  readonly onHeld?: ((step: PlannedStep, ms: number) => void) | undefined;
}

/** A component that computes longer than this without a pause is reported, in milliseconds. */
export const LONG_MS = 100;

/** Computes what steps read, in place of their kernels. Each returns a promise only if it has to wait. */
export interface LaterInputs {
  prepare(step: PlannedStep, check: () => void): Promise<void> | undefined;
  /** @param rows the candidates that the step works on */
  inputs(step: PlannedStep, rows: Int32Array, check: () => void): Promise<void> | undefined;
}

/** What the steps of one request need besides the frame. */
export interface StepServices extends StepHandlers {
  readonly deadline: Deadline;
  readonly observer?: StepObserver | undefined;
  /** The pages of the answer; by default those of the pipeline's `page:`. */
  readonly page?: PageGrid | undefined;
  /** Whether effects are left out. */
  readonly isRehearsal?: boolean;
  /** For a step that explores; without it, nothing is drawn. */
  readonly draws?: Draws | undefined;
  /** Whether the final order is read beyond the page. */
  readonly ordersAll?: boolean | undefined;
  /** The span of the stage; undefined if the request is not traced. */
  readonly span?: TraceSpan | undefined;
  /** Undefined if the frame has everything that was read, for all candidates. */
  readonly later?: LaterInputs | undefined;
}

/** The candidates after all steps. */
export interface RankedCandidates {
  readonly ranking: Ranking;
  /** In the order run. */
  readonly steps: readonly StepReport[];
  /** Milliseconds of each step, in the order of the plan; NaN for a step that did not run. */
  readonly stepMs: Float64Array;
}

/**
 * Runs the steps of a plan, in its order.
 * @param ids ids of the candidates, by row
 * @throws MillraceError component_failed, deadline_exceeded
 */
export async function runComponents(
  plan: Plan,
  frame: Frame,
  ids: readonly string[],
  services: StepServices,
): Promise<RankedCandidates> {
  const { deadline, observer, span, later, isRehearsal = false } = services;
  const { page = firstPage(plan), draws } = services;
  const ranking = new Ranking(frame, plan.candidateType.name, ids, { page, draws });
  // In a ranking, scores start at 0. The score of a single entity is absent until a step sets it.
  if (plan.definition.task === 'score') ranking.scores.fill(NaN);
  const reports: StepReport[] = [];
  const stepMs = new Float64Array(plan.steps.length).fill(NaN);
  const work = { frame, ranking, deadline, handlers: services, later };
  const check = (): void => deadline.check();
  let began = performance.now();
  for (const step of plan.steps) {
    deadline.check();
    const preparing =
      later === undefined ? runKernels(step.prepare, frame, check) : later.prepare(step, check);
    if (preparing !== undefined) await preparing;
    if (step.kind === 'effect' && isRehearsal) {
      reports.push(report(step, { outcome: 'not_asked_for', reason: 'an explanation has no effects' }));
      continue;
    }
    observer?.before(step, ranking);
    const running =
      span?.isRecorded === true
        ? traceStep(span, step, (own) => runStep(step, work, own))
        : runStep(step, work, span);
    const done = running instanceof Promise ? await running : running;
    const ended = performance.now();
    if (done.outcome !== 'not_asked_for') stepMs[reports.length] = ended - began;
    began = ended;
    observer?.after(done, ranking);
    reports.push(done);
  }
  const dropped = ranking.settle();
  observer?.end(ranking);
  return { ranking, steps: withDropped(reports, dropped), stepMs };
}

/** Adds the rows that a rule removed when the final order was made to the report of its step. */
function withDropped(reports: readonly StepReport[], dropped: readonly DroppedRow[]): readonly StepReport[] {
  if (dropped.length === 0) return reports;
  const byStep = new Map<number, number[]>();
  for (const { row, step } of dropped) {
    const rows = byStep.get(step);
    if (rows === undefined) byStep.set(step, [row]);
    else rows.push(row);
  }
  return reports.map((one) => {
    const rows = byStep.get(one.step.number);
    return rows === undefined ? one : { ...one, removed: [...one.removed, ...rows] };
  });
}

/** The pages of a request that does not say their size. */
export function firstPage({ definition }: Plan): PageGrid {
  return { size: definition.page.size, first: 0 };
}

/** Whether the report of the step has a copy of the ranking before it, if it ran. */
export function takesSnapshot({ kind, top }: PlannedStep): boolean {
  return kind === 'rule' || top !== undefined;
}

/** What the steps of a request work on. */
export interface StepWork {
  readonly frame: Frame;
  readonly ranking: Ranking;
  readonly deadline: Deadline;
  readonly handlers: StepHandlers;
  readonly later?: LaterInputs | undefined;
}

/** One step at work. */
interface RunningStep extends StepWork {
  readonly step: PlannedStep;
  readonly view: StepView;
  /** The ranking before the step, if the step may change it. */
  readonly before: RankingSnapshot | undefined;
  readonly span: TraceSpan | undefined;
}

/**
 * Runs one step, after its `prepare` kernels. It returns a promise only if it has to wait.
 * @param copied a copy of the ranking as it is, if there is one
 * @throws MillraceError component_failed, deadline_exceeded
 */
export function runStep(
  step: PlannedStep,
  work: StepWork,
  span: TraceSpan | undefined,
  copied?: RankingSnapshot,
): StepReport | Promise<StepReport> {
  const { frame, ranking, deadline, handlers, later } = work;
  if (step.when !== undefined && frame.number(step.when.slot).values[0] !== 1)
    return report(step, { outcome: 'not_asked_for' });
  const before = takesSnapshot(step) ? (copied ?? ranking.snapshot()) : undefined;
  const rows = step.top === undefined ? ranking.rows : ranking.scopeTo(step.top);
  const begin = (): StepReport | Promise<StepReport> => {
    const view = new StepView(step, frame, rows, ranking, deadline, span);
    const running: RunningStep = { frame, ranking, deadline, handlers, step, view, before, span };
    try {
      const done = WORK[step.kind](running);
      return done instanceof Promise ? done.catch((error: unknown) => skipStep(running, error)) : done;
    } catch (error) {
      return skipStep(running, error);
    }
  };
  const check = (): void => deadline.check();
  const computing =
    later === undefined ? runKernels(step.inputs, frame, check) : later.inputs(step, rows, check);
  return computing === undefined ? begin() : computing.then(begin);
}

/** What a step of each kind does. */
const WORK: Readonly<
  Record<PlannedStep['kind'], (running: RunningStep) => StepReport | Promise<StepReport>>
> = {
  feature: compute,
  model: compute,
  filter: select,
  rule: apply,
  effect: runEffect,
  retriever: () => {
    throw new Error('a retriever is no step');
  },
};

function compute(running: RunningStep): StepReport | Promise<StepReport> {
  const { step, frame, view, before } = running;
  const component = step.component as FeatureComponent;
  // A plugin may keep what it writes, and write to it later. What does not ship gets columns of its own.
  const own = step.isShipped ? undefined : new Map<number, Column>();
  const outputs = outputsOf(step, frame, own);
  return settled(
    running,
    () => component.compute(view, outputs),
    () => {
      settleOutputs(step, frame, own);
      return report(step, { before });
    },
  );
}

function select(running: RunningStep): StepReport | Promise<StepReport> {
  const { step, ranking, view, before } = running;
  const component = step.component as FilterComponent;
  return settled(
    running,
    () => component.select(view),
    (selection) => {
      const { removed, reason, undecided } = checkSelection(selection);
      ranking.remove(removed);
      return report(step, { before, removed, reason, skipped: undecided });
    },
  );
}

function apply(running: RunningStep): StepReport | Promise<StepReport> {
  const { step, ranking, view, before } = running;
  const component = step.component as RuleComponent;
  const edit = new StepEdit(ranking, step.number);
  const settle = (result: RuleReport): StepReport => {
    const done = checkReport(result);
    const { left, ...counts } = keepFinite(done, ranking, before?.scores);
    const removed = edit.hidden.length === 0 ? edit.hidden : [...new Set(edit.hidden)];
    if (removed.length > 0) ranking.remove(removed);
    if (component.scoring !== 'sets')
      return report(step, { before, removed, causes: edit.causes, ...counts });
    const unscored = done.left === undefined ? left : [...new Set([...done.left, ...left])];
    if (step.unscoredLast) {
      ranking.putBelow(unscored);
      for (const row of unscored) edit.cause(row, 'unscored', 'place');
    }
    const scored = { rows: view.rows, left: unscored };
    return report(step, { before, removed, causes: edit.causes, ...counts, scored });
  };
  const end = (): void => {
    edit.end();
    if (!step.isShipped) ranking.leaveScores();
  };
  let isWaiting = false;
  try {
    const done = settled(running, () => component.apply(view, edit), settle);
    if (!(done instanceof Promise)) return done;
    isWaiting = true;
    return done.finally(end);
  } finally {
    if (!isWaiting) end();
  }
}

/** The request does not wait for an effect, and an effect cannot fail it. */
function runEffect({ step, view, before, span, deadline, handlers }: RunningStep): StepReport {
  const running = watched(step, handlers, () => (step.component as EffectComponent).run?.(view));
  if (!(running instanceof Promise)) return report(step, { before });
  deadline.usage?.hold(running);
  const pending = running.catch((error: unknown) => {
    span?.fail(errorCodeOf(error));
    handlers.onEffectError?.(step, error);
  });
  return report(step, { before, pending });
}

/** Calls a component, and then settles what it returned. */
function settled<T>(
  { step, deadline, handlers }: RunningStep,
  call: () => T | Promise<T>,
  settle: (result: T) => StepReport,
): StepReport | Promise<StepReport> {
  const result = watched(step, handlers, call);
  return result instanceof Promise ? deadline.within(result).then(settle) : settle(result);
}

/** The report of a step that failed, if the request can go on without it. @throws MillraceError component_failed */
function skipStep(
  { step, frame, ranking, deadline, handlers, before, span }: RunningStep,
  error: unknown,
): StepReport {
  span?.fail(errorCodeOf(error));
  if (step.kind === 'effect') handlers.onEffectError?.(step, error);
  deadline.check();
  if (step.kind !== 'effect' && step.onError === 'fail') throw failed(step, error);
  if (before !== undefined) ranking.restore(before);
  failOutputs(step, frame);
  const reason = error instanceof Error ? error.message : String(error);
  return report(step, { outcome: 'failed', reason });
}

/** Calls a method of a component, and reports if it holds the event loop until it returns. */
export function watched<T>(step: PlannedStep, { onHeld }: StepHandlers, call: () => T): T {
  const began = performance.now();
  try {
    return call();
  } finally {
    const ms = performance.now() - began;
    if (ms > LONG_MS) onHeld?.(step, ms);
  }
}

function report(step: PlannedStep, more: Partial<StepReport>): StepReport {
  return { step, outcome: 'ran', removed: [], reason: '', applied: 0, skipped: 0, ...more };
}

function failed(step: PlannedStep, cause: unknown): MillraceError {
  if (cause instanceof MillraceError) return cause;
  return new MillraceError('component_failed', `step ${step.number} (${step.use}) failed`, { cause });
}

/**
 * Undoes every score that is not finite, and counts it as skipped.
 * @returns with `left`: the rows that the rule left without a score
 */
function keepFinite(
  { applied, skipped }: RuleReport,
  ranking: Ranking,
  before: Float64Array | undefined,
): Pick<StepReport, 'applied' | 'skipped' | 'notFinite'> & { readonly left: readonly number[] } {
  const left: number[] = [];
  const { rows, scores } = ranking;
  let notFinite = 0;
  for (const row of rows) {
    if (Number.isFinite(scores[row])) continue;
    left.push(row);
    const was = before?.[row] ?? 0;
    if (Object.is(was, scores[row])) continue;
    notFinite++;
    scores[row] = was;
  }
  return { applied: applied - notFinite, skipped: skipped + notFinite, notFinite, left };
}
