import { MillraceError } from '../../ground/api/errors.js';
import { paramProblem, withParams, type PipelineParams } from '../../project/config/project/param-values.js';
import type { Component } from '../../ground/api/component.js';
import { closeComponents } from '../compile/component-life.js';
import { setOf } from '../compile/compile-pipeline.js';
import type { Plan, PlannedStep } from '../compile/plan.js';

/** A plan with other values of some params, for one request. */
export interface TrialPlan {
  readonly plan: Plan;
  /** Ends the components that were made for it. */
  close(): Promise<unknown>;
}

/**
 * The values that differ from those of the plan.
 * @throws MillraceError invalid_body if a param does not take its value
 */
export function changedParams({ definition }: Plan, values: PipelineParams): PipelineParams {
  for (const [name, value] of values) {
    const problem = paramProblem(definition, name, value);
    if (problem === undefined) continue;
    const help = problem.help === undefined ? '' : `; ${problem.help}`;
    throw new MillraceError(
      'invalid_body',
      `the parameter param: ${problem.message}${help}`.replaceAll('`', ''),
    );
  }
  return new Map([...values].filter(([name, value]) => definition.params.get(name)?.value !== value));
}

/**
 * Makes a plan with other values of some params. It shares everything else with the plan, so the frames of one fit the other.
 * @param changed see `changedParams`; the plan keeps its params open if there are some
 * @throws MillraceError invalid_body if a retriever uses the param, or if a plugin refuses its value
 */
export async function trialPlan(plan: Plan, changed: PipelineParams): Promise<TrialPlan> {
  const { definition, open } = plan;
  if (changed.size === 0) return { plan, close: () => Promise.resolve() };
  if (open === undefined) throw new Error(`the params of ${definition.name} are fixed`);
  const fixed = [...changed.keys()].find((name) => open.fixed.includes(name));
  if (fixed !== undefined)
    throw new MillraceError(
      'invalid_body',
      `the parameter param: retrieve or merge uses ${fixed}, and retrievers have one value of it; write the number into the file`,
    );
  const made: Component[] = [];
  try {
    const own = withParams(definition, changed);
    const steps: PlannedStep[] = [];
    for (const step of plan.steps) steps.push(await rebuilt(step, changed, made));
    const trial = Object.freeze({
      ...plan,
      definition: own,
      steps: Object.freeze(steps),
      open: Object.freeze({ ...open, set: setOf(own, open.slots) }),
    });
    return { plan: trial, close: () => closeComponents(made) };
  } catch (error) {
    await closeComponents(made);
    throw error;
  }
}

/** The step with a component that has the values in its options. */
async function rebuilt(step: PlannedStep, values: PipelineParams, made: Component[]): Promise<PlannedStep> {
  const { rebuild } = step;
  const own = new Map([...values].filter(([name]) => rebuild?.params.has(name) === true));
  if (rebuild === undefined || own.size === 0) return step;
  try {
    const component = await rebuild.create(own);
    made.push(component);
    await component.warm?.({ warn: () => undefined });
    return Object.freeze({ ...step, component });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new MillraceError(
      'invalid_body',
      `the parameter param: the step ${step.as} refuses the value: ${reason}`,
    );
  }
}
