import type { Advice } from '../../ground/api/component-life.js';
import type { Plan } from './plan.js';

/** What a component of a pipeline advises. */
export interface StepAdvice extends Advice {
  readonly pipeline: string;
  /** The name of the step. */
  readonly step: string;
}

/** What the components of plans advise, in the order of the steps. */
export function adviceOf(plans: Iterable<Plan>): StepAdvice[] {
  return Array.from(plans).flatMap(({ definition, steps }) =>
    steps.flatMap(({ as, component }) =>
      (component.advice ?? []).map((one) => ({ pipeline: definition.name, step: as, ...one })),
    ),
  );
}
