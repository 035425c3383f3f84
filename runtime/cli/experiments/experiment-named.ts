import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import type { ExperimentDefinition } from '../../project/config/model/experiments.js';
import type { loadProject } from '../../project/config/project/load-project.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';

/**
 * Finds an experiment of a project by its name.
 * @throws ProjectInvalidError if the project has errors; CommandFailure if there is no such experiment
 */
export function experimentNamed(
  { config, diagnostics }: Awaited<ReturnType<typeof loadProject>>,
  name: string,
): { readonly config: ProjectConfig; readonly definition: ExperimentDefinition } {
  if (config === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    throw new ProjectInvalidError(diagnostics);
  const definition = config.experiments.find((one) => one.name === name);
  if (definition !== undefined) return { config, definition };
  const names = config.experiments.map((one) => one.name);
  throw new CommandFailure(
    `the project has no experiment ${name}; it has ${names.join(', ') || 'none'}`,
    names.length === 0 ? 'declare it in experiments/<name>.yaml' : didYouMean(name, names, AS_WORD),
  );
}
