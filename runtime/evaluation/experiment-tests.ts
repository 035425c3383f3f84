import { chiSquaredShareAbove, logGamma, normalQuantile } from './distributions.js';

/** Below this p value of the sample-ratio test, effects are not to be trusted. */
export const SAMPLE_RATIO_LIMIT = 0.001;

/**
 * The p value of the sample-ratio test: how likely numbers of units are at least as far from the weights of the arms, if
 * units were assigned by the weights. A small one means that units are lost or counted in one arm more than in another.
 * Pearson's chi-squared test; source: Fabijan et al., "Diagnosing sample ratio mismatch in online controlled
 * experiments", KDD 2019.
 * @param units of each arm
 * @param weights of each arm, above 0
 * @returns 1 if there are no units
 */
export function sampleRatioTest(units: readonly number[], weights: readonly number[]): number {
  const all = units.reduce((sum, one) => sum + one, 0);
  const whole = weights.reduce((sum, one) => sum + one, 0);
  if (all === 0 || units.length < 2) return 1;
  const statistic = units.reduce((sum, found, arm) => {
    const expected = (all * (weights[arm] ?? 0)) / whole;
    return sum + (found - expected) ** 2 / expected;
  }, 0);
  return chiSquaredShareAbove(statistic, units.length - 1);
}

/**
 * The p value of the two-sided sign test: how likely the users' preferences are at least as uneven, if each user prefers
 * either side with the same probability. Users without a preference do not count.
 * Source: for interleaving: Chapelle, Joachims, Radlinski and Yue, "Large-scale validation and analysis of interleaved
 * search evaluation", TOIS 2012, section 3.
 * @returns 1 if no user has a preference
 */
export function signTest(first: number, second: number): number {
  const all = first + second;
  const most = Math.max(first, second);
  // The sum of binomial probabilities from `most` on; each follows from the one before.
  let probability = Math.exp(
    logGamma(all + 1) - logGamma(most + 1) - logGamma(all - most + 1) - all * Math.LN2,
  );
  let tail = 0;
  for (let count = most; count <= all && probability > tail * Number.EPSILON; count++) {
    tail += probability;
    probability *= (all - count) / (count + 1);
  }
  return Math.min(1, 2 * tail);
}

/** A two-sided test at 5 % finds an effect of this many standard errors with a probability of 80 %. */
export const POWER_FACTOR = -normalQuantile(0.025) - normalQuantile(0.2);

/** The least true effect that the experiment would find by now with a probability of 80 %. */
export function detectableEffect(standardError: number): number {
  return POWER_FACTOR * standardError;
}

/**
 * How many times as many units are needed to find a true effect with a probability of 80 %. The squared standard error
 * falls as the number of units grows.
 * @returns at most 1 if there are enough
 */
export function unitsNeeded(standardError: number, effect: number): number {
  return (detectableEffect(standardError) / effect) ** 2;
}
