import type { Deadline } from '../../../ground/core/deadline.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { StatusCounts } from '../../../state/index/status-counts.js';
import type { Plan } from '../../compile/plan.js';
import type { RankedRow, Ranking } from '../../ordering/ranking.js';
import type { PipelineAnswer } from '../answer-types.js';
import type { StepReport } from '../components/run-components.js';
import type { Trace } from '../components/trace.js';
import type { Teams } from '../interleave/mixed-run.js';
import type { RankingRequest } from '../request/read-request.js';
import type { RunReport } from '../types.js';

/** A finished request. */
export interface FinishedRun {
  readonly plan: Plan;
  readonly request: RankingRequest;
  readonly frame: Frame;
  readonly ranking: Ranking;
  readonly page: readonly RankedRow[];
  readonly steps: readonly StepReport[];
  readonly trace: Trace;
  readonly statuses: StatusCounts;
  readonly report: RunReport;
  readonly answer: PipelineAnswer;
  /** Of an interleaved request. */
  readonly teams?: Teams | undefined;
  readonly deadline: Deadline;
  /** The candidate that is asked for. */
  readonly why?: string | undefined;
  /** Whether the explanation divides scores. */
  readonly contributions: boolean;
  /** The ids of two candidates that it compares. */
  readonly compare?: readonly [string, string] | undefined;
}
