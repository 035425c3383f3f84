import type { Input } from '../../ground/api/input.js';
import type { Plugin } from '../../ground/api/plugin.js';
import {
  checkOptions,
  type CheckedOptions,
  type OptionPath,
} from '../../project/config/project/check-options.js';
import type { ExpressionMarkScope, ExpressionMarkType } from '../../project/config/project/marks.js';
import type { PipelineDefinition, StepDefinition } from '../../project/config/model/pipelines.js';
import type { Located } from '../../project/config/yaml/source.js';
import type { Kernel } from '../../language/expression/environment.js';
import { bindOptions } from './bind-options.js';
import { compileText, inputOf } from './compile-input.js';
import type { NameUse } from './name-use.js';
import { written, type StepExpression } from './meaning/written.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { OptionFiles } from './option-files.js';
import type { NamedColumn, PlannedStep } from './plan.js';
import { RecordedInputs } from './recorded-inputs.js';
import { nameOf } from './step-order.js';

/** The condition of a step, compiled. */
export interface BoundCondition {
  readonly when: PlannedStep['when'];
  /** The kernels that compute `when`. */
  readonly prepare: readonly Kernel[];
  readonly written: readonly StepExpression[];
}

/** What a step says in the YAML file, compiled. */
export interface BoundStep extends BoundCondition {
  readonly options: BoundOptions;
  /** The kernels that compute the options. */
  readonly inputs: readonly Kernel[];
  readonly computes: readonly NamedColumn[];
  readonly recorded: RecordedInputs;
}

export interface BoundOptions {
  /** The options with their places in the file. */
  readonly checked: CheckedOptions;
  /** The options as `create` takes them. */
  readonly value: unknown;
}

/**
 * Compiles the condition of a step and binds its options.
 * @returns undefined if there were errors, which are reported, or if the step waits for another
 */
export async function bindStep(
  step: StepDefinition,
  index: number,
  { plugin, use, files }: { readonly plugin: Plugin; readonly use: NameUse; readonly files: OptionFiles },
  pipeline: OpenPipeline,
): Promise<BoundStep | undefined> {
  const { definition, names, reads, diagnostics } = pipeline;
  const environment = names.environment(use);
  const label = labelOf(index, definition);
  // A pipeline that scores has one candidate, so its values are values of the request.
  const requestScope = definition.task === 'rank' ? 'request' : 'any';
  const isRetriever = plugin.kind === 'retriever';
  const condition = bindCondition(step, index, use, pipeline);

  const optionTexts: StepExpression[] = [];
  const inputs: Kernel[] = [];
  const computes: NamedColumn[] = [];
  const recorded = new RecordedInputs();
  const bindOption = (
    text: Located<string>,
    type: ExpressionMarkType,
    markedScope: ExpressionMarkScope,
    path: OptionPath,
  ): Input | undefined => {
    // A retriever runs before there are candidates.
    const scope = isRetriever ? 'request' : markedScope === 'request' ? requestScope : markedScope;
    const compiled = compileText(text, { type, scope }, environment, diagnostics);
    if (compiled === undefined) return undefined;
    const { slot, computed, kernels } = compiled;
    optionTexts.push({ ...written(text, compiled), where: path });
    if (computed) computes.push({ name: `${label}:with.${path.join('.')}`, slot });
    inputs.push(...kernels);
    return recorded.addOption(path, text.value, inputOf(compiled, text.value, reads.layout));
  };
  const checked = checkOptions(step.with, plugin.options, diagnostics, step.at, definition.params);
  for (const name of checked?.params ?? []) {
    use.reads.add(name);
    names.params.use(name);
  }
  const value = checked && (await bindOptions(checked, files, bindOption, diagnostics));

  if (checked === undefined || value === undefined || condition === undefined) return undefined;
  const expressions = [...condition.written, ...optionTexts];
  return { ...condition, options: { checked, value }, inputs, computes, recorded, written: expressions };
}

/**
 * Compiles the condition of a step, if it has one.
 * @returns undefined if it has errors, which are reported, or if the step waits for another
 */
export function bindCondition(
  step: StepDefinition,
  index: number,
  use: NameUse,
  { definition, names, diagnostics }: OpenPipeline,
): BoundCondition | undefined {
  const prepare = use.readsScore ? [names.score.copy] : [];
  if (step.when === undefined) return { when: undefined, prepare, written: [] };
  const scope = definition.task === 'rank' ? 'request' : 'any';
  const condition = compileText(step.when, { type: 'bool', scope }, names.environment(use), diagnostics);
  if (condition === undefined) return undefined;
  const { slot, computed, kernels } = condition;
  const label = labelOf(index, definition);
  const computedWhen = computed ? { computes: { name: `${label}:when`, slot } } : {};
  return {
    when: { slot, text: step.when.value, ...computedWhen },
    prepare: [...(use.readsScore ? [names.score.copy] : []), ...kernels],
    written: [{ ...written(step.when, condition), where: 'when' }],
  };
}

/** How explanations name what a step computes: its name, with its number if other steps have the same name. */
function labelOf(index: number, { components }: PipelineDefinition): string {
  const names = components.map(nameOf);
  const name = names[index] ?? '';
  return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}#${index + 1}`;
}
