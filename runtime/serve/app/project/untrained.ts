import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isMap } from 'yaml';
import { isObjectPath } from '../../../ground/core/stored-files.js';
import type { ProjectFile } from '../../../ground/api/build-context.js';
import type { ModelComponent } from '../../../ground/api/component.js';
import type { Plugin } from '../../../ground/api/plugin.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { PluginRegistry } from '../../../request/compile/step-tools.js';

/** Which models are taken for untrained. */
export type Untrained = 'missing' | 'all';

/** The plugins whose models can be trained. */
export const TRAINED: readonly string[] = ['lightgbm', 'xgboost'];

/** Predicts nothing. */
const UNTRAINED: ModelComponent = { outputs: { score: 'number' }, compute: () => undefined };

/**
 * The paths of model files that steps name and that do not exist yet.
 * @param which `all`: also those of models that exist, because they do not fit the project any more
 */
export function missingModels({ root, pipelines }: ProjectConfig, which: Untrained): ReadonlySet<string> {
  const models = pipelines
    .flatMap(({ components }) => components)
    .flatMap(({ use, with: options }) => {
      const model = TRAINED.includes(use.value) && isMap(options) ? options.get('model') : undefined;
      return typeof model === 'string' ? [model] : [];
    });
  return new Set(
    models.filter((path) => which === 'all' || !(isObjectPath(path) || existsSync(join(root, path)))),
  );
}

/** The plugins, with steps that predict nothing where the model file does not exist. Their expressions are still computed. */
export function withoutModels<Registry extends PluginRegistry>(
  plugins: Registry,
  missing: ReadonlySet<string>,
): Registry {
  return {
    ...plugins,
    get: (use: string) => {
      const plugin = plugins.get(use);
      if (plugin === undefined || !TRAINED.includes(plugin.name)) return plugin;
      const create: Plugin['create'] = (options, build) =>
        missing.has((options as { readonly model: ProjectFile }).model.path)
          ? UNTRAINED
          : plugin.create(options, build);
      return { ...plugin, create } as Plugin;
    },
  };
}
