/**
 * The probability of a candidate to be at a place in an order of Plackett-Luce. Let each candidate arrive after a time that
 * is exponential with the rate exp(worth). The order of arrival is then the order of Plackett-Luce. A candidate is at place
 * k if it arrives at some time t, and exactly k others have arrived before t. This is an integral over t.
 *
 * With t = exp(x), the trapezoidal rule converges exponentially: Trefethen and Weideman, "The exponentially convergent
 * trapezoidal rule", SIAM Review 2014. The tests compare it with the sum over all sets of candidates.
 */

/** The step of x. The error is below 1e-9. */
const STEP = 0.2;

/** Arrivals that are less likely than exp(-23) are left out. */
const FAINT = 23;
const LATE = Math.log(FAINT);

/** Candidates whose worths differ by more than this never change places. */
const FAR = 40;

/**
 * @param worths the logarithms of the rates, descending
 * @param order the index of the candidate at each place
 * @returns by place
 */
export function luceMarginals(worths: Float64Array, order: Int32Array): Float64Array {
  const marginal = new Float64Array(order.length);
  let start = 0;
  for (let end = 1; end <= worths.length; end++) {
    if (end < worths.length && (worths[end - 1] ?? 0) - (worths[end] ?? 0) <= FAR) continue;
    // Only differences count. Large worths would leave no digits for the steps of x.
    const best = worths[start] ?? 0;
    integrate(
      worths.map((worth) => worth - best),
      order,
      start,
      end,
      marginal,
    );
    start = end;
  }
  return marginal;
}

/** Handles the candidates from `start` to `end`, which have the places from `start` to `end`. */
function integrate(
  worths: Float64Array,
  order: Int32Array,
  start: number,
  end: number,
  marginal: Float64Array,
): void {
  let sum = 0;
  for (let i = start; i < end; i++) sum += Math.exp(worths[i] ?? 0);
  const arrivals = new Arrivals(end - start);
  const rates = new Float64Array(end);
  const arrived = new Float64Array(end);
  const last = LATE - (worths[end - 1] ?? 0);
  /** The candidates before `next` have surely arrived; those from `ahead` surely have not. */
  let [next, ahead] = [start, start];
  for (let x = -FAINT - Math.log(sum); x <= last; x += STEP) {
    while (next < end && (worths[next] ?? 0) + x > LATE) next++;
    while (ahead < end && (worths[ahead] ?? 0) + x > -FAR) ahead++;
    arrivals.clear(next - start);
    for (let i = next; i < ahead; i++) {
      const rate = Math.exp((worths[i] ?? 0) + x);
      rates[i] = rate;
      arrived[i] = -Math.expm1(-rate);
      arrivals.add(arrived[i] ?? 0);
    }
    for (let place = start; place < end; place++) {
      const index = order[place] ?? 0;
      if (index < next || index >= ahead) continue;
      const chance = arrived[index] ?? 0;
      const others = arrivals.without(chance, place - start);
      marginal[place] = (marginal[place] ?? 0) + STEP * (rates[index] ?? 0) * (1 - chance) * others;
    }
  }
}

/** How many candidates have arrived: a sum of independent events. */
class Arrivals {
  /** By number: the probability that so many of the open events happen. */
  readonly #chances: Float64Array;
  /** The number of events that can happen or not. */
  #open = 0;
  /** The number of events that happened. */
  #sure = 0;

  constructor(most: number) {
    this.#chances = new Float64Array(most + 1);
  }

  /** @param sure how many events happened */
  clear(sure: number): void {
    this.#chances[0] = 1;
    this.#open = 0;
    this.#sure = sure;
  }

  add(probability: number): void {
    const chances = this.#chances;
    chances[this.#open + 1] = 0;
    for (let at = ++this.#open; at > 0; at--)
      chances[at] = (chances[at] ?? 0) * (1 - probability) + (chances[at - 1] ?? 0) * probability;
    chances[0] = (chances[0] ?? 0) * (1 - probability);
  }

  /** The probability that exactly `wanted` of the events happen, without one event of this probability, below 1. */
  without(probability: number, wanted: number): number {
    const at = wanted - this.#sure;
    if (at < 0 || at >= this.#open) return 0;
    const chances = this.#chances;
    const not = 1 - probability;
    let chance = 0;
    // Each direction divides by the larger probability, so that rounding errors do not grow.
    if (probability <= 0.5) {
      for (let i = 0; i <= at; i++) chance = ((chances[i] ?? 0) - probability * chance) / not;
    } else {
      for (let i = this.#open; i > at; i--) chance = ((chances[i] ?? 0) - not * chance) / probability;
    }
    return Math.max(0, chance);
  }
}
