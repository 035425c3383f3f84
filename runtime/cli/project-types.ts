import { ProjectInvalidError } from '../serve/app/project/compile-project.js';
import { AS_WORD, didYouMean } from '../ground/core/nearest.js';
import { loadProject, loadSchemas, type LoadedSchemas } from '../project/config/project/load-project.js';
import type { PipelineDefinition } from '../project/config/model/pipelines.js';
import type { ProjectConfig } from '../project/config/model/project.js';
import { RESERVED_ROUTES } from '../serve/http/routes.js';
import type { SettingFlags } from '../project/settings/settings.js';
import { settingsOf, type CliContext } from './context.js';
import { CommandFailure } from '../project/config/diagnostics/failure.js';
import { unknownPipeline } from '../serve/app/project/unknown-pipeline.js';

/** Reads what commands for data need of a project. Its pipelines may have errors. @throws ProjectInvalidError */
export async function readSchemas(
  context: CliContext,
  flags: SettingFlags,
): Promise<NonNullable<LoadedSchemas['config']>> {
  const { project } = await settingsOf(context, flags);
  const { config, diagnostics } = await loadSchemas(project, context.env);
  if (config === undefined) throw new ProjectInvalidError(diagnostics);
  return config;
}

/** Reads the definition of a pipeline. @throws ProjectInvalidError; MillraceError unknown_pipeline */
export async function readPipeline(
  context: CliContext,
  flags: SettingFlags,
  name: string,
): Promise<{ readonly definition: PipelineDefinition; readonly config: ProjectConfig }> {
  const { project } = await settingsOf(context, flags);
  const { config, diagnostics } = await loadProject(project, context.env, RESERVED_ROUTES);
  if (config === undefined) throw new ProjectInvalidError(diagnostics);
  const definition = config.pipelines.find((one) => one.name === name);
  if (definition !== undefined) return { definition, config };
  throw unknownPipeline(
    name,
    config.pipelines.map((one) => one.name),
    'the project',
  );
}

/** Looks up a name from the command line. @throws CommandFailure with the nearest valid name */
export function lookUp<T>(map: ReadonlyMap<string, T>, name: string, what: string): T {
  const found = map.get(name);
  if (found !== undefined) return found;
  const help = didYouMean(name, map.keys(), AS_WORD) ?? `existing names: ${[...map.keys()].join(', ')}`;
  throw new CommandFailure(`there is no ${what} ${name}`, help);
}
