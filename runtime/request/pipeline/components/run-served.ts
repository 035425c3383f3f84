import type { EffectComponent, ServedPage } from '../../../ground/api/component.js';
import type { PlannedStep } from '../../compile/plan.js';
import { leavesNothing, type OpenedRequest, type PlanRun } from '../plan-run.js';
import type { RankedRow, Ranking } from '../../ordering/ranking.js';
import { watched, type RankedCandidates, type StepReport } from './run-components.js';
import { StepView } from './step-view.js';

/**
 * Shows the answered page to the effects that want to see it.
 * @returns the reports of the steps; those of effects that still run say so
 */
export function runServed(
  { services, stages, asked }: PlanRun,
  { request, frame }: OpenedRequest,
  { ranking, steps }: RankedCandidates,
  page: readonly RankedRow[],
): readonly StepReport[] {
  if (leavesNothing(asked)) return steps;
  const { deadline, span } = stages;
  return steps.map((report) => {
    const { step, outcome } = report;
    if (outcome !== 'ran' || !wantsPage(step)) return report;
    const failed = (error: unknown): void => services.onEffectError?.(step, error);
    try {
      const view = new StepView(step, frame, ranking.rows, ranking, deadline, span);
      const running = watched(step, services, () =>
        (step.component as EffectComponent).served?.(view, pageOf(ranking, request, page)),
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

function wantsPage({ kind, component }: PlannedStep): boolean {
  return kind === 'effect' && (component as EffectComponent).served !== undefined;
}

function pageOf(
  ranking: Ranking,
  { requestId, paging }: OpenedRequest['request'],
  rows: readonly RankedRow[],
): ServedPage {
  let order: Int32Array | undefined;
  return {
    requestId,
    start: Math.max(0, paging.start),
    rows: Int32Array.from(rows, ({ row }) => row),
    scores: Float64Array.from(rows, ({ score }) => score),
    total: ranking.rows.length,
    order: () => (order ??= Int32Array.from(ranking.slice(0, ranking.rows.length), ({ row }) => row)),
  };
}
