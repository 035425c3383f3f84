import type { ExperimentDefinition } from '../../project/config/model/experiments.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import { paramProblem } from '../../project/config/project/param-values.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { namedBy } from '../contestants.js';

/** An arm as the command line or an experiment names it. */
export interface ArmSpec {
  readonly label: string;
  /** A pipeline, a project folder or git:REF. */
  readonly against: string;
  readonly params: Readonly<Record<string, number>>;
}

/**
 * The arms to run: those of the experiment, control included, then those of `--against` and of `--params`.
 * @throws UsageError if there are none, or if one is not valid
 */
export async function armSpecs(
  definition: PipelineDefinition,
  experiment: ExperimentDefinition | undefined,
  {
    against: others = [],
    params: values = [],
  }: { readonly against?: readonly string[]; readonly params?: readonly string[] },
): Promise<readonly ArmSpec[]> {
  const specs = experiment === undefined ? [] : specsOf(experiment);
  for (const against of others) {
    await namedBy(against);
    specs.push({ label: against, against, params: {} });
  }
  for (const text of values) {
    const params = paramsOf(text, definition);
    specs.push({ label: text, against: definition.name, params });
  }
  if (specs.length > 0) return specs;
  throw new UsageError(
    'name an arm with --against PIPELINE|DIR|git:REF, with --params NAME=VALUE, or with --experiment NAME for those of a file',
  );
}

function specsOf({ pipeline, arms }: ExperimentDefinition): ArmSpec[] {
  return Array.from(arms.values(), (arm) => ({
    label: arm.name,
    against: arm.pipeline?.value ?? pipeline.value,
    params: Object.fromEntries(Array.from(arm.params, ([name, { value }]) => [name, value])),
  }));
}

function paramsOf(text: string, definition: PipelineDefinition): Readonly<Record<string, number>> {
  const params: Record<string, number> = {};
  for (const part of text.split(',')) {
    const [, name, value] = /^\s*([a-z][a-z0-9_]*)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
    if (name === undefined || value === undefined)
      throw new UsageError(`--params: expected NAME=VALUE, found ${part}`);
    const problem = paramProblem(definition, name, Number(value));
    if (problem !== undefined)
      throw new UsageError(
        `--params: ${problem.message}${problem.help === undefined ? '' : `; ${problem.help}`}`,
      );
    params[name] = Number(value);
  }
  return params;
}
