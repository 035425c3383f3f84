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

const CORRELATION = 0.6;

/** Time per user, with a correlation that is known. */
const time: Population = {
  name: 'time per user',
  truth: (lift) => 10 * (1 + lift),
  draw: (random, lift, into) => {
    const past = normal(random);
    const now = CORRELATION * past + Math.sqrt(1 - CORRELATION ** 2) * normal(random);
    into.add(10 * (1 + lift) + 3 * now, 1, 10 + 3 * past);
  },
};

/** Purchases during the experiment, on average. */
const PURCHASES = 2;

/** Revenue per user: users buy more or less often, before and during the experiment. */
const revenueWithPast: Population = {
  name: 'revenue per user',
  truth: (lift) => PURCHASES * (1 + lift) * Math.exp(LOG_MEAN + LOG_DEVIATION ** 2 / 2),
  draw: (random, lift, into) => {
    const often = PURCHASES * waiting(random);
    const bought = (rate: number): number => {
      let sum = 0;
      for (let at = waiting(random); at < rate; at += waiting(random))
        sum += Math.exp(LOG_MEAN + LOG_DEVIATION * normal(random));
      return sum;
    };
    const past = bought(2 * often);
    into.add(bought(often * (1 + lift)), 1, past);
  },
};

const MOST_CLICKS_OF_PAST = 0.85;

/** Clicks per request: a user clicks as often as before, and sends other numbers of requests. */
const clicksWithPast: Population = {
  name: 'clicks per request',
  truth: (lift) => ((1 + lift) * (LEAST_CLICKS + MOST_CLICKS_OF_PAST)) / 2,
  draw: (random, lift, into) => {
    const chance = LEAST_CLICKS + (MOST_CLICKS_OF_PAST - LEAST_CLICKS) * random.next();
    const visit = (probability: number, again: number): readonly [number, number] => {
      let [clicks, requests] = [0, 0];
      do {
        requests += 1;
        if (random.chance(probability)) clicks += 1;
      } while (random.chance(again));
      return [clicks, requests];
    };
    const past = visit(chance, 0.9);
    into.add(...visit((1 + lift) * chance, 0.8), ...past);
  },
};

/** A draw of the exponential distribution with the mean 1. */
function waiting(random: Random): number {
  return -Math.log(1 - random.next());
}

/** Users with a past. */
export const ADJUSTED: readonly Population[] = [time, revenueWithPast, clicksWithPast];

/** Source: Box and Muller, "A note on the generation of random normal deviates", 1958. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
