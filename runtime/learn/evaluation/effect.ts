import { studentQuantile, studentShareBeyond } from '../../ground/core/distributions.js';
import type { Interval } from '../../ground/core/statistics.js';
import type { Moments } from './unit-moments.js';

/** How a metric of an arm differs from that of control. */
export interface Effect {
  /** The arm minus control. */
  readonly difference: number;
  readonly standardError: number;
  /** The difference as a share of control; NaN if control is 0. */
  readonly relative: number;
  /** The 95 % interval of the difference for a single look at a time that was fixed before. */
  readonly fixed: Interval;
  /** The 95 % interval of the difference that holds at all looks together. */
  readonly always: Interval;
  /** The p values of both: the share of error at which the interval would just exclude 0. */
  readonly fixedP: number;
  readonly alwaysP: number;
}

/** If 30 units are all alike, at most 10 % of all units differ, with a probability of 95 % (the rule of three). */
const SURELY_ALIKE = 30;

/**
 * Compares a metric of two arms. The standard error and the intervals are NaN if they are not known: if an arm has fewer
 * than two units, or if no unit varies and an arm has fewer than 30.
 */
export function effectOf(arm: Moments, control: Moments): Effect {
  const difference = arm.value - control.value;
  const isUnsure = difference !== 0 && Math.min(arm.units, control.units) < SURELY_ALIKE;
  const found = Math.sqrt(arm.variance + control.variance);
  const standardError = found === 0 && isUnsure ? NaN : found;
  const around = (factor: number): Interval => ({
    lower: difference - factor * standardError,
    upper: difference + factor * standardError,
  });
  const units = arm.units + control.units;
  const degrees = degreesOf(arm, control);
  const isKnown = standardError > 0 && degrees >= 1;
  const errors = Math.abs(difference) / standardError;
  const alike = difference === 0 ? 1 : standardError === 0 ? 0 : NaN;
  return {
    difference,
    standardError,
    relative: control.value === 0 ? NaN : difference / Math.abs(control.value),
    fixed: around(standardError === 0 ? 0 : degrees >= 1 ? -studentQuantile(0.025, degrees) : NaN),
    always: around(standardError === 0 ? 0 : alwaysFactor(units)),
    fixedP: isKnown ? studentShareBeyond(errors, degrees) : alike,
    alwaysP: isKnown ? alwaysP(errors, units) : alike,
  };
}

/**
 * The degrees of freedom of two samples with unequal variances.
 * Source: Welch, "The generalization of Student's problem when several different population variances are involved",
 * Biometrika 1947.
 */
function degreesOf(arm: Moments, control: Moments): number {
  // Shares of the sum, since the square of a large variance is infinite.
  const share = arm.variance / (arm.variance + control.variance);
  return 1 / (share ** 2 / (arm.units - 1) + (1 - share) ** 2 / (control.units - 1));
}

const ALPHA = 0.05;

/** The number of units of both arms at which the always-valid interval is the narrowest, in standard errors. */
const TUNED_UNITS = 5000;

/**
 * ρ² of the source, by its formula for the narrowest interval at one size. It must not depend on the data, so it is a
 * constant. From 500 to some millions of units the interval is less than twice as wide as a fixed one.
 */
const RHO_SQUARED = (-2 * Math.log(ALPHA) + Math.log(-2 * Math.log(ALPHA) + 1)) / TUNED_UNITS;

/**
 * Half of the width of the always-valid interval, in standard errors: an asymptotic confidence sequence by Gaussian
 * mixtures. The intervals of all sizes together contain the truth with a probability of 95 %, so a reader may look at any
 * time, and stop when they like.
 * Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence
 * sequences", Annals of Statistics 2024, theorem 2.2; ρ by their equation for a chosen size.
 * @param units of both arms
 */
export function alwaysFactor(units: number): number {
  const time = units * RHO_SQUARED;
  return Math.sqrt((2 * (time + 1) * Math.log(Math.sqrt(time + 1) / ALPHA)) / time);
}

/** The p value of the same source: `alwaysFactor` solved for its share of error. It is valid at any time. */
function alwaysP(errors: number, units: number): number {
  const time = units * RHO_SQUARED;
  return Math.min(1, Math.sqrt(time + 1) * Math.exp((-errors * errors * time) / (2 * (time + 1))));
}
