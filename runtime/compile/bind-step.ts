import type { Input } from '../api/input.js';
import type { Plugin } from '../api/plugin.js';
import { checkOptions, type CheckedOptions, type OptionPath } from '../config/project/check-options.js';
import type { ExpressionMarkScope, ExpressionMarkType } from '../config/project/marks.js';
import type { PipelineDefinition, StepDefinition } from '../config/project/model.js';
import type { Located } from '../config/yaml/source.js';
import type { Kernel } from '../expression/environment.js';
import { bindOptions } from './bind-options.js';
import { compileText, inputOf } from './compile-input.js';
import type { NameUse } from './name-use.js';
import { written, type StepExpression } from './meaning/written.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { OptionFiles } from './option-files.js';
import type { NamedColumn, PlannedStep } from './plan.js';
import { RecordedInputs } from './recorded-inputs.js';
import { nameOf } from './step-order.js';

/** What a step says in the YAML file, compiled. */
export interface BoundStep {
  readonly when: PlannedStep['when'];
  readonly options: BoundOptions;
  /** The kernels that compute `when`. */
  readonly prepare: readonly Kernel[];
  /** The kernels that compute the options. */
  readonly inputs: readonly Kernel[];
  readonly computes: readonly NamedColumn[];
  readonly recorded: RecordedInputs;
  readonly written: readonly StepExpression[];
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
  plugin: Plugin,
  use: NameUse,
  { definition, names, reads, diagnostics }: OpenPipeline,
  files: OptionFiles,
): Promise<BoundStep | undefined> {
  const environment = names.environment(use);
  const label = labelOf(index, definition);
  // A pipeline that scores has one candidate, so its values are values of the request.
  const requestScope = definition.task === 'rank' ? 'request' : 'any';

  const condition =
    step.when && compileText(step.when, { type: 'bool', scope: requestScope }, environment, diagnostics);
  const prepare = [...(use.readsScore ? [names.score.copy] : []), ...(condition?.kernels ?? [])];

  const expressions: StepExpression[] =
    step.when === undefined || condition === undefined
      ? []
      : [{ ...written(step.when, condition), where: 'when' }];
  const inputs: Kernel[] = [];
  const computes: NamedColumn[] = [];
  const recorded = new RecordedInputs();
  const bindOption = (
    text: Located<string>,
    type: ExpressionMarkType,
    markedScope: ExpressionMarkScope,
    path: OptionPath,
  ): Input | undefined => {
    const scope = markedScope === 'request' ? requestScope : markedScope;
    const compiled = compileText(text, { type, scope }, environment, diagnostics);
    if (compiled === undefined) return undefined;
    const { slot, computed, kernels } = compiled;
    expressions.push({ ...written(text, compiled), where: path });
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

  if (checked === undefined || value === undefined) return undefined;
  const bound = { options: { checked, value }, prepare, inputs, computes, recorded, written: expressions };
  if (step.when === undefined) return { ...bound, when: undefined };
  if (condition === undefined) return undefined;
  const { slot, computed } = condition;
  const computedWhen = computed ? { computes: { name: `${label}:when`, slot } } : {};
  return { ...bound, when: { slot, text: step.when.value, ...computedWhen } };
}

/** How explanations name what a step computes: its name, with its number if other steps have the same name. */
function labelOf(index: number, { components }: PipelineDefinition): string {
  const names = components.map(nameOf);
  const name = names[index] ?? '';
  return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}#${index + 1}`;
}
