import { ProjectInvalidError } from '../app/app.js';
import { nearest } from '../core/nearest.js';
import { loadSchemas } from '../config/project/load-project.js';
import type { ProjectConfig } from '../config/project/model.js';
import type { SettingFlags } from '../settings/settings.js';
import { settingsOf, type CliContext } from './context.js';
import { CommandFailure } from './failure.js';

/** Reads the entity types and views of the project. Its pipelines may have errors. @throws ProjectInvalidError */
export async function readSchemas(
  context: CliContext,
  flags: SettingFlags,
): Promise<Pick<ProjectConfig, 'entities' | 'views'>> {
  const { project } = await settingsOf(context, flags);
  const { config, diagnostics } = await loadSchemas(project, context.env);
  if (config === undefined) throw new ProjectInvalidError(diagnostics);
  return config;
}

/** Looks up a name from the command line. @throws CommandFailure with the nearest valid name */
export function lookUp<T>(map: ReadonlyMap<string, T>, name: string, what: string): T {
  const found = map.get(name);
  if (found !== undefined) return found;
  const close = nearest(name, map.keys());
  const help =
    close === undefined ? `existing names: ${[...map.keys()].join(', ')}` : `did you mean ${close}?`;
  throw new CommandFailure(`there is no ${what} ${name}`, help);
}
