import { chiSquaredShareAbove, logGamma, normalQuantile } from '../../ground/core/distributions.js';

/** Below this p value of the sample-ratio test, effects are not to be trusted. */
export const SAMPLE_RATIO_LIMIT = 0.001;

/** The least number of units that the test expects in a cell. */
const LEAST_EXPECTED = 5;

/**
 * The p value of the sample-ratio test: how likely numbers of units are at least as far from the weights of the arms, if
 * units were assigned by the weights. A small one means that units are lost or counted in one arm more than in another.
 * Pearson's chi-squared test; source: Fabijan et al., "Diagnosing sample ratio mismatch in online controlled
 * experiments", KDD 2019.
 *
 * The test does not hold for expected numbers below 5: a single unit in an arm of 1 % would be a mismatch. So arms with
 * fewer are counted together; source: Cochran, "Some methods for strengthening the common χ² tests", Biometrics 1954.
 * @param units of each arm
 * @param weights of each arm, above 0
 * @returns 1 if there are too few units for a test
 */
export function sampleRatioTest(units: readonly number[], weights: readonly number[]): number {
  const all = units.reduce((sum, one) => sum + one, 0);
  const whole = weights.reduce((sum, one) => sum + one, 0);
  const arms = units.map((found, arm) => ({ found, expected: (all * (weights[arm] ?? 0)) / whole }));
  const cells = arms.filter(({ expected }) => expected >= LEAST_EXPECTED);
  const rest = { found: 0, expected: 0 };
  for (const { found, expected } of arms) {
    if (expected >= LEAST_EXPECTED) continue;
    rest.found += found;
    rest.expected += expected;
  }
  const least = Math.min(...cells.map(({ expected }) => expected));
  const smallest = cells.find(({ expected }) => expected === least);
  if (rest.expected >= LEAST_EXPECTED) cells.push(rest);
  else if (smallest !== undefined) {
    smallest.found += rest.found;
    smallest.expected += rest.expected;
  }
  if (cells.length < 2) return 1;
  const statistic = cells.reduce((sum, { found, expected }) => sum + (found - expected) ** 2 / expected, 0);
  return chiSquaredShareAbove(statistic, cells.length - 1);
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
