import type { Plan } from '../../compile/plan.js';
import type { LiveExperiments, Rival, ServedArm } from '../../experiments/live-experiments.js';
import { sharedByPlans } from '../../experiments/shared-plans.js';
import type { SharedRun } from '../../experiments/shared-run.js';
import { INTERLEAVED } from '../../../state/ledger/experiment-columns.js';
import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';
import type { Json } from '../../../state/ledger/record-schema.js';
import { objectOf, textOf, versionProblem } from './replay-needs.js';

/** A pipeline of the project, with the experiments that change what it answers. */
export interface ReplayedPipeline {
  readonly name: string;
  readonly plan: Plan;
  readonly experiments: LiveExperiments | undefined;
}

export type ReplayedPipelines = ReadonlyMap<string, ReplayedPipeline>;

/** What runs a logged request again. */
export interface ReplayedArms {
  readonly plan: Plan;
  /** Of an interleaved request. */
  readonly second?: ReplayedSecond;
}

/** The arm that is interleaved with control. */
export interface ReplayedSecond {
  readonly experiment: string;
  readonly arms: Rival['arms'];
  readonly plan: Plan;
  readonly shared: SharedRun;
}

/** The experiments of a logged request, with the arms that served it. */
export function servedArms(record: DecodedRecord): readonly ServedArm[] {
  const [experiments, arms] = ['experiment', 'arm'].map((name) => {
    const value = record.field(name)?.at(0);
    return Array.isArray(value) ? value.map(String) : [];
  });
  return (experiments ?? []).map((experiment, at) => ({ experiment, arm: arms?.[at] ?? '' }));
}

/**
 * Finds the arms that served a request. An arm that changes something must still do the same; other weights, shares and
 * dates do not matter.
 * @param plan of the pipeline that ran, without experiments
 * @returns otherwise why it cannot be replayed
 */
export function replayedArms(
  record: DecodedRecord,
  plan: Plan,
  pipelines: ReplayedPipelines,
): ReplayedArms | string {
  const { meta } = record.schema;
  const logged = objectOf(meta['experiments']);
  const served = servedArms(record).filter(({ experiment, arm }) => changes(logged[experiment], arm));
  if (served.length === 0) return { plan };
  const called = pipelines.get(textOf(meta['experiment_pipeline']));
  const live = called?.experiments;
  const now = live?.described() ?? {};
  for (const { experiment, arm } of served) {
    const problem = armProblem(experiment, arm, logged[experiment], now[experiment]);
    if (problem !== undefined) return problem;
  }
  if (called === undefined || live === undefined) throw new Error('a checked experiment has a pipeline');
  const layers = layerProblem(served, now);
  if (layers !== undefined) return layers;
  const { variant, rival } = live.servedBy(served);
  if (rival === undefined) return { plan: variant.pipeline === undefined ? variant.plan : plan };
  const second = secondOf(rival, called, pipelines, meta['arm_pipelines']);
  return typeof second === 'string' ? second : { plan: variant.plan, second };
}

function secondOf(
  { experiment, arms, variant, shared }: Rival,
  called: ReplayedPipeline,
  pipelines: ReplayedPipelines,
  versions: Json | undefined,
): ReplayedSecond | string {
  const { pipeline } = variant;
  if (shared !== undefined) return { experiment, arms, plan: variant.plan, shared };
  const plan = pipeline === undefined ? undefined : pipelines.get(pipeline)?.plan;
  if (pipeline === undefined || plan === undefined) throw new Error('an arm is a pipeline of the project');
  const { version, models } = objectOf(objectOf(versions)[pipeline]);
  const problem = versionProblem(plan, { version, models });
  if (problem !== undefined) return problem;
  const both = sharedByPlans(called.plan, plan);
  return both.hasReads
    ? { experiment, arms, plan, shared: both }
    : `the arm ${arms[1]} is the pipeline ${pipeline}, which reads values that ${called.name} does not read, so they were not logged`;
}

/** Why an arm is not the one that served a request; undefined if it is. */
function armProblem(
  experiment: string,
  arm: string,
  logged: Json | undefined,
  now: Json | undefined,
): string | undefined {
  const which = `arm ${arm} of the experiment ${experiment}`;
  if (now === undefined) return `the ${which} served them, and the project has no such experiment`;
  const [before, after] = [objectOf(logged), objectOf(now)];
  if (arm === INTERLEAVED && before['mode'] !== after['mode'])
    return `the experiment ${experiment} had the mode ${textOf(before['mode'])} when it served them, and has ${textOf(after['mode'])} now`;
  const armsBefore = objectOf(before['arms']);
  const armsAfter = objectOf(after['arms']);
  const names = arm === INTERLEAVED ? Object.keys(armsBefore) : [arm];
  const gone = names.find((name) => !Object.hasOwn(armsAfter, name));
  if (gone !== undefined)
    return `the arm ${gone} of the experiment ${experiment} served them, and the experiment has no such arm now`;
  for (const name of names) {
    const [was, is] = [changesOf(armsBefore[name]), changesOf(armsAfter[name])];
    if (was !== is)
      return `the arm ${name} of the experiment ${experiment} had ${was} when it served them, and has ${is} now`;
  }
  return undefined;
}

/** Why no request takes part in all the experiments now; undefined if one can. */
function layerProblem(served: readonly ServedArm[], now: Readonly<Record<string, Json>>): string | undefined {
  const layers = new Map<string, string>();
  for (const { experiment } of served) {
    const { layer } = objectOf(now[experiment]);
    const other = layers.get(textOf(layer));
    if (other !== undefined)
      return `the experiments ${other} and ${experiment} both served them, and share the layer ${textOf(layer)} now`;
    layers.set(textOf(layer), experiment);
  }
  return undefined;
}

const NO_CHANGES = 'no changes';

/** Whether an arm of a logged experiment changes what the pipeline answers. Control does not. */
function changes(experiment: Json | undefined, arm: string): boolean {
  return arm === INTERLEAVED || changesOf(objectOf(objectOf(experiment)['arms'])[arm]) !== NO_CHANGES;
}

/** What an arm changes, as YAML would say it. */
function changesOf(arm: Json | undefined): string {
  const { params, pipeline } = objectOf(arm);
  if (pipeline !== undefined) return `pipeline: ${textOf(pipeline)}`;
  const values = Object.entries(objectOf(params)).sort(([one], [other]) => (one < other ? -1 : 1));
  if (values.length === 0) return NO_CHANGES;
  return `params: { ${values.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')} }`;
}
