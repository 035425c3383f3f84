import { inTurns } from '../../../ground/core/pieces.js';
import type { FinishedStages, OpenedRequest, PlanRun } from '../plan-run.js';
import type { RunReport } from '../types.js';
import { isJsonObject } from '../../../ground/core/value-fit.js';
import { caseOfRun } from './case-of-run.js';
import { explain } from './explain.js';
import { findLifts } from './find-lifts.js';
import type { Explanation } from './explanation.js';

/**
 * Explains a request while its frame holds it, or shows it to who observes it instead.
 * @returns undefined unless an explanation was requested
 */
export async function explainRun(
  planRun: PlanRun,
  opened: OpenedRequest,
  { ranked, page, answer, statuses, mixed, trace }: FinishedStages,
  report: RunReport,
): Promise<Explanation | undefined> {
  if (trace === undefined) return undefined;
  const { plan, services, stages, asked } = planRun;
  const { request, frame } = opened;
  const { lift } = asked.context;
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
    deadline: stages.deadline,
    contributions: asked.context.contributions === true,
    compare: asked.context.compare,
    why: asked.context.why,
  };
  if (services.observe !== undefined) {
    services.observe(run);
    return undefined;
  }
  const explained = await inTurns(explain(run), () => stages.deadline.check());
  const explanation =
    asked.context.testCase === true && isJsonObject(asked.body)
      ? { ...explained, test_case: caseOfRun(run, asked.body) }
      : explained;
  if (lift === undefined) return explanation;
  return { ...explanation, lifts: await findLifts(planRun, opened, ranking, teams !== undefined, lift) };
}
