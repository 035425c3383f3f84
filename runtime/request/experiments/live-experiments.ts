import { MillraceError } from '../../ground/api/errors.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { setOf } from '../compile/compile-pipeline.js';
import type { Plan } from '../compile/plan.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import {
  ruleOf,
  type ArmDefinition,
  type ExperimentDefinition,
} from '../../project/config/model/experiments.js';
import { withParams } from '../../project/config/project/param-values.js';
import { INTERLEAVED, type Exclusion } from '../../state/ledger/experiment-columns.js';
import type { JsonObject } from '../../ground/api/types.js';
import { ArmComponents } from './arm-components.js';
import { Assigner } from './assign.js';
import { sharedByParams, type SharedRun } from './shared-run.js';
import { isMixed } from '../../project/config/model/experiment-modes.js';

/** An experiment that a request takes part in. */
export interface TakenArm {
  readonly experiment: string;
  /** INTERLEAVED if the page has candidates of both arms. */
  readonly arm: string;
  /** The entity type of the unit. */
  readonly unitType: string;
  /** Its id; undefined if the request does not name it. */
  readonly unit: string | undefined;
  /** Why the request does not count; undefined if it does. */
  readonly excluded: Exclusion | undefined;
  /** Of `not_interleaved`: what failed. */
  readonly problem?: string;
}

/** A version of a ranking: the plan that runs. */
export interface Variant {
  readonly plan: Plan;
  /** The pipeline that replaces the called one; undefined if it is the called one. */
  readonly pipeline: string | undefined;
}

/** What the experiments of a pipeline make of a request. */
export interface Choice {
  readonly taken: readonly TakenArm[];
  readonly variant: Variant;
  /** The arm that is interleaved with `variant`; undefined if the answer has one arm. */
  readonly rival?: Rival | undefined;
}

/** The second arm of an interleaving. */
export interface Rival {
  readonly experiment: string;
  /** The names of both arms. */
  readonly arms: readonly [control: string, arm: string];
  readonly variant: Variant;
  /** What it shares with control; undefined for an arm that is a pipeline. */
  readonly shared: SharedRun | undefined;
}

/** An experiment of a logged request, and the arm that served it. */
export interface ServedArm {
  readonly experiment: string;
  readonly arm: string;
}

/** The arm that a header asks for, by experiment. */
export type ArmOverrides = ReadonlyMap<string, string>;

interface LiveExperiment {
  readonly definition: ExperimentDefinition;
  readonly assigner: Assigner;
  readonly arms: readonly ArmDefinition[];
  readonly unitType: string;
  /** Of an interleaving of params: what the second arm shares with control. */
  readonly shared: SharedRun | undefined;
}

/** The experiments of one pipeline, compiled: all arms share one plan, or are pipelines of their own. */
export class LiveExperiments {
  readonly #plan: Plan;
  readonly #experiments: readonly LiveExperiment[];
  readonly #components: ArmComponents;
  /** By the arms. */
  readonly #variants = new Map<string, Plan>();
  /** The second arms of requests that no other experiment changes. */
  readonly #rivals = new Map<LiveExperiment, Rival>();
  readonly #unchanged: Variant;

