import { soon } from '../../../ground/core/pieces.js';
import { likePlan, planInService } from '../../compile/plan-columns.js';
import type { Plan } from '../../compile/plan.js';
import type { Rival } from '../../experiments/live-experiments.js';
import { sharedByPlans } from '../../experiments/shared-plans.js';
import { withAdded, type SharedRun } from '../../experiments/shared-run.js';
import { draftCoins } from '../../experiments/draft-coins.js';
import { fetchFeatures } from '../features/fetch-features.js';
import { hydrate } from '../hydrate/hydrate.js';
import type { ReadServices } from '../hydrate/read-services.js';
import { ResidentSession } from '../hydrate/resident-session.js';
import type { OpenedRequest, PlanRun } from '../plan-run.js';
import { openRequest } from '../request/open-request.js';
import { laxRequest } from '../request/lax-body.js';
import { fillRetrieved } from '../request/retrieve.js';
import type { SecondArm } from './run-interleaved.js';

/**
 * The second arm of a request that is interleaved.
 * @param reads of control. Each key is read once for both arms
 */
export function secondArm(
  { plan: control, services, asked }: PlanRun,
  rival: Rival,
  { request, frame, body: found, retrieved }: OpenedRequest,
  reads: ReadServices,
): SecondArm | undefined {
  const { experiment, arms, variant } = rival;
  const { experiments, resident } = services;
  const other =
    rival.shared === undefined && variant.pipeline !== undefined
      ? experiments?.arm(variant.pipeline)
      : undefined;
  const plan = other ? planInService(other.plan, asked.context.rules) : likePlan(variant.plan, control);
  const shared =
    control.wider === undefined && plan.wider === undefined
      ? (rival.shared ?? other?.shared)
      : sharedAnew(control, plan, rival.shared);
  const { readers } = other?.services ?? services;
  if (shared === undefined) return undefined;
  if (!shared.hasReads) reads.batch.rememberAll();
  return {
    name: `${experiment}=${arms[1]}`,
    plan,
    shared,
    coin: draftCoins(experiment, request.requestId),
    read: async (deadline) => {
      const { requestId } = request;
      const context = { ...asked.context, requestId };
      const body = found ?? asked.body;
      const check = (): void => deadline.check();
      // The other pipeline may declare fields that the called one does not.
      const sent = asked.lax === undefined ? body : await soon(laxRequest(plan, body, asked.lax), check);
      const own = await soon(
        openRequest(plan, sent, () => frame.now, context),
        check,
      );
      if (retrieved !== undefined) fillRetrieved(plan, own.frame, retrieved);
      const session = resident && new ResidentSession(resident);
      const ownReads = { ...reads, resident: session, readers };
      try {
        await fetchFeatures(plan, own.frame, await hydrate(plan, own.frame, own.request, ownReads), ownReads);
      } finally {
        session?.end();
      }
      return own.frame;
    },
  };
}

const known = new WeakMap<Plan, { readonly control: Plan; readonly shared: SharedRun }>();

/** What plans share of which rules of curation need more columns. @param byParams without these columns */
function sharedAnew(control: Plan, arm: Plan, byParams: SharedRun | undefined): SharedRun {
  if (byParams !== undefined) return withAdded(byParams, arm);
  const before = known.get(arm);
  if (before?.control === control) return before.shared;
  const shared = sharedByPlans(control, arm);
  known.set(arm, { control, shared });
  return shared;
}
