/**
 * The probability of a candidate to be at a place in an order of Plackett-Luce. Let each candidate arrive after a time that
 * is exponential with the rate exp(worth), where the worth is score / temperature. The order of arrival is then the order
 * of Plackett-Luce. A candidate is at place k if it arrives at some time t, and exactly k others have arrived before t.
 * This is an integral over t; the first two places have sums that are shorter.
 *
 * With t = exp(x), the trapezoidal rule converges exponentially: Trefethen and Weideman, "The exponentially convergent
 * trapezoidal rule", SIAM Review 2014. A step of x is a part of ln 2. So a time is twice one of an earlier step, and the
 * probabilities there follow from the earlier ones, without exponentials. The tests compare with the sum over all sets of
 * candidates.
 */

/** The number of steps from a time to twice that time, for up to so many candidates. The error is below 1e-9. */
const PARTS = [
  { candidates: 7, parts: 2 },
  { candidates: 24, parts: 3 },
  { candidates: Infinity, parts: 4 },
] as const;

/** A candidate whose rate times the time is above this has surely arrived, up to exp(-23). */
const SURE = 23;
/** A candidate has surely not arrived while the logarithm of its rate times the time is below this. */
const UNSEEN = -30;
/** The integral begins when so many candidates have arrived in the mean. Third places are then rarer than 1e-10. */
const EARLY = 5e-4;
/** Numbers of arrivals that are rarer are left out. */
const RARE = 1e-14;

/** Candidates whose worths differ by more than this never change places. */
const FAR = 40;

/**
 * @param scores descending and finite. Only their differences count, so they can be of any size
 * @param temperature above 0
 * @param order the index of the candidate at each place
 * @returns by place
 */
export function luceMarginals(
  scores: ArrayLike<number>,
  temperature: number,
  order: Int32Array,
): Float64Array {
  const marginal = new Float64Array(order.length);
  for (let start = 0, end = 1; end <= scores.length; end++) {
    const gap = ((scores[end - 1] ?? 0) - (scores[end] ?? -Infinity)) / temperature;
    if (gap <= FAR) continue;
    new NearCandidates(scores, temperature, start, end).add(order, marginal);
    start = end;
  }
  return marginal;
}

/** Candidates that can change places with one another. They have the places from `start` to `end`. */
class NearCandidates {
  readonly #start: number;
  readonly #count: number;
  /** Relative to the best one, so that large scores leave digits for the steps of x. */
  readonly #worths: Float64Array;
  readonly #rates: Float64Array;
  /** The rate times the time. */
  readonly #now: Float64Array;
  /** The probability to have arrived. */
  readonly #arrived: Float64Array;

  constructor(scores: ArrayLike<number>, temperature: number, start: number, end: number) {
    this.#start = start;
    const count = (this.#count = end - start);
    this.#worths = new Float64Array(count);
    this.#rates = new Float64Array(count);
    this.#now = new Float64Array(count);
    this.#arrived = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const worth = ((scores[start + i] ?? 0) - (scores[start] ?? 0)) / temperature;
      this.#worths[i] = worth;
      this.#rates[i] = Math.exp(worth);
    }
  }

