import { withCard, type Cards } from '../../state/index/cards.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { planInService } from '../compile/plan-columns.js';
import type { Plan } from '../compile/plan.js';
import type { LiveExperiments } from '../experiments/live-experiments.js';
import { sharedByPlans } from '../experiments/shared-plans.js';
import type { FeatureSources } from '../../state/index/feature-source.js';
import { describePlan } from './explain/describe.js';
import { answerSchema } from './page/answer-schema.js';
import { addressFields, requestFields } from './request/address-fields.js';
import { MisspeltFields, type MisspeltField } from './request/misspelt-fields.js';
import { requestSchema } from './request/request-schema.js';
import { paramsDiff } from '../../project/config/project/params-diff.js';
import { trialPlan } from '../experiments/trial-plan.js';
import type { PipelineExperiments, PipelineRun, PipelineServices } from './pipeline-services.js';
import { answer } from './run-pipeline.js';
import { readersOf } from './hydrate/source-cells.js';
import { RankingLog, type RecordServices } from './log/ranking-log.js';
import type { Pipeline, RequestContext } from './types.js';

export type MountServices = Omit<PipelineServices, 'experiments' | 'misspelt'> & {
  /** Hears once of each field of requests that is nearly a declared one. */
  readonly onMisspelt?: (pipeline: string, field: MisspeltField) => void;
  readonly sources?: FeatureSources;
  readonly records?: RecordServices;
  readonly live?: ExperimentServices | undefined;
  /** Makes the cards of explained pages. */
  readonly cards?: Cards;
  /** Hears why a page is explained without cards. */
  readonly onNoCards?: (message: string) => void;
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
  const fields = requestFields(definition, entities);
  const { live } = services;
  const arms = new Map(live && Array.from(live.live.pipelines, (name) => [name, live.planOf(name)]));
  const called = live && { definition, experiments: live.live, arms };
  const servicesOf = (own: Plan): PipelineServices => {
    const log = services.records && RankingLog.of(own, services.records, called);
    const misspelt = new MisspeltFields(own, (field) => services.onMisspelt?.(own.definition.name, field));
    return { ...services, misspelt, readers: readersOf(own, services.sources), ...(log && { log }) };
  };
  const mounted = { ...servicesOf(plan), experiments: live && experimentsOf(plan, live, arms, servicesOf) };
  // A preview counts and logs nothing.
  const unheard = {
    onEffectError: undefined,
    onHeld: undefined,
    onRetrieved: undefined,
    misspelt: undefined,
  };
  const silent = { ...mounted, ...unheard };
  return Object.freeze({
    name: definition.name,
    route: definition.route.value,
    task: definition.task,
    ...(definition.task === 'rank' && {
      candidateKey: plan.candidateType.key,
      candidateType: plan.candidateType.name,
    }),
    steps: plan.steps.map(({ as }) => as),
    limitMs: definition.limits.time,
    fields,
    addressFields: definition.retrieve === undefined ? undefined : addressFields(fields, entities),
    requestSchema: requestSchema(definition, entities),
    answerSchema: answerSchema(plan),
    run: (body, context) => {
      const used = context.leavesNothing === true ? silent : mounted;
      const run =
        context.params === undefined
          ? answer(plan, used, body, context)
          : answerTrial(plan, used, { body, context, params: context.params });
      services.usage?.hold(run);
      return run;
    },
    explain: async (body, context) => {
      const { params } = context;
      const run =
        params === undefined
          ? answer(plan, mounted, body, context, true)
          : answerTrial(plan, mounted, { body, context, params, isExplained: true });
      services.usage?.hold(run);
      const { explanation: explained } = await run;
      const explanation =
        explained === undefined || params === undefined
          ? explained
          : { ...explained, params_diff: paramsDiff(definition, params) };
      if (explanation === undefined) throw new Error('the explained run has no explanation');
      if (context.withCards !== true || services.cards === undefined) return explanation;
      const { why, page } = explanation;
      const cards = await services.cards.orNone(
        plan.candidateType.name,
        [...page, ...(why === undefined ? [] : [why])].map(({ candidate_id: id }) => id),
        (message) => services.onNoCards?.(message),
      );
      return {
        ...explanation,
        ...(why === undefined ? {} : { why: withCard(why, why.candidate_id, cards) }),
        page: page.map((one) => withCard(one, one.candidate_id, cards)),
      };
    },
    describe: () => describePlan(planInService(plan, undefined)),
  } satisfies Pipeline);
}

/** A request that asks for other values of params. */
interface Trial {
  readonly body: unknown;
  readonly context: RequestContext;
  readonly params: NonNullable<RequestContext['params']>;
  readonly isExplained?: boolean;
}

async function answerTrial(
  plan: Plan,
  services: PipelineServices,
  { body, context, params, isExplained = false }: Trial,
): Promise<PipelineRun> {
  const trial = await trialPlan(plan, params);
  try {
    return await answer(trial.plan, { ...services, experiments: undefined }, body, context, isExplained);
  } finally {
    await trial.close();
  }
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
    choose: (ids, values, now, { arms: asked }) => live.choose(ids, values, now, isStopped, asked),
    arm(pipeline) {
      const arm = arms.get(pipeline);
      if (arm === undefined) throw new Error(`no arm names the pipeline ${pipeline}`);
      return arm;
    },
  };
}
