import type { EffectComponent, ServedPage } from '../../../ground/api/component.js';
import type { Plan } from '../../compile/plan.js';
import type { Deadline } from '../../../ground/core/deadline.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { TraceSpan } from '../../../project/tracing/trace-span.js';
import type { RankedRow, Ranking } from './ranking.js';
import type { RankedCandidates, StepReport } from './run-components.js';
import { watched, type StepHandlers } from './step-handlers.js';
import { StepView } from './step-view.js';

/** The page that was answered. */
export interface AnsweredRows {
  readonly requestId: string;
  /** Rank of the first row, from 0. */
  readonly start: number;
  readonly rows: readonly RankedRow[];
}

export interface ServedServices extends StepHandlers {
  readonly deadline: Deadline;
  readonly span: TraceSpan | undefined;
}

/**
 * Shows the answered page to the effects that want to see it. It costs nothing if there are none.
 * @returns the reports of the steps; those of effects that still run say so
 */
export function runServed(
  plan: Plan,
  frame: Frame,
  { ranking, steps }: Pick<RankedCandidates, 'ranking' | 'steps'>,
  answered: AnsweredRows,
  services: ServedServices,
): readonly StepReport[] {
  if (!plan.steps.some(wantsPage)) return steps;
  return steps.map((report) => {
    const { step, outcome } = report;
    if (outcome !== 'ran' || !wantsPage(step)) return report;
    const { deadline, span } = services;
    const failed = (error: unknown): void => services.onEffectError?.(step, error);
    try {
      const view = new StepView(step, frame, ranking.rows, ranking, deadline, span);
      const running = watched(step, services, () =>
        (step.component as EffectComponent).served?.(view, pageOf(ranking, answered)),
      );
      if (!(running instanceof Promise)) return report;
      deadline.usage?.hold(running);
      const pending = Promise.all([report.pending, running.catch(failed)]).then(() => undefined);
      return { ...report, pending };
    } catch (error) {
      failed(error);
      return report;
    }
  });
}

function wantsPage({ kind, component }: Plan['steps'][number]): boolean {
  return kind === 'effect' && (component as EffectComponent).served !== undefined;
}

function pageOf(ranking: Ranking, { requestId, start, rows }: AnsweredRows): ServedPage {
  let order: Int32Array | undefined;
  return {
    requestId,
    start,
    rows: Int32Array.from(rows, ({ row }) => row),
    scores: Float64Array.from(rows, ({ score }) => score),
    total: ranking.rows.length,
    order: () => (order ??= Int32Array.from(ranking.slice(0, ranking.rows.length), ({ row }) => row)),
  };
}
