import type {
  Component,
  FeatureComponent,
  ModelComponent,
  RuleComponent,
} from '../../ground/api/component.js';
import type { Plugin } from '../../ground/api/plugin.js';
import type { StepDefinition } from '../../project/config/model/pipelines.js';
import { bindStep } from './bind-step.js';
import { allOutputs } from './check-component.js';
import { createComponent } from './create-component.js';
import { rebuildOf } from './rebuild-step.js';
import { compileStub } from './compile-stub.js';
import { findPlugin } from './find-plugin.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { NameUse } from './name-use.js';
import type { PlannedStep } from './plan.js';
import { nameOf } from './step-order.js';
import type { StepTools } from './step-tools.js';

/**
 * Compiles one step: its expressions and options are bound, its component is created, its outputs get columns.
 * @param use notes what the step uses by name
 * @returns undefined if the step has errors, which are reported, or if `use` says that it waits for another step
 */
export async function compileStep(
  step: StepDefinition,
  index: number,
  use: NameUse,
  pipeline: OpenPipeline,
  tools: StepTools,
): Promise<PlannedStep | undefined> {
  const plugin = findPlugin(step, pipeline, tools.plugins);
  if (plugin === undefined) return undefined;
  const stub = tools.stubs?.get(nameOf(step));
  if (stub !== undefined) {
    const stubbed = await compileStub(step, index, { plugin, use, tools }, stub, pipeline);
    return (
      stubbed &&
      Object.freeze({
        ...stubbed,
        outputs: declareOutputs(step, stubbed.component, plugin.kind, pipeline),
      })
    );
  }
  const bound = await bindStep(step, index, { plugin, use, files: tools.files }, pipeline);
  if (bound === undefined) return undefined;
  const created = await createComponent({
    ...{ step, plugin, use, pipeline, tools },
    bound: bound.options,
    recorded: bound.recorded,
  });
  if (created === undefined) return undefined;

  checkUnscored(step, created.component, pipeline);
  pipeline.written.set(index, bound.written);
  const { checked } = bound.options;
  pipeline.places.set(index, { locate: (path) => checked.locate(path), rules: created.rules });
  const { names } = pipeline;
  const { component, needs } = created;
  const outputs = declareOutputs(step, component, plugin.kind, pipeline);
  return Object.freeze({
    number: index + 1,
    use: step.use.value,
    kind: plugin.kind,
    isShipped: tools.plugins.isShipped(plugin.name),
    as: nameOf(step),
    component,
    ...versionOf(component),
    onError: step.onError,
    top: step.top?.value,
    unscoredLast: step.unscored?.value === 'last',
    when: bound.when,
    prepare: Object.freeze([...names.takeKernels(), ...bound.prepare]),
    inputs: Object.freeze([
      ...(use.readsScore ? [names.score.copy] : []),
      ...bound.inputs,
      ...created.inputs,
    ]),
    computes: Object.freeze(bound.computes),
    outputs,
    needs,
    reads: Object.freeze([...use.reads]),
    slots: bound.recorded.slots,
    readsInteractions: bound.recorded.hasInteractions,
    ...rebuildOf(step, plugin, bound, pipeline, tools),
  });
}

/** `unscored:` is for steps that set the score. */
function checkUnscored(
  { use, unscored }: StepDefinition,
  component: Component,
  { definition, diagnostics }: OpenPipeline,
): void {
  if (unscored === undefined) return;
  if (definition.task !== 'rank') {
    const message = `\`${definition.name}\` scores rows and orders nothing, so \`unscored\` does nothing`;
    diagnostics.error('unknown_key', unscored.at, message, 'remove it');
  } else if ((component as RuleComponent).scoring !== 'sets') {
    const message = `\`${use.value}\` does not set the score, so it leaves no candidate without one`;
    diagnostics.error('unknown_key', unscored.at, message, 'write `unscored:` at the step `score`');
  }
}

/** Gives the outputs of a component their columns. From now on other steps can read them. */
function declareOutputs(
  step: StepDefinition,
  component: Component,
  kind: Plugin['kind'],
  { definition, names, reads, diagnostics }: OpenPipeline,
): ReadonlyMap<string, number> {
  const { outputs: own } = component as Partial<FeatureComponent>;
  if (own === undefined) return new Map();
  const outputs = allOutputs(own, kind);
  const as = nameOf(step);
  const taken = names.isTaken(as);
  if (taken === undefined) return names.outputs.add(as, outputs, reads.layout);
  const what = kind === 'retriever' ? 'retriever' : 'step';
  const isRetriever = definition.retrieve?.retrievers.some((other) => nameOf(other) === as) ?? false;
  diagnostics.error(
    'duplicate_name',
    (step.as ?? step.use).at,
    `\`${as}\` is already the name of ${taken === 'output' ? `an earlier ${isRetriever ? 'retriever' : what}` : 'a feature view'}`,
    `give this ${what} a name of its own with \`as:\``,
  );
  return new Map();
}

function versionOf(component: Component): { readonly version?: string } {
  const { version } = component as Partial<ModelComponent>;
  return version === undefined ? {} : { version };
}
