import type { ExperimentGuard, Guard } from '../../project/config/model/experiments.js';
import { alwaysFactor, effectOf } from '../evaluation/effect.js';
import type { Moments } from '../evaluation/unit-moments.js';
import type { Interval } from '../../ground/core/statistics.js';
import type { Latencies } from './latency.js';
import type { ArmOutcomes } from './unit-outcomes.js';

/** `holds` and `broken`: the interval is on one side of the bound. */
export type GuardState = 'holds' | 'broken' | 'unclear';

/** How an arm keeps a guard. */
export interface GuardReport {
  readonly guard: Guard;
  readonly margin: number;
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

export interface Side {
  readonly outcomes: ArmOutcomes;
  readonly latencies: Latencies | undefined;
}

/**
 * Tests whether an arm is not inferior to control by a guard: it must be shown that it is not worse by more than the margin.
 * @param hasEnded whether this is the one look at the end; otherwise the interval is valid at any time
 */
export function guardReport(
  { metric, margin }: ExperimentGuard,
  arm: Side,
  control: Side,
  hasEnded: boolean,
): GuardReport {
  const share = QUANTILES[metric];
  if (share !== undefined)
    return latencyGuard({ metric, margin }, share, [arm.latencies, control.latencies], hasEnded);
  const of = metric === 'failed' ? 'failed' : 'degraded';
  const [ours, theirs] = [arm.outcomes[of], control.outcomes[of]];
  const most = 1 + margin;
  // The difference of the arm to the worst value that the margin accepts.
  const effect = effectOf(ours, {
    units: theirs.units,
    value: most * theirs.value,
    variance: most * most * theirs.variance,
  });
  const excess = hasEnded ? effect.fixed : effect.always;
  const factor = effect.standardError > 0 ? (excess.upper - effect.difference) / effect.standardError : NaN;
  return {
    guard: metric,
    margin,
    control: theirs.value,
    arm: ours.value,
    worse: relativeWorsening(ours, theirs, factor),
    state: stateOf(excess, 0),
  };
}

/**
 * The interval of the ratio of two means, minus 1. It exceeds the margin when the interval of `guardReport` exceeds 0.
 * Source: Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16, 1954.
 * @param factor half of the width of an interval, in standard errors
 * @returns NaN if control is too close to 0
 */
function relativeWorsening(arm: Moments, control: Moments, factor: number): Interval {
  if (arm.value === control.value && arm.variance + control.variance === 0) return { lower: 0, upper: 0 };
  const ratio = arm.value / control.value;
  const unsure = (factor * factor * control.variance) / control.value ** 2;
  if (!(unsure < 1)) return { lower: NaN, upper: NaN };
  const half =
    (factor / control.value) * Math.sqrt(arm.variance * (1 - unsure) + ratio * ratio * control.variance);
  return { lower: (ratio - half) / (1 - unsure) - 1, upper: (ratio + half) / (1 - unsure) - 1 };
}

function latencyGuard(
  { metric: guard, margin }: Pick<ExperimentGuard, 'metric' | 'margin'>,
  share: number,
  [arm, control]: readonly (Latencies | undefined)[],
  hasEnded: boolean,
): GuardReport {
  const [ours, theirs] = [arm?.quantile(share) ?? NaN, control?.quantile(share) ?? NaN];
  const ratio = Math.log(ours / theirs);
  const factor = hasEnded ? 1.96 : alwaysFactor((arm?.count ?? 0) + (control?.count ?? 0));
  const half = factor * Math.hypot(logDeviation(arm, share), logDeviation(control, share));
  const worse = { lower: Math.exp(ratio - half) - 1, upper: Math.exp(ratio + half) - 1 };
  return { guard, margin, control: theirs, arm: ours, worse, state: stateOf(worse, margin) };
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
