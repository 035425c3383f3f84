import type { EntityType } from '../../project/config/model/entities.js';
import type { Plan } from '../compile/plan.js';
import type { LiveExperiments } from '../experiments/live-experiments.js';
import { sharedByPlans } from '../experiments/shared-plans.js';
import type { FeatureSources } from '../../state/index/feature-source.js';
import { describePlan } from './explain/describe.js';
import { answerSchema } from './page/answer-schema.js';
import { MisspeltFields, type MisspeltField } from './request/misspelt-fields.js';
import { requestSchema } from './request/request-schema.js';
import { runPipeline, type PipelineExperiments, type PipelineServices } from './run-pipeline.js';
import { readersOf } from './hydrate/source-cells.js';
import { RankingLog, type RecordServices } from './log/ranking-log.js';
import type { Pipeline } from './types.js';

export type MountServices = Omit<PipelineServices, 'experiments' | 'misspelt'> & {
  /** Hears once of each field of requests that is nearly a declared one. */
  readonly onMisspelt?: (pipeline: string, field: MisspeltField) => void;
  readonly sources?: FeatureSources;
  readonly records?: RecordServices;
  readonly live?: ExperimentServices | undefined;
};

/** What a pipeline with experiments needs. */
export interface ExperimentServices {
  readonly live: LiveExperiments;
  readonly isStopped: (experiment: string) => boolean;
  /** The plan of another pipeline, which an arm names. */
  readonly planOf: (pipeline: string) => Plan;
}

/** Combines a plan with the services that run it; the result is mounted at a route. */
export function mountPipeline(
  plan: Plan,
  entities: ReadonlyMap<string, EntityType>,
  services: MountServices,
): Pipeline {
  const { definition } = plan;
  const { live } = services;
  const arms = new Map(live && Array.from(live.live.pipelines, (name) => [name, live.planOf(name)]));
  const called = live && { definition, experiments: live.live, arms };
  const servicesOf = (own: Plan): PipelineServices => {
    const log = services.records && RankingLog.of(own, services.records, called);
    const misspelt = new MisspeltFields(own, (field) => services.onMisspelt?.(own.definition.name, field));
    return { ...services, misspelt, readers: readersOf(own, services.sources), ...(log && { log }) };
  };
  const mounted = { ...servicesOf(plan), experiments: live && experimentsOf(plan, live, arms, servicesOf) };
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

/** Mounts the pipelines that arms name, so that their requests are recorded as those of the pipeline that is called. */
function experimentsOf(
  called: Plan,
  { live, isStopped }: ExperimentServices,
  plans: ReadonlyMap<string, Plan>,
  servicesOf: (plan: Plan) => PipelineServices,
): PipelineExperiments {
  const arms = new Map(
    Array.from(
      plans,
      ([name, plan]) =>
        [name, { plan, services: servicesOf(plan), shared: sharedByPlans(called, plan) }] as const,
    ),
  );
  return {
    choose: (ids, now, { arms: asked }) => live.choose(ids, now, isStopped, asked),
    arm(pipeline) {
      const arm = arms.get(pipeline);
      if (arm === undefined) throw new Error(`no arm names the pipeline ${pipeline}`);
      return arm;
    },
  };
}
