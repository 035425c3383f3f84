import type { Settings } from '../../project/settings/settings.js';
import { loadProject } from '../../project/config/project/load-project.js';
import { planOf, type FoundPlan } from '../../learn/outcomes/plan-of.js';
import { experimentNamed } from './experiment-named.js';

/**
 * Reads from the files of a project what the report of an experiment measures.
 * @throws ProjectInvalidError; CommandFailure if there is no such experiment, or if it has nothing to report
 */
export async function findPlan(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): Promise<FoundPlan> {
  const { config, definition } = experimentNamed(await loadProject(settings.project, env), name);
  return planOf(settings, config, definition);
}
