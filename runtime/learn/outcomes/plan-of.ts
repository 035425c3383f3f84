import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { isLive } from '../../project/config/model/experiment-modes.js';
import type { ExperimentDefinition } from '../../project/config/model/experiments.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { nameOf, type Settings } from '../../project/settings/settings.js';
import { logHasherOf } from '../../request/pipeline/log/log-hasher.js';
import type { ReportPlan } from './report-plan.js';

/** What a report measures, and how its ledger shows the ids of units. */
export interface FoundPlan {
  readonly plan: ReportPlan;
  readonly pipeline: string;
  readonly share: number;
  /** Returns a unit as the ledger has it. @throws CommandFailure if it is hashed, and there is no salt */
  readonly shown: (unit: string) => string;
}

/** What the report of an experiment measures. @throws CommandFailure if it has nothing to report */
export function planOf(
  settings: Settings,
  config: ProjectConfig,
  definition: ExperimentDefinition,
): FoundPlan {
  const { name } = definition;
  const { mode, unit, arms, metrics, from, until, assign, share } = definition;
  if (!isLive(definition))
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
  const type = field?.kind === 'entity' ? field.entity : unit.value;
  const hasher = logHasherOf({ log: pipeline?.log }, settings);
  return {
    pipeline: definition.pipeline.value,
    share,
    plan: {
      experiment: name,
      mode,
      unit: type,
      unitField: unit.value,
      arms: Array.from(arms.values(), ({ name: arm, weight }) => ({ name: arm, weight })),
      metric: metrics.primary,
      secondary: metrics.secondary,
      guards: metrics.guard,
      from: from ?? -Infinity,
      until: until ?? Infinity,
      assign: assign && `request.${assign.value}`,
    },
    shown(id) {
      if (hasher.hides(type) && settings.idSalt === '')
        throw new CommandFailure(
          `the ledger has the ids of ${type}s as hashes, so those of a file need the same salt`,
          `set ${nameOf('idSalt', settings)} to the salt of the service`,
        );
      return hasher.shown(type, id);
    },
  };
}
