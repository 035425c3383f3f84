import type {
  EffectComponent,
  FeatureComponent,
  FilterComponent,
  RuleComponent,
  RuleReport,
  StepOutput,
} from '../../../ground/api/component.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { Status } from '../../../ground/api/status.js';
import type { Plan, PlannedStep } from '../../compile/plan.js';
import { writeMissing } from '../../../language/frame/cells.js';
import { runKernels } from '../../../language/expression/run-kernels.js';
import { looseColumn, type Frame } from '../../../language/frame/frame.js';
import type { Causes } from './causes.js';
import { checkReport, checkSelection, settleOutputs } from './check-work.js';
import type { Draws } from './draws.js';
import type { DroppedRow, PageGrid } from './order-rules.js';
import type { Deadline } from '../../../ground/core/deadline.js';
import { errorCodeOf, type TraceSpan } from '../../../project/tracing/trace-span.js';
import { Ranking, type RankingSnapshot } from './ranking.js';
import { StepEdit } from './step-edit.js';
import { watched, type StepHandlers } from './step-handlers.js';
import { StepView } from './step-view.js';
import { traceStep } from './trace-step.js';

/** The outcome of one step. Explanations, events and metrics read it. */
export interface StepReport {
  readonly step: PlannedStep;
  readonly outcome: 'ran' | 'not_asked_for' | 'failed';
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
  readonly causes?: Causes;
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
  /** Whether the request is only explained, so that effects are left out. */
  readonly isRehearsal: boolean;
}

