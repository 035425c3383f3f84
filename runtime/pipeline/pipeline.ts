import type { EntityType } from '../config/project/model.js';
import type { Plan } from '../compile/plan.js';
import type { FeatureSources } from '../index/feature-source.js';
import { describePlan } from './explain/describe.js';
import { answerSchema } from './page/answer-schema.js';
import { requestSchema } from './request/request-schema.js';
import { runPipeline, type PipelineServices } from './run-pipeline.js';
import { readersOf } from './hydrate/source-cells.js';
import { RankingLog, type RecordServices } from './log/ranking-log.js';
import type { Pipeline } from './types.js';

/** Combines a plan with the services that run it; the result is mounted at a route. */
export function mountPipeline(
  plan: Plan,
  entities: ReadonlyMap<string, EntityType>,
  services: PipelineServices & { readonly sources?: FeatureSources; readonly records?: RecordServices },
): Pipeline {
  const { definition } = plan;
  const log = services.records && RankingLog.of(plan, services.records);
  const mounted = { ...services, readers: readersOf(plan, services.sources), ...(log && { log }) };
  return Object.freeze({
    name: definition.name,
    route: definition.route.value,
    task: definition.task,
    steps: plan.steps.map(({ as }) => as),
    limitMs: definition.limits.time,
    requestSchema: requestSchema(definition, entities),
    answerSchema: answerSchema(plan),
    run: (body, context) => {
      const run = runPipeline(plan, mounted, body, context);
      services.usage?.hold(run);
      return run;
    },
    explain: async (body, context) => {
      const run = runPipeline(plan, mounted, body, context, true);
      services.usage?.hold(run);
      const { explanation } = await run;
      if (explanation === undefined) throw new Error('the explained run has no explanation');
      return explanation;
    },
    describe: () => describePlan(plan),
  } satisfies Pipeline);
}