  /** Writes the probabilities of the candidates that are at their places in the order. */
  add(order: Int32Array, marginal: Float64Array): void {
    const count = this.#count;
    /** By candidate: its place among these; 0 and 1 are not integrated. */
    const places = new Int32Array(count);
    for (let place = 0; place < count; place++) {
      const index = (order[this.#start + place] ?? -1) - this.#start;
      if (index < 0 || index >= count) continue;
      if (place < 2) marginal[this.#start + place] = place === 0 ? this.#first(index) : this.#second(index);
      else places[index] = place;
    }
    if (count > 2) this.#integrate(places, marginal);
  }

  #first(index: number): number {
    return (this.#rates[index] ?? 0) / sumWithout(this.#rates, -1);
  }

  /** The sum over the candidates that can be above it. */
  #second(index: number): number {
    const rates = this.#rates;
    const all = sumWithout(rates, -1);
    const own = rates[index] ?? 0;
    let sum = 0;
    for (let i = 0; i < rates.length; i++) {
      const rate = rates[i] ?? 0;
      // All rates but the best one are at most half of the sum, and no digits are lost.
      if (i !== index) sum += ((rate / all) * own) / (i === 0 ? sumWithout(rates, 0) : all - rate);
    }
    return sum;
  }

  #integrate(places: Int32Array, marginal: Float64Array): void {
    const count = this.#count;
    const parts = PARTS.find(({ candidates }) => count <= candidates)?.parts ?? 4;
    const step = Math.LN2 / parts;
    const first = Math.log(EARLY / sumWithout(this.#rates, -1));
    const arrivals = new Arrivals(count);
    for (let part = 0; part < parts; part++) this.#sum(first + part * step, step, places, arrivals, marginal);
  }

  /** Adds the terms at x, x + ln 2, x + 2 ln 2 … */
  #sum(from: number, step: number, places: Int32Array, arrivals: Arrivals, marginal: Float64Array): void {
    const [worths, now, arrived] = [this.#worths, this.#now, this.#arrived];
    const count = this.#count;
    /** The candidates before `next` have surely arrived; those from `ahead` surely have not. */
    let [next, ahead] = [0, 0];
    for (let x = from; ; x += Math.LN2) {
      for (; ahead < count && (worths[ahead] ?? 0) + x > UNSEEN; ahead++) {
        now[ahead] = Math.exp((worths[ahead] ?? 0) + x);
        arrived[ahead] = -Math.expm1(-(now[ahead] ?? 0));
      }
      while (next < ahead && (now[next] ?? 0) > SURE) next++;
      if (next === count) return;
      arrivals.clear();
      for (let i = next; i < ahead; i++) arrivals.add(arrived[i] ?? 0);
      for (let i = next; i < ahead; i++) {
        const place = places[i] ?? 0;
        const chance = arrived[i] ?? 0;
        if (place > 1) {
          const at = this.#start + place;
          const others = arrivals.without(chance, place - next);
          marginal[at] = (marginal[at] ?? 0) + step * (now[i] ?? 0) * (1 - chance) * others;
        }
        now[i] = 2 * (now[i] ?? 0);
        arrived[i] = chance * (2 - chance);
      }
    }
  }
}

function sumWithout(values: Float64Array, index: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) if (i !== index) sum += values[i] ?? 0;
  return sum;
}

/** How many candidates have arrived: a sum of independent events. */
class Arrivals {
  /** By number: the probability that so many of the events happen. */
  readonly #chances: Float64Array;
  /** Other numbers than those from `least` to `most` are too rare. */
  #least = 0;
  #most = 0;

  constructor(events: number) {
    this.#chances = new Float64Array(events + 1);
  }

  clear(): void {
    this.#chances[0] = 1;
    this.#least = 0;
    this.#most = 0;
  }

  add(probability: number): void {
    const chances = this.#chances;
    const not = 1 - probability;
    let [least, most] = [this.#least, this.#most + 1];
    let above = 0;
    for (let at = most; at > least; at--) {
      const below = chances[at - 1] ?? 0;
      chances[at] = above * not + below * probability;
      above = below;
    }
    chances[least] = above * not;
    while ((chances[most] ?? 1) < RARE) most--;
    while ((chances[least] ?? 1) < RARE) least++;
    this.#least = least;
    this.#most = most;
  }

  /** The probability that exactly `wanted` of the events happen, without one event of this probability. */
  without(probability: number, wanted: number): number {
    const chances = this.#chances;
    const [least, most] = [this.#least, this.#most];
    if (wanted < least - 1 || wanted > most) return 0;
    const not = 1 - probability;
    let chance = 0;
    // Each direction divides by the larger probability, so that rounding errors do not grow.
    if (probability <= 0.5) {
      const [each, less] = [1 / not, probability / not];
      for (let i = least; i <= wanted; i++) chance = (chances[i] ?? 0) * each - less * chance;
    } else {
      const [each, less] = [1 / probability, not / probability];
      for (let i = most; i > wanted; i--) chance = (chances[i] ?? 0) * each - less * chance;
    }
    return Math.max(0, chance);
  }
}
