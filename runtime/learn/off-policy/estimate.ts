import { UnitMoments } from '../evaluation/unit-moments.js';
import type { Interval } from '../../ground/core/statistics.js';

/** A place of a logged page. */
export interface DrawnPlace {
  /** 1-based, over the whole ranking. */
  readonly place: number;
  /** The probability that the evaluated pipeline shows this candidate here: 1 or 0 for a ranking. */
  readonly target: number;
  /** The probability that the log drew this candidate for the place, given those above it. */
  readonly propensity: number;
  /** The probability that the log has this candidate at the place, whatever is above it. */
  readonly marginal: number;
  /** What the user did, e.g. 1 for a click. */
  readonly reward: number;
}

/** A page that was logged, with its places in order. */
export interface DrawnPage {
  /** Whose page it is. Pages of one user are not independent. */
  readonly unit: string;
  /**
   * The weight of the places above the page: 1 on a first page. The log drew the places of a later page given those of the
   * pages above it, so these are part of its probability.
   */
  readonly above: number;
  readonly places: readonly DrawnPlace[];
}

/**
 * What the reward of a place depends on.
 * - `item_position`: on the candidate and its place alone; Li et al., "Offline evaluation of ranking policies with click
 *   models", KDD 2018, section 5.
 * - `cascade`: also on the candidates above it; McInerney et al., "Counterfactual evaluation of slate recommendations
 *   with sequential reward interactions", KDD 2020.
 * - `page`: on the whole page; Precup, Sutton and Singh, "Eligibility traces for off-policy policy evaluation", ICML 2000.
 */
export const REWARDS = ['item_position', 'cascade', 'page'] as const;
export type Reward = (typeof REWARDS)[number];

/**
 * - `ips`: inverse propensity scores; Horvitz and Thompson, "A generalization of sampling without replacement from a
 *   finite universe", JASA 1952.
 * - `snips`: at each place the sum of weight · reward divided by the sum of the weights; the value is the sum over the places,
 *   each times the share of the pages that have it; Swaminathan and Joachims, "The self-normalized estimator for
 *   counterfactual learning", NIPS 2015.
 */
export const ESTIMATORS = ['ips', 'snips'] as const;
export type Estimator = (typeof ESTIMATORS)[number];

/** The value of a pipeline that never ran: the mean sum of rewards of a page. */
export interface OffPolicyEstimate {
  readonly value: number;
  /** 95 %; by the variance over users. With `isWidened`, also by what the log could not have shown. */
  readonly interval: Interval;
  /**
   * Whether the log may not have been able to show a part of what the pipeline shows: a part of more than one standard
   * error. Nobody knows the reward of that part, so the interval then allows 0 to the highest reward. Source: Manski,
   * "Nonparametric bounds on treatment effects", AER 1990.
   */
  readonly isWidened: boolean;
  /** The mean sum of rewards of the logged pages. */
  readonly logged: number;
  readonly pages: number;
  readonly units: number;
  /** (sum of the weights)² / sum of the squared weights; the weight of a page is the mean of those of its places. */
  readonly effective: number;
  readonly largest: number;
  /** The share of what the pipeline shows that the log could not have shown: 1 − the mean weight. */
  readonly unsupported: number;
  /** Half of the width of its 95 % interval. */
  readonly unsupportedError: number;
}

/** Sums over the pages at one place. */
interface PlaceSums {
  pages: number;
  weights: number;
  rewards: number;
}

/**
 * Estimates the value of the pipeline from pages that another one showed.
 * @param highest the highest reward of a place
 */
