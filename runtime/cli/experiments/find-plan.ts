import { loadProject } from '../../project/config/project/load-project.js';
import type { ReportPlan } from '../../learn/outcomes/report-plan.js';
import { CommandFailure } from '../failure.js';
import { experimentNamed } from './experiment-named.js';

/**
 * Reads from the files of a project what the report of an experiment measures.
 * @throws ProjectInvalidError; CommandFailure if there is no such experiment, or if it has nothing to report
 */
export async function findPlan(
  project: string,
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): Promise<ReportPlan> {
  const { config, definition } = experimentNamed(await loadProject(project, env), name);
  const { mode, unit, arms, metrics, from, until } = definition;
  if (mode === 'shadow')
    throw new CommandFailure(
      `${name} is a shadow experiment: no user was assigned to an arm, so there is nothing to report`,
      `compare its arms on logged requests: millrace shadow --experiment ${name}`,
    );
  if (metrics === undefined)
    throw new CommandFailure(
      `experiments/${name}.yaml has no metrics, so there is nothing to report`,
      'add for example metrics: { primary: { event: click, within: 1d } }',
    );
  const pipeline = config.pipelines.find((one) => one.name === definition.pipeline.value);
  const field = pipeline?.request.fields.get(unit.value);
  return {
    experiment: name,
    mode,
    unit: field?.kind === 'entity' ? field.entity : unit.value,
    unitField: unit.value,
    arms: Array.from(arms.values(), ({ name: arm, weight }) => ({ name: arm, weight })),
    metric: metrics.primary,
    guards: metrics.guard,
    from: from ?? -Infinity,
    until: until ?? Infinity,
  };
}