/** What the steps of one request need besides the frame. */
export interface StepServices extends StepHandlers {
  readonly deadline: Deadline;
  readonly observer?: StepObserver | undefined;
  /** The pages of the answer; by default those of the pipeline's `page:`. */
  readonly page?: PageGrid | undefined;
  /** For a step that explores; without it, nothing is drawn. */
  readonly draws?: Draws | undefined;
  /** Whether the final order is read beyond the page. */
  readonly ordersAll?: boolean | undefined;
  /** The span of the stage; undefined if the request is not traced. */
  readonly span?: TraceSpan | undefined;
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
  const { deadline, observer, span } = services;
  const ranking = new Ranking(
    frame,
    plan.candidateType.name,
    ids,
    services.page ?? firstPage(plan),
    services.draws,
  );
  // In a ranking, scores start at 0. The score of a single entity is absent until a step sets it.
  if (plan.definition.task === 'score') ranking.scores.fill(NaN);
  const reports: StepReport[] = [];
  const stepMs = new Float64Array(plan.steps.length).fill(NaN);
  const check = (): void => deadline.check();
  let began = performance.now();
  for (const step of plan.steps) {
    deadline.check();
    const preparing = runKernels(step.prepare, frame, check);
    if (preparing !== undefined) await preparing;
    if (step.kind === 'effect' && observer?.isRehearsal === true) {
      reports.push(report(step, { outcome: 'not_asked_for', reason: 'an explanation has no effects' }));
      continue;
    }
    observer?.before(step, ranking);
    const done =
      span?.isRecorded === true
        ? await traceStep(span, step, (own) => runStep(step, frame, ranking, deadline, services, own))
        : await runStep(step, frame, ranking, deadline, services, span);
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

/**
 * Runs one step, after its `prepare` kernels.
 * @param copied a copy of the ranking as it is, if there is one
 * @throws MillraceError component_failed, deadline_exceeded
 */
export async function runStep(
  step: PlannedStep,
  frame: Frame,
  ranking: Ranking,
  deadline: Deadline,
  handlers: StepHandlers,
  span: TraceSpan | undefined,
  copied?: RankingSnapshot,
): Promise<StepReport> {
  if (step.when !== undefined && frame.number(step.when.slot).values[0] !== 1) {
    return report(step, { outcome: 'not_asked_for' });
  }
  const before = takesSnapshot(step) ? (copied ?? ranking.snapshot()) : undefined;
  const rows = step.top === undefined ? ranking.rows : ranking.scopeTo(step.top);
  const computing = runKernels(step.inputs, frame, () => deadline.check());
  if (computing !== undefined) await computing;
  const view = new StepView(step, frame, rows, ranking, deadline, span);
  try {
    switch (step.kind) {
      case 'feature':
      case 'model': {
        const component = step.component as FeatureComponent;
        const outputs = outputsOf(step, frame);
        await finish(
          watched(step, handlers, () => component.compute(view, outputs)),
          deadline,
        );
        settleOutputs(step, frame);
        return report(step, { before });
      }
      case 'filter': {
        const component = step.component as FilterComponent;
        const { removed, reason, undecided } = checkSelection(
          await finish(
            watched(step, handlers, () => component.select(view)),
            deadline,
          ),
        );
        ranking.remove(removed);
        return report(step, { before, removed, reason, skipped: undecided });
      }
      case 'rule': {
        const component = step.component as RuleComponent;
        const edit = new StepEdit(ranking, step.number);
        try {
          const done = checkReport(
            await finish(
              watched(step, handlers, () => component.apply(view, edit)),
              deadline,
            ),
          );
          const { left, ...counts } = keepFinite(done, ranking, before?.scores);
          const removed = [...new Set(edit.hidden)];
          if (removed.length > 0) ranking.remove(removed);
          const { causes } = edit;
          if (component.scoring !== 'sets') return report(step, { before, removed, causes, ...counts });
          return report(step, {
            before,
            removed,
            causes,
            ...counts,
            scored: { rows, left: [...(done.left ?? []), ...left] },
          });
        } finally {
          edit.end();
        }
      }
      case 'effect': {
        // The request does not wait for an effect, and an effect cannot fail it.
        const running = watched(step, handlers, () => (step.component as EffectComponent).run?.(view));
        if (!(running instanceof Promise)) return report(step, { before });
        deadline.usage?.hold(running);
        const pending = running.catch((error: unknown) => {
          span?.fail(errorCodeOf(error));
          handlers.onEffectError?.(step, error);
        });
        return report(step, { before, pending });
      }
    }
  } catch (error) {
    span?.fail(errorCodeOf(error));
    if (step.kind === 'effect') handlers.onEffectError?.(step, error);
    deadline.check();
    if (step.kind !== 'effect' && step.onError === 'fail') throw failed(step, error);
    if (before !== undefined) ranking.restore(before);
    for (const slot of step.outputs.values()) failColumn(frame, slot);
    return report(step, {
      outcome: 'failed',
      reason: error instanceof Error ? error.message : String(error),
    });
  }
}

function finish<T>(result: T | Promise<T>, deadline: Deadline): T | Promise<T> {
  return result instanceof Promise ? deadline.within(result) : result;
}

function report(step: PlannedStep, more: Partial<StepReport>): StepReport {
  return { step, outcome: 'ran', removed: [], reason: '', applied: 0, skipped: 0, ...more };
}

function failed(step: PlannedStep, cause: unknown): MillraceError {
  if (cause instanceof MillraceError) return cause;
  return new MillraceError('component_failed', `step ${step.number} (${step.use}) failed`, { cause });
}

function outputsOf(step: PlannedStep, frame: Frame): StepOutput {
  const slot = (output: string): number => {
    const found = step.outputs.get(output);
    if (found === undefined) throw new Error(`${step.use} declares no output ${output}`);
    return found;
  };
  return { number: (output) => frame.number(slot(output)), text: (output) => frame.text(slot(output)) };
}

/**
 * Marks every cell of an output as failed. It makes a new column, because work of the failed step may still write to the
 * old one.
 */
function failColumn(frame: Frame, slot: number): void {
  const column = looseColumn(frame.shape(slot), frame.count);
  for (let row = 0; row < frame.count; row++) writeMissing(column, row, Status.failed);
  frame.columns[slot] = column;
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
  let notFinite = 0;
  for (const row of ranking.rows) {
    if (Number.isFinite(ranking.scores[row])) continue;
    left.push(row);
    const was = before?.[row] ?? 0;
    if (Object.is(was, ranking.scores[row])) continue;
    notFinite++;
    ranking.scores[row] = was;
  }
  return { applied: applied - notFinite, skipped: skipped + notFinite, notFinite, left };
}
