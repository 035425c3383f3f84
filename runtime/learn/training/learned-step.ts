import { join } from 'node:path';
import { isObjectPath, isStored } from '../../ground/core/stored-files.js';
import type { Component, ModelComponent } from '../../ground/api/component.js';
import type { Plugin } from '../../ground/api/plugin.js';
import type { JsonObject } from '../../ground/api/types.js';
import { closeComponents } from '../../request/compile/component-life.js';
import { compileRetrieval } from '../../request/compile/compile-retrieval.js';
import { compileSteps } from '../../request/compile/compile-steps.js';
import { NameUse } from '../../request/compile/name-use.js';
import { openPipeline } from '../../request/compile/open-pipeline.js';
import { OptionFiles } from '../../request/compile/option-files.js';
import { nameOf } from '../../request/compile/step-order.js';
import type { PluginRegistry, StepTools } from '../../request/compile/step-tools.js';
import { checkOptions } from '../../project/config/project/check-options.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { PipelineDefinition, StepDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { Environment } from '../../language/expression/environment.js';
import type { LinkedFolders } from '../../project/settings/linked-folders.js';

/** A step whose model is trained. Its model file need not exist. */
export interface LearnedStep {
  readonly definition: PipelineDefinition;
  readonly step: StepDefinition;
  /** Its `as:`, or its plugin. */
  readonly name: string;
  readonly plugin: Plugin;
  /** Its options, checked. Expressions are texts. */
  readonly options: JsonObject;
  /** The path in the project of its model file. */
  readonly modelPath: string;
  /** The names of steps that do not run before it, itself included. */
  readonly later: ReadonlySet<string>;
  /** What names mean in the pipeline. */
  readonly names: Environment;
  /** The name that a column of a model stands for. */
  readonly nameOfColumn: (column: string) => string;
  /** The columns of the model file that is there now; undefined if there is none that can be read. */
  readonly oldColumns: readonly string[] | undefined;
}

/** What compiles the pipeline. */
export interface LearnedStepTools extends Pick<StepTools, 'services'> {
  readonly config: ProjectConfig;
  readonly plugins: PluginRegistry;
  readonly linked: LinkedFolders;
}

/**
 * Compiles a pipeline without the model file of one step, so that names and types of all that the step can read are known.
 * @returns undefined if there were errors; they are in `diagnostics`
 */
export async function openLearnedStep(
  definition: PipelineDefinition,
  index: number,
  plugin: Plugin,
  { config, plugins, linked, services }: LearnedStepTools,
  diagnostics: Diagnostics,
): Promise<LearnedStep | undefined> {
  const step = definition.components[index];
  if (step === undefined) throw new RangeError(`there is no step ${index}`);
  const name = nameOf(step);
  const problems = new Diagnostics();
  const options = checkOptions(step.with, plugin.options, problems, step.at, definition.params)?.value;
  const modelPath = options?.model;
  if (options === undefined || typeof modelPath !== 'string') {
    diagnostics.addAll(problems.all);
    return undefined;
  }
  const isThere = await isStored(isObjectPath(modelPath) ? modelPath : join(config.root, modelPath));
  let oldColumns: readonly string[] | undefined;
  /** Stands for the model of the step: it checks the options, and reads the columns of the old model. */
  const create = async (given: never, build: Parameters<Plugin['create']>[1]): Promise<Component> => {
    if (build.name !== name) return plugin.create(given, build);
    if (isThere) oldColumns = await columnsOf(plugin, given, build);
    return UNTRAINED;
  };
  const untrained: PluginRegistry = {
    ...plugins,
    get: (use) => (use === plugin.name ? ({ ...plugin, create } as Plugin) : plugins.get(use)),
  };
  const files = new OptionFiles(
    config.root,
    linked,
    isThere ? new Map() : new Map([[modelPath, Buffer.alloc(0)]]),
  );
  const pipeline = openPipeline(definition, config, untrained, problems, false);
  const found = await compileRetrieval(pipeline, config, untrained, { files, services, prefix: '' });
  const steps = await compileSteps(pipeline, { files, services, plugins: untrained });
  const all = [...(found?.retrieval?.plan.steps ?? []), ...steps];
  await closeComponents(all.map(({ component }) => component));
  diagnostics.addAll(problems.all);
  if (problems.hasErrors) return undefined;
  return {
    definition,
    step,
    name,
    plugin,
    options,
    modelPath,
    later: new Set(definition.components.slice(index).map(nameOf)),
    names: pipeline.names.environment(new NameUse([index])),
    nameOfColumn: (column) => pipeline.names.ofColumn(column),
    oldColumns,
  };
}

const UNTRAINED: ModelComponent = {
  outputs: { score: 'number' },
  compute() {
    throw new Error('the model is not trained yet');
  },
};

/** Lets a plugin read a model file, and notes the columns that it asks for. A file that cannot be read has none. */
async function columnsOf(
  plugin: Plugin,
  options: never,
  build: Parameters<Plugin['create']>[1],
): Promise<readonly string[] | undefined> {
  const columns: string[] = [];
  const { inputs, ...others } = options as { readonly inputs?: unknown };
  // With a list, the plugin does not ask for columns: the list is all of them.
  if (Array.isArray(inputs)) return undefined;
  try {
    const component = await plugin.create(others as never, {
      ...build,
      needColumn: (column) => {
        columns.push(column);
        return { kind: 'number', slot: 0, text: column };
      },
    });
    await closeComponents([component]);
    return columns;
  } catch {
    return undefined; // the old model is replaced in any case
  }
}
