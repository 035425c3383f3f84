import type { EntityType } from '../config/model.js';
import type { Plan } from '../compile/plan.js';
import { describePlan } from './describe.js';
import { answerSchema, requestSchema } from './request-schema.js';
import { runPipeline, type PipelineServices } from './run-pipeline.js';
import type { Pipeline } from './types.js';

/** A plan together with the services that run it: what is mounted at a route. */
export function mountPipeline(
  plan: Plan,
  entities: ReadonlyMap<string, EntityType>,
  services: PipelineServices,
): Pipeline {
  const { definition } = plan;
  return Object.freeze({
    name: definition.name,
    route: definition.route.value,
    requestSchema: requestSchema(definition, entities),
    answerSchema: answerSchema(),
    run: (body, context) => runPipeline(plan, services, body, context),
    describe: () => describePlan(plan),
  } satisfies Pipeline);
}
