import type { Exploration } from '../api/ranking-edit.js';
import type { RuleComponent } from '../api/component.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { Plan, PlannedStep } from './plan.js';

/** The step that draws places; undefined if there is none. */
export function exploringStep(
  steps: Plan['steps'],
): { readonly step: PlannedStep; readonly exploration: Exploration } | undefined {
  for (const step of steps) {
    const exploration = step.kind === 'rule' ? (step.component as RuleComponent).explores : undefined;
    if (exploration !== undefined) return { step, exploration };
  }
  return undefined;
}

/** Reports a second step that draws places: the probabilities of both together would not be known. */
export function checkExploration(
  { definition, diagnostics }: OpenPipeline,
  steps: readonly PlannedStep[],
): void {
  const [first, ...others] = steps
    .filter((step) => exploringStep([step]) !== undefined)
    .sort((a, b) => a.number - b.number);
  if (first === undefined) return;
  for (const { number } of others) {
    const written = definition.components[number - 1];
    if (written === undefined) continue;
    diagnostics.error(
      'explored_twice',
      written.use.at,
      `step ${first.number} draws places already, and a pipeline has one such step`,
      'remove one of the two; an experiment with two pipelines can compare them',
    );
  }
}
