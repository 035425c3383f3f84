import type { Random } from '../../../runtime/ground/core/random.js';
import type { UnitMoments } from '../../../runtime/learn/evaluation/unit-moments.js';

/** Simulated users with an outcome whose distribution is known. */
export interface Population {
  readonly name: string;
  /** The metric of a user who sees the change; the change multiplies the probability of an act by 1 + `lift`. */
  readonly truth: (lift: number) => number;
  /** Draws a user. */
  readonly draw: (random: Random, lift: number, into: Pick<UnitMoments, 'add'>) => void;
}

const CONVERSION = 0.1;
const LOG_MEAN = 3;
const LOG_DEVIATION = 0.8;

/** Revenue per user: most users buy nothing, and a few buy much. */
export const revenue: Population = {
  name: 'revenue per user',
  truth: (lift) => CONVERSION * (1 + lift) * Math.exp(LOG_MEAN + LOG_DEVIATION ** 2 / 2),
  draw: (random, lift, into) => {
    const buys = random.chance(CONVERSION * (1 + lift));
    into.add(buys ? Math.exp(LOG_MEAN + LOG_DEVIATION * normal(random)) : 0);
  },
};

/** After each request, a user sends another one with this probability. */
const AGAIN = 0.6;
/** The probability that a user clicks after a request is between these, and the same for all requests of a user. */
const LEAST_CLICKS = 0.05;
const MOST_CLICKS = 0.45;

/** Clicks per request: users send different numbers of requests, and the requests of a user are alike. */
export const clicksPerRequest: Population = {
  name: 'clicks per request',
  truth: (lift) => ((1 + lift) * (LEAST_CLICKS + MOST_CLICKS)) / 2,
  draw: (random, lift, into) => {
    const probability = (1 + lift) * (LEAST_CLICKS + (MOST_CLICKS - LEAST_CLICKS) * random.next());
    let [clicks, requests] = [0, 0];
    do {
      requests += 1;
      if (random.chance(probability)) clicks += 1;
    } while (random.chance(AGAIN));
    into.add(clicks, requests);
  },
};

/** Source: Box and Muller, "A note on the generation of random normal deviates", 1958. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
