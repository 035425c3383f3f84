import { ProjectInvalidError } from '../../app/project/compile-project.js';
import { loadProject } from '../../config/project/load-project.js';
import { nearest } from '../../core/nearest.js';
import type { ReportPlan } from '../../outcomes/report-plan.js';
import { CommandFailure } from '../failure.js';

/**
 * Reads from the files of a project what the report of an experiment measures.
 * @throws ProjectInvalidError; CommandFailure if there is no such experiment, or if it has nothing to report
 */
export async function findPlan(
  project: string,
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): Promise<ReportPlan> {
  const { config, diagnostics } = await loadProject(project, env);
  if (config === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    throw new ProjectInvalidError(diagnostics);
  const definition = config.experiments.find((one) => one.name === name);
  if (definition === undefined) {
    const names = config.experiments.map((one) => one.name);
    const near = nearest(name, names);
    const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
    throw new CommandFailure(
      `the project has no experiment ${name}; ${near === undefined ? known : `did you mean ${near}?`}`,
      names.length === 0 ? 'declare it in experiments/<name>.yaml' : undefined,
    );
  }
  const { mode, unit, arms, metrics, from, until } = definition;
  if (mode === 'shadow')
    throw new CommandFailure(
      `${name} is a shadow experiment: no user sees its arms, so there is nothing to report`,
      'run its arms on logged requests: millrace shadow',
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
