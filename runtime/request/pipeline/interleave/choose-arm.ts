import { isJsonObject } from '../../../ground/core/value-fit.js';
import { likePlan, planInService } from '../../compile/plan-columns.js';
import type { PipelineExperiments } from '../pipeline-services.js';
import { PlanRun, type OpenedRequest } from '../plan-run.js';
import { setParams } from './arm-frame.js';
import { StageRunner } from '../stage-runner.js';

/**
 * Chooses the arms of a request that was read under the called plan.
 * @returns the run of the arm's plan. If the arm is another pipeline, its plan has to read the body itself
 * @throws MillraceError invalid_header if the request asks for an arm that does not exist
 */
export function chooseArm(
  called: PlanRun,
  { request, frame }: OpenedRequest,
  experiments: PipelineExperiments,
): PlanRun {
  const { services, asked, stages } = called;
  const { context } = asked;
  const carried = request.carried.get('request')?.[0];
  const values = isJsonObject(carried) ? carried : undefined;
  const choice = experiments.choose(request.entityIds, values, frame.now, context);
  if (choice === undefined) return called;
  const { pipeline } = choice.variant;
  if (pipeline === undefined) {
    const plan = likePlan(choice.variant.plan, called.plan);
    setParams(plan, frame);
    const run = new PlanRun(plan, services, asked, stages, choice);
    run.opened = called.opened;
    return run;
  }
  const arm = experiments.arm(pipeline);
  called.plan.frames.release(frame);
  called.opened = undefined;
  const own = { ...context, requestId: request.requestId, deadline: stages.deadline };
  const ownStages = new StageRunner(arm.plan.definition.limits.time, own, arm.services.usage);
  const plan = planInService(arm.plan, context.rules);
  return new PlanRun(plan, arm.services, { ...asked, context: own }, ownStages, choice);
}
