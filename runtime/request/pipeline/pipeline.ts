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
import type { PipelineParams } from '../../project/config/project/param-values.js';
import { MillraceError } from '../../ground/api/errors.js';
import type { Explanation } from './explain/explanation.js';
import { paramsDiff } from '../../project/config/project/params-diff.js';
import { changedParams, trialPlan } from '../experiments/trial-plan.js';
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
  /** Runs work on the pipeline with open params, if its plan has fixed ones. */
  readonly trial?: <T>(pipeline: string, work: (pipeline: Pipeline) => Promise<T>) => Promise<T>;
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
  const held = (run: Promise<PipelineRun>): Promise<PipelineRun> => {
    services.usage?.hold(run);
    return run;
  };
  const tried = tryParams(plan, services);
  const explained = explainer(plan, services, held);
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
      if (context.params === undefined) return held(answer(plan, used, body, context));
      return tried(context, {
        here: (changed) => held(answerTrial(plan, used, { body, context, changed })),
        there: (pipeline) => pipeline.run(body, context),
      });
    },
    explain: (body, context) =>
      context.params === undefined
        ? explained((own) => answer(plan, mounted, body, own, true), context)
        : tried(context, {
            here: (changed) =>
              explained(
                (own) => answerTrial(plan, mounted, { body, context: own, changed, isExplained: true }),
                context,
              ),
            there: (pipeline) => pipeline.explain(body, context),
          }),
    describe: () => describePlan(planInService(plan, undefined)),
  } satisfies Pipeline);
}

/** Makes explanations of the runs of a plan, with the cards of the page if they are asked for. */
function explainer(
  { definition, candidateType }: Plan,
  { cards: makes, onNoCards }: Pick<MountServices, 'cards' | 'onNoCards'>,
  held: (run: Promise<PipelineRun>) => Promise<PipelineRun>,
) {
  return async (
    run: (context: RequestContext) => Promise<PipelineRun>,
    context: RequestContext,
  ): Promise<Explanation> => {
    const { params, rules } = context;
    const heard = new Set<string>();
    const hear = (names: readonly string[]): void => names.forEach((name) => heard.add(name));
    const { explanation: found } = await held(
      run(rules === undefined ? context : { ...context, heard: hear }),
    );
    if (found === undefined) throw new Error('the explained run has no explanation');
    const explanation = {
      ...found,
      ...(params === undefined ? {} : { params_diff: paramsDiff(definition, params) }),
      ...(rules === undefined ? {} : { heard: [...heard] }),
    };
    if (context.withCards !== true || makes === undefined) return explanation;
    const { why, page } = explanation;
    const cards = await makes.orNone(
      candidateType.name,
      [...page, ...(why === undefined ? [] : [why])].map(({ candidate_id: id }) => id),
      (message) => onNoCards?.(message),
    );
    return {
      ...explanation,
      ...(why === undefined ? {} : { why: withCard(why, why.candidate_id, cards) }),
      page: page.map((one) => withCard(one, one.candidate_id, cards)),
    };
  };
}

/** How a request with other values of params runs: here, or on the same pipeline with open params. */
interface Tries<T> {
  readonly here: (changed: PipelineParams) => Promise<T>;
  readonly there: (pipeline: Pipeline) => Promise<T>;
}

/** @returns what throws MillraceError invalid_body, comparisons_elsewhere; overloaded while the pipeline is compiled */
function tryParams(plan: Plan, { trial }: Pick<MountServices, 'trial'>) {
  return async <T>({ params, rules }: RequestContext, { here, there }: Tries<T>): Promise<T> => {
    const changed = changedParams(plan, params ?? new Map<string, number>());
    if (changed.size === 0 || plan.open?.isWhole === true) return await here(changed);
    if (trial === undefined) throw new Error(`the params of ${plan.definition.name} are fixed`);
    if (rules === undefined) return await trial(plan.definition.name, there);
    throw new MillraceError(
      'invalid_body',
      'the parameters draft and param: a service that ranks tries params without drafts; send one of them',
    );
  };
}

/** A request that asks for other values of params. */
interface Trial {
  readonly body: unknown;
  readonly context: RequestContext;
  readonly changed: PipelineParams;
  readonly isExplained?: boolean;
}

async function answerTrial(
  plan: Plan,
  services: PipelineServices,
  { body, context, changed, isExplained = false }: Trial,
): Promise<PipelineRun> {
  const trial = await trialPlan(plan, changed);
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
