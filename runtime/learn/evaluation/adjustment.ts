import type { Moments, UnitMoments } from './unit-moments.js';

/** How a metric is corrected by what its units did before the experiment. */
export interface Adjustment {
  /** How much of a deviation in the past is expected in the metric. */
  readonly slope: number;
  /** The past value of all arms. */
  readonly center: number;
  /** Of the metric and the past, within arms: the variance falls to 1 − correlation² of its value. 0 without a past. */
  readonly correlation: number;
}

export const NO_ADJUSTMENT: Adjustment = { slope: 0, center: 0, correlation: 0 };

/**
 * The adjustment that all arms of an experiment share: that of a regression on the arms and the past. For a ratio, the
 * past is the same ratio, and both are linear by the delta method. The past does not depend on the arm, so the effect
 * stays what it is.
 * Source: CUPED: Deng, Xu, Kohavi and Walker, "Improving the sensitivity of online controlled experiments by utilizing
 * pre-experiment data", WSDM 2013, section 3; the ratio form: their appendix B.
 */
export function adjustmentOf(arms: readonly UnitMoments[]): Adjustment {
  let [now, both, past, center] = [0, 0, 0, 0];
  const known = arms.filter((arm) => !Number.isNaN(arm.past) && !Number.isNaN(arm.value));
  const units = known.reduce((sum, arm) => sum + arm.units, 0);
  for (const arm of known) {
    const { spread } = arm;
    now += spread.now;
    both += spread.both;
    past += spread.past;
    center += arm.past * (arm.units / units);
  }
  const slope = both / past;
  // Without variation, or with values that are too large for their squares, nothing is known.
  return Number.isFinite(slope) && now > 0
    ? { slope, center, correlation: both / Math.sqrt(now) / Math.sqrt(past) }
    : NO_ADJUSTMENT;
}

/** The metric of an arm without what is due to a different past. */
export function adjusted(arm: UnitMoments, { slope, center }: Adjustment): Moments {
  if (slope === 0 || Number.isNaN(arm.past)) return arm;
  const { now, both, past } = arm.spread;
  return {
    units: arm.units,
    value: arm.value - slope * (arm.past - center),
    variance: arm.varianceOf(Math.max(0, now - 2 * slope * both + slope * slope * past)),
  };
}
