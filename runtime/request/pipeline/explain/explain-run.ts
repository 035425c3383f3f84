import { inTurns } from '../../../ground/core/pieces.js';
import type { FinishedStages, OpenedRequest, PlanRun } from '../plan-run.js';
import type { RunReport } from '../types.js';
import { explain } from './explain.js';
import type { Explanation } from './explanation.js';

/**
 * Explains a request while its frame holds it, or shows it to who observes it instead.
 * @returns undefined unless an explanation was requested
 */
export async function explainRun(
  { plan, services, stages }: PlanRun,
  { request, frame }: OpenedRequest,
  { ranked, page, answer, statuses, mixed, trace }: FinishedStages,
  report: RunReport,
): Promise<Explanation | undefined> {
  if (trace?.isRehearsal !== true) return undefined;
  const { ranking, steps } = ranked;
  const teams = mixed?.teams;
  const run = {
    plan,
    request,
    frame,
    ranking,
    page,
    steps,
    trace,
    statuses: statuses.features,
    report,
    answer,
    teams,
  };
  if (services.observe === undefined) return inTurns(explain(run), () => stages.deadline.check());
  services.observe(run);
  return undefined;
}
