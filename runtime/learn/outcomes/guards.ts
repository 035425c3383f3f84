import type { ExperimentGuard, Guard } from '../../project/config/model/experiments.js';
import { alwaysFactor, effectOf } from '../evaluation/effect.js';
import type { Interval } from '../../ground/core/statistics.js';
import type { Latencies } from './latency.js';
import type { ArmOutcomes } from './unit-outcomes.js';

/** The largest relative worsening that is accepted without a bound in the file. */
const DEFAULT_BOUND = 0.1;

/** `holds` and `broken`: the interval is on one side of the bound. */
export type GuardState = 'holds' | 'broken' | 'unclear';

/** How an arm keeps a guard. */
export interface GuardReport {
  readonly guard: Guard;
  readonly bound: number;
  readonly control: number;
  readonly arm: number;
  /** The 95 % interval of the relative worsening; NaN if it is not known. It is valid at any time until the end. */
  readonly worse: Interval;
  readonly state: GuardState;
}

const QUANTILES: Partial<Record<Guard, number>> = {
  latency_p50: 0.5,
  latency_p95: 0.95,
  latency_p99: 0.99,
};

interface Side {
  readonly outcomes: ArmOutcomes;
  readonly latencies: Latencies | undefined;
}

/**
 * Compares an arm with control by a guard. A guard is a bound: it does not have to become better.
 * @param hasEnded whether this is the one look at the end; otherwise the interval is valid at any time
 */
export function guardReport(
  { metric, bound = DEFAULT_BOUND }: ExperimentGuard,
  arm: Side,
  control: Side,
  hasEnded: boolean,
): GuardReport {
  const share = QUANTILES[metric];
  if (share !== undefined)
    return latencyGuard(metric, bound, share, arm.latencies, control.latencies, hasEnded);
  const of = metric === 'failed' ? 'failed' : 'degraded';
  const [ours, theirs] = [arm.outcomes[of], control.outcomes[of]];
  const effect = effectOf(ours, theirs);
  const interval = hasEnded ? effect.fixed : effect.always;
  const relative = (difference: number): number => (difference === 0 ? 0 : difference / theirs.value);
  return {
    guard: metric,
    bound,
    control: theirs.value,
    arm: ours.value,
    worse: { lower: relative(interval.lower), upper: relative(interval.upper) },
    state: stateOf(interval, bound * theirs.value),
  };
}

function latencyGuard(
  guard: Guard,
  bound: number,
  share: number,
  arm: Latencies | undefined,
  control: Latencies | undefined,
  hasEnded: boolean,
): GuardReport {
  const [ours, theirs] = [arm?.quantile(share) ?? NaN, control?.quantile(share) ?? NaN];
  const ratio = Math.log(ours / theirs);
  const factor = hasEnded ? 1.96 : alwaysFactor((arm?.count ?? 0) + (control?.count ?? 0));
  const half = factor * Math.hypot(logDeviation(arm, share), logDeviation(control, share));
  const worse = { lower: Math.exp(ratio - half) - 1, upper: Math.exp(ratio + half) - 1 };
  return { guard, bound, control: theirs, arm: ours, worse, state: stateOf(worse, bound) };
}

/** The standard deviation of the logarithm of a quantile, from its interval. */
function logDeviation(latencies: Latencies | undefined, share: number): number {
  if (latencies === undefined) return NaN;
  const { lower, upper } = latencies.interval(share);
  return (Math.log(upper) - Math.log(lower)) / (2 * 1.96);
}

function stateOf({ lower, upper }: Interval, limit: number): GuardState {
  if (upper <= limit) return 'holds';
  return lower > limit ? 'broken' : 'unclear';
}
