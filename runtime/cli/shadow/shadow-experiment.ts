import type { ExperimentDefinition } from '../../project/config/model/experiments.js';
import type { loadProject } from '../../project/config/project/load-project.js';
import { experimentNamed } from '../experiments/experiment-named.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { isLive } from '../../project/config/model/experiment-modes.js';

/** What the command line says beside `--experiment`. */
interface Asked {
  /** The pipeline, if it is named. */
  readonly pipeline: string | undefined;
  readonly follow: boolean;
  readonly now: number;
}

/**
 * Finds the shadow experiment that `--experiment` names.
 * @throws ProjectInvalidError, UsageError; CommandFailure if it is unknown, of another mode or over
 */
export function shadowExperiment(
  loaded: Awaited<ReturnType<typeof loadProject>>,
  name: string,
  { pipeline, follow, now }: Asked,
): ExperimentDefinition {
  const { definition } = experimentNamed(loaded, name);
  const { mode, file, until, pipeline: own } = definition;
  if (isLive(definition))
    throw new CommandFailure(
      `${name} has the mode ${mode}: the service shows its arms to users; --experiment runs files with mode: shadow`,
      `write mode: shadow in ${file.path}, or name the arms with --against and --params`,
    );
  if (pipeline !== undefined && pipeline !== own.value)
    throw new UsageError(
      `${name} is an experiment on the pipeline ${own.value}, not on ${pipeline}; leave out ${pipeline}`,
    );
  if (follow && until !== undefined && now >= until)
    throw new CommandFailure(
      `${name} ended at ${new Date(until).toISOString()}, so --follow would not find a request`,
      'leave out --follow to run the logged requests, or change until',
    );
  return definition;
}