export function offPolicyEstimate(
  pages: readonly DrawnPage[],
  estimator: Estimator,
  reward: Reward,
  highest: number,
): OffPolicyEstimate {
  const weighed = pages.map((page) => weightsOf(page, reward));
  const sums = new Map<number, PlaceSums>();
  let [sum, squares, largest, logged] = [0, 0, 0, 0];
  pages.forEach(({ places }, at) => {
    const weights = weighed[at] ?? [];
    places.forEach(({ place, reward: gained }, row) => {
      const weight = weights[row] ?? 0;
      const known = sums.get(place) ?? { pages: 0, weights: 0, rewards: 0 };
      sums.set(place, known);
      known.pages += 1;
      known.weights += weight;
      known.rewards += weight * gained;
      largest = Math.max(largest, weight);
      logged += gained;
    });
    const own = weightOf(weights);
    sum += own;
    squares += own * own;
  });
  const values = influences(pages, weighed, sums, estimator);
  const overUnits = byUnit(pages, (_, at) => values.perPage[at] ?? 0);
  const deviation = 1.96 * Math.sqrt(overUnits.variance);
  const shares = byUnit(pages, (_, at) => weightOf(weighed[at] ?? []));
  const unsupported = Math.max(0, 1 - sum / pages.length);
  const unsupportedError = 1.96 * Math.sqrt(shares.variance);
  // One standard error. With three, the intervals of logs with 5 to 12 % missed the truth in up to 40 of 100 cases. With one,
  // an interval of a log that could show everything is wider than it needs to be in 16 of 100.
  const isWidened = unsupported > unsupportedError / 1.96;
  const [below, above] = isWidened ? unknownPart(sums, pages.length, estimator, highest) : [0, 0];
  return {
    value: values.value,
    interval: { lower: values.value - deviation - below, upper: values.value + deviation + above },
    isWidened,
    logged: logged / pages.length,
    pages: pages.length,
    units: overUnits.units,
    effective: squares === 0 ? 0 : (sum * sum) / squares,
    largest,
    unsupported,
    unsupportedError,
  };
}

/** How much the value may fall and rise with the rewards of what the log could not have shown: 0 to the highest. */
function unknownPart(
  sums: ReadonlyMap<number, PlaceSums>,
  count: number,
  estimator: Estimator,
  highest: number,
): readonly [below: number, above: number] {
  let [below, above] = [0, 0];
  for (const { pages, weights, rewards } of sums.values()) {
    const unknown = Math.max(0, pages - weights) / count;
    // IPS takes 0 for these rewards, SNIPS the mean of the others at the place.
    const assumed = estimator === 'ips' || weights === 0 ? 0 : rewards / weights;
    below += unknown * assumed;
    above += unknown * Math.max(0, highest - assumed);
  }
  return [below, above];
}

/** The weight of each place: how much more often the pipeline shows what the reward depends on than the log did. */
function weightsOf({ above, places }: DrawnPage, reward: Reward): readonly number[] {
  if (reward === 'item_position') return places.map(({ target, marginal }) => target / marginal);
  let product = above;
  const downTo = places.map(({ target, propensity }) => (product *= target / propensity));
  return reward === 'cascade' ? downTo : downTo.map(() => product);
}

/** The weight of a page. One without candidates, such as one behind the end, is the same from any pipeline. */
function weightOf(weights: readonly number[]): number {
  return weights.length === 0 ? 1 : meanOf(weights);
}

/**
 * The value, and for each page the part by which it moves the value. The value of SNIPS is a sum of ratios, one a place;
 * its linear form has the same variance (the delta method).
 */
function influences(
  pages: readonly DrawnPage[],
  weighed: readonly (readonly number[])[],
  sums: ReadonlyMap<number, PlaceSums>,
  estimator: Estimator,
): { readonly value: number; readonly perPage: readonly number[] } {
  if (estimator === 'ips') {
    const perPage = pages.map(({ places }, at) =>
      places.reduce((all, { reward }, row) => all + (weighed[at]?.[row] ?? 0) * reward, 0),
    );
    return { value: meanOf(perPage), perPage };
  }
  const means = new Map(Array.from(sums, ([place, one]) => [place, one.rewards / one.weights]));
  let value = 0;
  for (const one of sums.values())
    if (one.weights > 0) value += (one.rewards / one.weights) * (one.pages / pages.length);
  const perPage = pages.map(({ places }, at) =>
    places.reduce((all, { place, reward }, row) => {
      const { weights = 0, pages: count = 0 } = sums.get(place) ?? {};
      if (weights === 0) return all;
      return all + ((weighed[at]?.[row] ?? 0) * (reward - (means.get(place) ?? 0)) * count) / weights;
    }, 0),
  );
  return { value, perPage };
}

/** The sums of a value of pages by unit, with the number of pages as the base. */
function byUnit(pages: readonly DrawnPage[], valueOf: (page: DrawnPage, at: number) => number): UnitMoments {
  const units = new Map<string, { value: number; pages: number }>();
  pages.forEach((page, at) => {
    const known = units.get(page.unit) ?? { value: 0, pages: 0 };
    units.set(page.unit, known);
    known.value += valueOf(page, at);
    known.pages += 1;
  });
  const moments = new UnitMoments();
  for (const { value, pages: count } of units.values()) moments.add(value, count);
  return moments;
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
