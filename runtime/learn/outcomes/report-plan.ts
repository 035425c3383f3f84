import type { Readable } from 'node:stream';
import type {
  ExperimentGuard,
  ExperimentMetric,
  ExperimentMode,
} from '../../project/config/model/experiments.js';

/** What a report measures, as the files of the project say it. */
export interface ReportPlan {
  readonly experiment: string;
  readonly mode: ExperimentMode;
  /** The entity type of the units, such as `user`. */
  readonly unit: string;
  /** The field of the request that has the unit. */
  readonly unitField: string;
  /** In the order of the file. The first is the control. */
  readonly arms: readonly { readonly name: string; readonly weight: number }[];
  /** It decides. */
  readonly metric: ExperimentMetric;
  readonly secondary: readonly ExperimentMetric[];
  readonly guards: readonly ExperimentGuard[];
  /** Epoch milliseconds; -Infinity without a start. */
  readonly from: number;
  /** Epoch milliseconds; Infinity without an end. */
  readonly until: number;
  /** The field of the request that named the arm; undefined if the service assigned the units. */
  readonly assign?: string | undefined;
  /**
   * To plan an experiment: all requests of this pipeline count, in the only arm, and the past of all units is as long as
   * `adjust` asks for.
   */
  readonly population?: string;
}

/** The metrics of a report. The first one decides. */
export function metricsOf({ metric, secondary }: ReportPlan): readonly ExperimentMetric[] {
  return [metric, ...secondary];
}

/** The kinds of feedback that the metrics of a report need. */
export function kindsOf(plan: ReportPlan): ReadonlySet<string> {
  return new Set(metricsOf(plan).flatMap(({ event, over }) => [event, over ?? event]));
}

/** What a report reads. */
export interface ReportSources {
  readonly ledger: string;
  /** A folder for partitions. */
  readonly work: string;
  /** Epoch milliseconds: the time of the report. What was recorded later is left out. */
  readonly at: number;
  readonly files: UnitFiles;
  readonly progress: (fraction: number) => void;
  /** See `Console`. */
  readonly checkStopped?: () => void;
}

/** Files about units, from outside the ledger. */
export interface UnitFiles {
  /** Rows of `unit`, `time`, `value`, and perhaps `event`. They replace the feedback of their kinds. */
  readonly outcomes?: string | undefined;
  /** Rows of `unit`, `value`, and for a ratio perhaps `base`. They replace what the units did before. */
  readonly covariates?: string | undefined;
  readonly stdin: Readable;
  /** Returns the unit as the ledger has it. */
  readonly shown: (unit: string) => string;
}
