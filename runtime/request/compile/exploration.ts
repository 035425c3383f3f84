import type { DeclaredExploration } from '../../ground/api/ranking-edit.js';
import type { RuleComponent } from '../../ground/api/component.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { Plan, PlannedStep } from './plan.js';

/** The step that draws places; undefined if there is none. */
export function exploringStep(
  steps: Plan['steps'],
): { readonly step: PlannedStep; readonly exploration: DeclaredExploration } | undefined {
  for (const step of steps) {
    const exploration = step.kind === 'rule' ? (step.component as RuleComponent).explores : undefined;
    if (exploration !== undefined) return { step, exploration };
  }
  return undefined;
}

/**
 * Reports a second step that draws places: the probabilities of both together would not be known. Warns of steps that
 * arrange places that are drawn afterwards.
 */
export function checkExploration(pipeline: OpenPipeline, steps: readonly PlannedStep[]): void {
  const { definition, diagnostics } = pipeline;
  const [first, ...others] = steps
    .filter((step) => exploringStep([step]) !== undefined)
    .sort((a, b) => a.number - b.number);
  const found = first && exploringStep([first]);
  if (found === undefined) return;
  warnOfBounds(pipeline, steps, found);
  for (const { number } of others) {
    const written = definition.components[number - 1];
    if (written === undefined) continue;
    diagnostics.error(
      'explored_twice',
      written.use.at,
      `step ${found.step.number} draws places already, and a pipeline has one such step`,
      'remove one of the two; an experiment with two pipelines can compare them',
    );
  }
}

/** The draw comes after all rules. It keeps which candidates have the first places, so bounds of a page hold on one page. */
function warnOfBounds(
  { definition, diagnostics }: OpenPipeline,
  steps: readonly PlannedStep[],
  { step: drawing, exploration: { top } }: NonNullable<ReturnType<typeof exploringStep>>,
): void {
  const at = definition.components[drawing.number - 1]?.use.at;
  if (at === undefined) return;
  const { size } = definition.page;
  for (const { kind, component, number, as } of steps) {
    const arranges = kind === 'rule' ? (component as RuleComponent).arranges : undefined;
    if (arranges === undefined || (arranges === 'page' && top <= size)) continue;
    diagnostics.warning(
      'explored_bounds',
      at,
      `the order of the first ${top} places is drawn after all rules, so what step ${number}, \`${as}\`, arranges can be broken there`,
      arranges === 'page'
        ? `choose a \`top\` of at most ${size}, the size of a page`
        : 'draw fewer places, or take one of the two steps out; a `limit` that counts `within: page` holds',
    );
  }
}
