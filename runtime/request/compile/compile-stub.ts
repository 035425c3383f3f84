import type { FeatureComponent } from '../../ground/api/component.js';
import type { Plugin } from '../../ground/api/plugin.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { StepDefinition } from '../../project/config/model/pipelines.js';
import { bindCondition, bindStep } from './bind-step.js';
import { allOutputs } from './check-component.js';
import { closeComponents } from './component-life.js';
import { createComponent } from './create-component.js';
import type { NameUse } from './name-use.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { PlannedStep } from './plan.js';
import { nameOf } from './step-order.js';
import type { StepTools, StubOf } from './step-tools.js';

interface StubbedStep {
  readonly plugin: Plugin;
  readonly use: NameUse;
  readonly tools: StepTools;
}

/**
 * Compiles a step whose component is replaced by a stub. The options of the step may be wrong, and the files that they name
 * may be missing. The component of the plugin is created if that works, only to learn which outputs it has.
 * @returns undefined if its condition has errors, which are reported, or if the step waits for another
 */
export async function compileStub(
  step: StepDefinition,
  index: number,
  parts: StubbedStep,
  stub: StubOf,
  pipeline: OpenPipeline,
): Promise<Omit<PlannedStep, 'outputs'> | undefined> {
  const { plugin, use } = parts;
  const condition = bindCondition(step, index, use, pipeline);
  const outputs = await outputsOf(step, index, parts, pipeline);
  if (use.waitsFor !== undefined || condition === undefined) return undefined;
  return {
    number: index + 1,
    use: step.use.value,
    kind: plugin.kind,
    isShipped: true,
    as: nameOf(step),
    component: stub(outputs && allOutputs(outputs, plugin.kind)),
    onError: step.onError,
    top: step.top?.value,
    unscoredLast: false,
    when: condition.when,
    prepare: Object.freeze([...pipeline.names.takeKernels(), ...condition.prepare]),
    inputs: [],
    computes: [],
    needs: new Map(),
    reads: Object.freeze([...use.reads]),
    slots: [],
    readsInteractions: false,
  };
}

/** The outputs that the plugin declares for the step; undefined if the component cannot be created. */
async function outputsOf(
  step: StepDefinition,
  index: number,
  { plugin, use, tools }: StubbedStep,
  pipeline: OpenPipeline,
): Promise<FeatureComponent['outputs'] | undefined> {
  const unseen = { ...pipeline, diagnostics: new Diagnostics() };
  const bound = await bindStep(step, index, { plugin, use, files: tools.files }, unseen);
  if (bound === undefined) return undefined;
  const created = await createComponent({
    ...{ step, plugin, use, tools },
    bound: bound.options,
    pipeline: unseen,
    recorded: bound.recorded,
  });
  if (created === undefined) return undefined;
  await closeComponents([created.component]);
  return (created.component as Partial<FeatureComponent>).outputs;
}
