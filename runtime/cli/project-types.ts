import { ProjectInvalidError } from '../app.js';
import { loadProject } from '../config/load-project.js';
import { nearest } from '../api/nearest.js';
import type { ProjectConfig } from '../config/model.js';
import type { SettingFlags } from '../settings.js';
import { settingsOf, type CliContext } from './context.js';
import { CommandFailure } from './failure.js';

/** The project's files, as far as a command needs their types. @throws ProjectInvalidError */
export async function readProject(context: CliContext, flags: SettingFlags): Promise<ProjectConfig> {
  const { project } = settingsOf(context, flags);
  const { config, diagnostics } = await loadProject(project, context.env);
  if (config === undefined) throw new ProjectInvalidError(diagnostics);
  return config;
}

/** Looks up a name that the command line gave. @throws CommandFailure with the nearest right name. */
export function lookUp<T>(map: ReadonlyMap<string, T>, name: string, what: string): T {
  const found = map.get(name);
  if (found !== undefined) return found;
  const close = nearest(name, map.keys());
  const help = close === undefined ? `there are: ${[...map.keys()].join(', ')}` : `did you mean ${close}?`;
  throw new CommandFailure(`no ${what} is named ${name}`, help);
}
