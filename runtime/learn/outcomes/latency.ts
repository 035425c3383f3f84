import type { Interval } from '../../ground/core/statistics.js';

/** A bin is 1 % wider than the one below it; the first ends at 0.01 ms. */
const GROWTH = Math.log(1.01);
const LEAST = 0.01;
const BINS = 2400;

/** The times of requests, in bins of 1 %. Its memory does not grow with the number of requests. */
export class Latencies {
  readonly #bins = new Float64Array(BINS);
  count = 0;

  /** @param ms how long a request took */
  add(ms: number): void {
    if (!(ms >= 0)) return;
    const bin = Math.ceil(Math.log(Math.max(ms, LEAST) / LEAST) / GROWTH);
    const at = Math.min(BINS - 1, bin);
    this.#bins[at] = (this.#bins[at] ?? 0) + 1;
    this.count += 1;
  }

  /** The time within which this share of the requests was answered, up to 1 % too high; NaN without requests. */
  quantile(share: number): number {
    const wanted = share * this.count;
    let passed = 0;
    for (let at = 0; at < BINS && this.count > 0; at++) {
      passed += this.#bins[at] ?? 0;
      if (passed >= wanted && passed > 0) return LEAST * Math.exp(at * GROWTH);
    }
    return NaN;
  }

  /**
   * The 95 % interval of a quantile: the quantiles at the ends of the interval of the share below it. Requests count as
   * independent.
   * Source: Conover, "Practical nonparametric statistics", 3rd edition, 1999, section 3.2.
   */
  interval(share: number): Interval {
    const around = 1.96 * Math.sqrt((share * (1 - share)) / this.count);
    return {
      lower: this.quantile(Math.max(0, share - around)),
      upper: share + around > 1 ? Infinity : this.quantile(share + around),
    };
  }
}