  private constructor(plan: Plan, experiments: readonly ExperimentDefinition[], components: ArmComponents) {
    this.#plan = plan;
    this.#unchanged = { plan, pipeline: undefined };
    this.#components = components;
    this.#experiments = experiments.map((definition) => {
      const { name, layer, share, offset, arms, unit } = definition;
      const field = plan.definition.request.fields.get(unit.value);
      return {
        definition,
        arms: [...arms.values()],
        assigner: new Assigner({ name, layer: layer.value, share, offset, arms: [...arms.values()] }),
        unitType: field?.kind === 'entity' ? field.entity : unit.value,
        shared: isMixed(definition) ? sharedByParams(plan, changedParams([definition])) : undefined,
      };
    });
  }

  /**
   * Compiles the arms of experiments, and warms up their components.
   * @param plan of the pipeline, in which the params of the arms are open
   */
  static async compile(
    plan: Plan,
    experiments: readonly ExperimentDefinition[],
    diagnostics: Diagnostics,
  ): Promise<LiveExperiments> {
    return new LiveExperiments(plan, experiments, await ArmComponents.create(plan, experiments, diagnostics));
  }

  /** The definitions, in the order of their files. */
  get definitions(): readonly ExperimentDefinition[] {
    return this.#experiments.map(({ definition }) => definition);
  }

  /** The pipelines that arms name. */
  get pipelines(): ReadonlySet<string> {
    return new Set(
      this.#experiments.flatMap(({ arms }) => arms.flatMap(({ pipeline }) => pipeline?.value ?? [])),
    );
  }

  /**
   * Chooses the arms of a request.
   * @param ids of the request's entities, by field
   * @param values of the request itself, by field
   * @param now epoch milliseconds
   * @param isStopped whether an experiment was stopped
   * @returns undefined if no experiment is active for the request
   * @throws MillraceError invalid_header if the overrides name what does not exist, or two experiments of one layer
   */
  choose(
    ids: ReadonlyMap<string, string>,
    values: JsonObject | undefined,
    now: number,
    isStopped: (experiment: string) => boolean,
    overrides?: ArmOverrides,
  ): Choice | undefined {
    const forcedLayers = overrides && this.#layersOf(overrides);
    // A request whose arm somebody chose is no sample of the users, for any of its experiments.
    const asked = forcedLayers === undefined ? undefined : 'override';
    let taken: TakenArm[] | undefined;
    let changes: ArmDefinition[] | undefined;
    let second: LiveExperiment | undefined;
    for (const live of this.#experiments) {
      const { definition, assigner, arms, unitType } = live;
      const { name, from, until } = definition;
      if ((from !== undefined && now < from) || (until !== undefined && now >= until) || isStopped(name))
        continue;
      const unit = ids.get(definition.unit.value);
      const forced = overrides?.get(name);
      if (forced === undefined && forcedLayers?.has(definition.layer.value) === true) continue;
      let index = 0;
      let fault: Exclusion | undefined = unit === undefined ? 'no_unit' : undefined;
      if (forced !== undefined) index = arms.findIndex((arm) => arm.name === forced);
      else if (definition.assign !== undefined) {
        const named = values?.[definition.assign.value] ?? undefined;
        index = arms.findIndex((arm) => arm.name === named);
        if (index === -1) [index, fault] = [0, named === undefined ? 'no_variant' : 'unknown_variant'];
      } else if (unit !== undefined) {
        if (!assigner.takesPart(unit)) continue;
        if (isMixed(definition)) {
          second = live;
          (taken ??= []).push({ experiment: name, arm: INTERLEAVED, unitType, unit, excluded: asked });
          continue;
        }
        index = assigner.drawnArm(unit);
      }
      const arm = arms[index];
      if (arm === undefined) continue;
      (taken ??= []).push({ experiment: name, arm: arm.name, unitType, unit, excluded: asked ?? fault });
      if (arm.params.size > 0 || arm.pipeline !== undefined) (changes ??= []).push(arm);
    }
    if (taken === undefined) return undefined;
    const variant = changes === undefined ? this.#unchanged : this.#variant(changes);
    return second === undefined
      ? { taken, variant }
      : { taken, variant, rival: this.#rival(second, changes) };
  }

  /**
   * The plans of the arms that served a request.
   * @param served experiments and arms that exist; those that change something have different layers
   */
  servedBy(served: readonly ServedArm[]): Pick<Choice, 'variant' | 'rival'> {
    const changes: ArmDefinition[] = [];
    let second: LiveExperiment | undefined;
    for (const { experiment, arm: name } of served) {
      const live = this.#experiments.find(({ definition }) => definition.name === experiment);
      if (live === undefined) throw new Error(`there is no experiment ${experiment}`);
      const arm = live.arms.find((one) => one.name === name);
      if (name === INTERLEAVED) second = live;
      else if (arm === undefined) throw new Error(`the experiment ${experiment} has no arm ${name}`);
      else if (arm.params.size > 0 || arm.pipeline !== undefined) changes.push(arm);
    }
    const variant = this.#variant(changes);
    return second === undefined ? { variant } : { variant, rival: this.#rival(second, changes) };
  }

  /** @param changes of the other experiments of the request, which both arms have */
  #rival(live: LiveExperiment, changes: readonly ArmDefinition[] = []): Rival {
    const known = changes.length === 0 ? this.#rivals.get(live) : undefined;
    if (known !== undefined) return known;
    const { definition, arms, shared } = live;
    const [control, arm] = arms;
    if (control === undefined || arm === undefined) throw new Error('an interleaving has two arms');
    const rival = {
      experiment: definition.name,
      arms: [control.name, arm.name],
      variant: this.#variant([...changes, arm]),
      shared: arm.pipeline === undefined ? shared : undefined,
    } satisfies Rival;
    if (changes.length === 0) this.#rivals.set(live, rival);
    return rival;
  }

  /** What the schema of records says about the experiments. */
  described(): JsonObject {
    return Object.fromEntries(
      this.definitions.map(({ name, mode, unit, assign, layer, share, arms, metrics }) => [
        name,
        {
          mode,
          unit: unit.value,
          layer: layer.value,
          share,
          ...(assign === undefined ? {} : { assign: assign.value }),
          ...(metrics === undefined ? {} : { metrics: ruleOf(metrics) }),
          arms: Object.fromEntries(
            [...arms.values()].map(({ name: arm, weight, params, pipeline }) => [
              arm,
              {
                weight,
                ...(params.size === 0
                  ? {}
                  : { params: Object.fromEntries([...params].map(([param, { value }]) => [param, value])) }),
                ...(pipeline === undefined ? {} : { pipeline: pipeline.value }),
              },
            ]),
          ),
        },
      ]),
    );
  }

  close(): Promise<unknown[]> {
    return this.#components.close();
  }

  /** The layers of the experiments that overrides name. */
  #layersOf(overrides: ArmOverrides): ReadonlySet<string> {
    const layers = new Set<string>();
    for (const [name, arm] of overrides) {
      const live = this.#experiments.find(({ definition }) => definition.name === name);
      const known =
        live === undefined ? this.definitions.map((one) => one.name) : live.arms.map((one) => one.name);
      const asked = live === undefined ? name : arm;
      if (!known.includes(asked)) {
        const what =
          live === undefined ? 'the pipeline has no experiment' : `the experiment ${name} has no arm`;
        throw new MillraceError(
          'invalid_header',
          `Millrace-Experiment: ${what} ${asked.slice(0, 100)}; ${didYouMean(asked, known, AS_WORD) ?? `it has ${known.join(', ')}`}`,
        );
      }
      const layer = live?.definition.layer.value ?? '';
      if (layers.has(layer))
        throw new MillraceError(
          'invalid_header',
          `Millrace-Experiment: a request takes part in one experiment of the layer ${layer}`,
        );
      layers.add(layer);
    }
    return layers;
  }

  /** Layers keep arms apart that name a pipeline, so at most one does. */
  #variant(arms: readonly ArmDefinition[]): Variant {
    const pipeline = arms.find((arm) => arm.pipeline !== undefined)?.pipeline?.value;
    const values = new Map(
      arms.flatMap(({ params }) => [...params].map(([name, { value }]) => [name, value] as const)),
    );
    if (pipeline !== undefined || values.size === 0) return { plan: this.#plan, pipeline };
    const key = JSON.stringify([...values]);
    let plan = this.#variants.get(key);
    if (plan === undefined) this.#variants.set(key, (plan = this.#planWith(values)));
    return { plan, pipeline };
  }

  /** The same plan with other values. It shares everything else, so the frames of one fit the other. */
  #planWith(values: ReadonlyMap<string, number>): Plan {
    const { definition, steps, open } = this.#plan;
    if (open === undefined) throw new Error('no param of the plan is open');
    const changed = withParams(definition, values);
    return Object.freeze({
      ...this.#plan,
      definition: changed,
      steps: Object.freeze(steps.map((step) => this.#components.step(step, values))),
      open: Object.freeze({ ...open, set: setOf(changed, open.slots) }),
    });
  }
}

/** For a pipeline without experiments. @throws MillraceError invalid_header if the request asks for an arm */
export function refuseArms(overrides: ArmOverrides | undefined): void {
  for (const name of overrides?.keys() ?? [])
    throw new MillraceError(
      'invalid_header',
      `Millrace-Experiment: the pipeline has no experiment ${name.slice(0, 100)}; it has none`,
    );
}

/** The params of a pipeline that the arms of its experiments change. */
export function changedParams(experiments: readonly ExperimentDefinition[]): ReadonlySet<string> {
  return new Set(
    experiments.flatMap(({ arms }) => [...arms.values()].flatMap(({ params }) => [...params.keys()])),
  );
}
