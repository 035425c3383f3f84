import type { EffectComponent, ServedPage } from '../../../ground/api/component.js';
import type { Plan } from '../../compile/plan.js';
import type { OpenedRequest, PlanRun } from '../plan-run.js';
import { pageStart } from '../request/read-request.js';
import type { RankedRow, Ranking } from './ranking.js';
import { watched, type RankedCandidates, type StepReport } from './run-components.js';
import { StepView } from './step-view.js';

/**
 * Shows the answered page to the effects that want to see it. It costs nothing if there are none.
 * @returns the reports of the steps; those of effects that still run say so
 */
export function runServed(
  { plan, services, stages, asked }: PlanRun,
  { request, frame }: OpenedRequest,
  { ranking, steps }: RankedCandidates,
  page: readonly RankedRow[],
): readonly StepReport[] {
  if (asked.isExplained || !hasServed(plan)) return steps;
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

function hasServed({ steps }: Plan): boolean {
  for (const step of steps) if (step.kind === 'effect' && wantsPage(step)) return true;
  return false;
}

function wantsPage({ kind, component }: Plan['steps'][number]): boolean {
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
    start: Math.max(0, pageStart(paging)),
    rows: Int32Array.from(rows, ({ row }) => row),
    scores: Float64Array.from(rows, ({ score }) => score),
    total: ranking.rows.length,
    order: () => (order ??= Int32Array.from(ranking.slice(0, ranking.rows.length), ({ row }) => row)),
  };
}
