import { soon } from '../../../ground/core/pieces.js';
import type { Plan } from '../../compile/plan.js';
import { draftCoins } from '../../experiments/draft-coins.js';
import type { Rival } from '../../experiments/live-experiments.js';
import type { SharedRun } from '../../experiments/shared-run.js';
import type { ResidentTables } from '../../resident/resident-tables.js';
import { fetchFeatures } from '../features/fetch-features.js';
import { hydrate } from '../hydrate/hydrate.js';
import type { ReadServices } from '../hydrate/read-services.js';
import { ResidentSession } from '../hydrate/resident-session.js';
import type { SourceReaders } from '../hydrate/source-cells.js';
import { openRequest, type OpenedRequest } from '../request/open-request.js';
import type { SecondArm } from './run-interleaved.js';

/** A plan that runs beside that of control. */
export interface ArmPlan {
  readonly plan: Plan;
  readonly shared: SharedRun;
  readonly resident: ResidentTables | undefined;
  readonly readers: SourceReaders | undefined;
}

/**
 * The second arm of a request.
 * @param body as sent, for an arm that needs reads of its own
 * @param reads of control. Each key is read once for both arms
 */
export function secondArm(
  { experiment, arms: [, arm] }: Pick<Rival, 'experiment' | 'arms'>,
  { plan, shared, resident, readers }: ArmPlan,
  { request, frame, body: indexed }: OpenedRequest,
  body: unknown,
  reads: ReadServices,
): SecondArm {
  if (!shared.hasReads) reads.batch.rememberAll();
  return {
    name: `${experiment}=${arm}`,
    plan,
    shared,
    coin: draftCoins(experiment, request.requestId),
    read: async (deadline) => {
      const opening = openRequest(plan, indexed ?? body, request.requestId, () => frame.now, frame.rulesAt);
      const own = await soon(opening, () => deadline.check());
      const session = resident && new ResidentSession(resident);
      const services = { ...reads, resident: session, readers };
      try {
        await fetchFeatures(plan, own.frame, await hydrate(plan, own.frame, own.request, services), services);
      } finally {
        session?.end();
      }
      return own.frame;
    },
  };
}
