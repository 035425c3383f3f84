import type { ExperimentGuard, ExperimentMetric } from '../../project/config/model/experiments.js';

/** What a report measures, as the files of the project say it. */
export interface ReportPlan {
  readonly experiment: string;
  readonly mode: 'split' | 'interleave';
  /** The entity type of the units, such as `user`. */
  readonly unit: string;
  /** The field of the request that has the unit. */
  readonly unitField: string;
  /** In the order of the file. The first is the control. */
  readonly arms: readonly { readonly name: string; readonly weight: number }[];
  readonly metric: ExperimentMetric;
  readonly guards: readonly ExperimentGuard[];
  /** Epoch milliseconds: -Infinity since ever. */
  readonly from: number;
  /** Epoch milliseconds: Infinity without end. */
  readonly until: number;
}
