import { exploringStep } from '../compile/exploration.js';
import type { Plan } from '../compile/plan.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { ExperimentDefinition } from '../../project/config/model/experiments.js';
import { isMixed } from '../../project/config/model/experiment-modes.js';

/**
 * Reports interleavings whose pipelines draw places. Only compiled steps say whether they do.
 * @param plans by pipeline; those with errors are left out
 */
export function checkDrawnArms(
  experiments: readonly ExperimentDefinition[],
  plans: ReadonlyMap<string, Plan>,
  diagnostics: Diagnostics,
): void {
  for (const { name, pipeline: called, arms, at } of experiments.filter(isMixed)) {
    const pipelines = [called, ...Array.from(arms.values(), ({ pipeline }) => pipeline)];
    for (const pipeline of new Set(pipelines.flatMap((one) => one?.value ?? []))) {
      const found = exploringStep(plans.get(pipeline)?.steps ?? []);
      if (found === undefined) continue;
      const { use, as } = found.step;
      diagnostics.error(
        'invalid_arm',
        at,
        `\`${name}\`: the pipeline \`${pipeline}\` draws places with \`${use}\`, and a page cannot be both drawn and interleaved`,
        `write \`mode: split\`, or take the step \`${as}\` out`,
      );
    }
  }
}
