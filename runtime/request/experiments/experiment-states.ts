import { MillraceError } from '../../ground/api/errors.js';
import { readFields, textField } from '../../ground/core/body-fields.js';
import { Violations } from '../../ground/core/violations.js';
import type { ExperimentDefinition } from '../../project/config/model/experiments.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { unconfirmed } from '../../state/store/unconfirmed.js';
import type { Stops } from './stops.js';

export const EXPERIMENT_STATES = ['running', 'stopped', 'waiting', 'ended'] as const;

/** The body of `stop` and `resume`. */
export const STATE_BODY = { experiment: textField() };

export interface ExperimentState {
  readonly experiment: string;
  readonly pipeline: string;
  readonly mode: ExperimentDefinition['mode'];
  readonly layer: string;
  readonly share: number;
  /** The field of the request that names the arm, such as `request.variant`. Layer and share then do not apply. */
  readonly assign?: string;
  readonly arms: readonly string[];
  /** `waiting`: before `from`. `ended`: after `until`. */
  readonly state: (typeof EXPERIMENT_STATES)[number];
}

/** The experiments of a project, to list, to stop and to resume. */
export class ExperimentStates {
  constructor(
    readonly experiments: readonly ExperimentDefinition[],
    readonly stops: Stops,
    readonly now: () => number,
  ) {}

  /** Reads what was stopped. @throws MillraceError with a code of STORE_READ_FAILURES */
  async refresh(): Promise<void> {
    await this.stops.read(this.experiments.map(({ name }) => name));
  }

  list(): { readonly experiments: readonly ExperimentState[] } {
    return { experiments: this.experiments.map((one) => this.#stateOf(one)) };
  }

  /** @param body `{ experiment }` @throws MillraceError invalid_body, unknown_experiment, or a code of STORE_WRITE_FAILURES */
  async stop(body: unknown): Promise<ExperimentState> {
    const definition = this.#find(body);
    await confirmed(`The stop of ${definition.name}`, this.stops.stop(definition.name, this.now()));
    return this.#stateOf(definition);
  }

  /** Does the opposite: units get the same arms again. @throws as `stop` */
  async resume(body: unknown): Promise<ExperimentState> {
    const definition = this.#find(body);
    await confirmed(`The resumption of ${definition.name}`, this.stops.resume(definition.name));
    return this.#stateOf(definition);
  }

  #stateOf(definition: ExperimentDefinition): ExperimentState {
    const { name, pipeline, mode, layer, share, assign, arms, from, until } = definition;
    const now = this.now();
    const timed =
      until !== undefined && now >= until
        ? 'ended'
        : from !== undefined && now < from
          ? 'waiting'
          : 'running';
    return {
      experiment: name,
      pipeline: pipeline.value,
      mode,
      layer: layer.value,
      share,
      ...(assign === undefined ? {} : { assign: `request.${assign.value}` }),
      arms: [...arms.keys()],
      state: this.stops.has(name) ? 'stopped' : timed,
    };
  }

  #find(body: unknown): ExperimentDefinition {
    const { experiment } = readFields(body, STATE_BODY, new Violations());
    if (experiment === undefined)
      throw new MillraceError('invalid_body', 'the body needs `experiment`, the name of an experiment');
    return findExperiment(experiment, this.experiments);
  }
}

async function confirmed(what: string, write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    throw unconfirmed(what, error);
  }
}

/** @throws MillraceError unknown_experiment */
export function findExperiment(
  wanted: string,
  experiments: readonly ExperimentDefinition[],
): ExperimentDefinition {
  const found = experiments.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const names = experiments.map(({ name }) => name);
  throw new MillraceError(
    'unknown_experiment',
    `the project has no experiment ${wanted.slice(0, 100)}; ${didYouMean(wanted, names, AS_WORD) ?? `it has ${names.join(', ') || 'none'}`}`,
  );
}
