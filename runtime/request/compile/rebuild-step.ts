import type { Plugin } from '../../ground/api/plugin.js';
import { checkOptions, type OptionPath } from '../../project/config/project/check-options.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { withParams } from '../../project/config/project/param-values.js';
import type { StepDefinition } from '../../project/config/model/pipelines.js';
import { bindOptions } from './bind-options.js';
import type { BoundStep } from './bind-step.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { RebuildStep } from './plan.js';
import type { StepTools } from './step-tools.js';

/** For a plan for tuning: how to create the component again. Empty if no option names a param. */
export function rebuildOf(
  step: StepDefinition,
  plugin: Plugin,
  { options: { checked }, recorded: inputs }: BoundStep,
  { definition }: OpenPipeline,
  { tunable, files }: StepTools,
): { readonly rebuild?: RebuildStep } {
  if (tunable === undefined || tunable === false || checked.params.size === 0) return {};
  if (tunable !== true && ![...checked.params].some((name) => tunable.has(name))) return {};
  return {
    rebuild: {
      params: checked.params,
      async create(values) {
        const { params } = withParams(definition, values);
        const problems = new Diagnostics();
        const again = checkOptions(step.with, plugin.options, problems, step.at, params);
        const bind = (text: { readonly value: string }, _: unknown, __: unknown, path: OptionPath) =>
          inputs.option(path, text.value);
        const options = again && (await bindOptions(again, files, bind, problems));
        if (options === undefined) throw new Error(problems.all[0]?.message ?? 'the options are not valid');
        return plugin.create(options as never, inputs.replaying());
      },
    },
  };
}
