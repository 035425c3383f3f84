import { compileStep } from './compile-step.js';
import { NameUse } from './name-use.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { PlannedStep } from './plan.js';
import { nameOf } from './step-order.js';
import type { StepTools } from './step-tools.js';

/**
 * Compiles the steps in the order written. A step that reads an output of a later step waits: the later step is
 * compiled first, then the waiting step again.
 * @returns the steps without errors, in the order that they run
 */
export async function compileSteps(pipeline: OpenPipeline, tools: StepTools): Promise<PlannedStep[]> {
  const { definition, names } = pipeline;
  const { components } = definition;
  const planned: PlannedStep[] = [];
  const done = new Set<number>();
  for (const first of components.keys()) {
    /** Indexes of steps: each waits for the next, and the last is compiled now. */
    const waiting = done.has(first) ? [] : [first];
    while (waiting.length > 0) {
      const index = waiting.at(-1) ?? first;
      const step = components[index];
      if (step === undefined) throw new RangeError(`there is no step ${index}`);
      const use = new NameUse(waiting);
      const compiled = await compileStep(step, index, use, pipeline, tools);
      if (use.waitsFor !== undefined) {
        waiting.push(use.waitsFor);
        continue;
      }
      if (compiled === undefined) names.outputs.addFailed(nameOf(step));
      else planned.push(compiled);
      done.add(index);
      waiting.pop();
    }
  }
  return planned;
}
