import type { Component } from '../../ground/api/component.js';
import { closeComponents } from '../compile/component-life.js';
import type { Plan, PlannedStep } from '../compile/plan.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { ExperimentDefinition } from '../../project/config/model/experiments.js';

/** Values by param. */
export type ParamValues = ReadonlyMap<string, number>;

/** The most components that the arms of a pipeline's experiments need for one step. */
const MOST_COMPONENTS = 64;

/** The components of steps whose options name params that arms change, one for each combination of values. */
export class ArmComponents {
  readonly #built = new Map<PlannedStep, Map<string, Component>>();

  /** Creates and warms up the components. Values that a plugin refuses are errors at the experiments. */
  static async create(
    plan: Plan,
    experiments: readonly ExperimentDefinition[],
    diagnostics: Diagnostics,
  ): Promise<ArmComponents> {
    const components = new ArmComponents();
    for (const step of plan.steps) {
      const { rebuild } = step;
      if (rebuild === undefined) continue;
      const own = experiments.filter(({ arms }) =>
        [...arms.values()].some(({ params }) => [...params.keys()].some((name) => rebuild.params.has(name))),
      );
      const [first] = own;
      if (first === undefined) continue;
      const built = new Map<string, Component>();
      components.#built.set(step, built);
      const combinations = combinationsOf(own, rebuild.params);
      if (combinations.length > MOST_COMPONENTS) {
        diagnostics.error(
          'invalid_arm',
          first.at,
          `the arms need ${combinations.length} versions of the step \`${step.as}\`, more than ${MOST_COMPONENTS}`,
          'put these experiments into one layer',
        );
        continue;
      }
      for (const values of combinations) {
        const key = keyOf(values);
        if (values.size === 0 || built.has(key)) continue;
        try {
          const component = await rebuild.create(values);
          built.set(key, component);
          await component.warm?.({ warn: () => undefined });
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          diagnostics.error(
            'invalid_arm',
            first.at,
            `the step \`${step.as}\` refuses the values of an arm: ${reason}`,
          );
        }
      }
    }
    return components;
  }

  /** The step with other values of params. */
  step(step: PlannedStep, values: ParamValues): PlannedStep {
    const { rebuild } = step;
    if (rebuild === undefined) return step;
    const own = new Map([...values].filter(([name]) => rebuild.params.has(name)));
    if (own.size === 0) return step;
    const component = this.#built.get(step)?.get(keyOf(own));
    if (component === undefined) throw new Error(`the step ${step.as} was not compiled for ${keyOf(own)}`);
    return Object.freeze({ ...step, component });
  }

  async close(): Promise<unknown[]> {
    const all = [...this.#built.values()].flatMap((built) => [...built.values()]);
    this.#built.clear();
    return closeComponents(all);
  }
}

/** The values of the params for each choice of arms. Experiments of one layer exclude one another. */
function combinationsOf(
  experiments: readonly ExperimentDefinition[],
  params: ReadonlySet<string>,
): ParamValues[] {
  const layers = new Map<string, ParamValues[]>();
  for (const { layer, arms } of experiments) {
    const choices = layers.get(layer.value) ?? [new Map<string, number>()];
    for (const arm of arms.values())
      choices.push(
        new Map([...arm.params].flatMap(([name, { value }]) => (params.has(name) ? [[name, value]] : []))),
      );
    layers.set(layer.value, choices);
  }
  let all: ParamValues[] = [new Map()];
  for (const choices of layers.values())
    all = all.flatMap((before) => choices.map((choice) => new Map([...before, ...choice])));
  return [...new Map(all.map((values) => [keyOf(values), values])).values()];
}

function keyOf(values: ParamValues): string {
  return JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}
