/** What is known of a set of finite numbers once it is complete. */
export class Distribution {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  /** Of the numbers in units of the range, from 0 at the least to 1 at the largest. */
  readonly #mean: number;
  readonly #deviation: number;
  readonly #sum: number;
  /** In units of the largest number, which does not overflow where the sum does. */
  readonly #relativeSum: number;
  readonly #sorted: Float64Array;

  /** @param sorted ascending; kept, not copied */
  constructor(sorted: Float64Array) {
    const count = sorted.length;
    this.#sorted = sorted;
    this.count = count;
    this.min = sorted[0] ?? NaN;
    this.max = sorted[count - 1] ?? NaN;
    let sum = 0;
    let relativeSum = 0;
    let minMaxes = 0;
    for (const value of sorted) {
      sum += value;
      relativeSum += value / this.max;
      minMaxes += this.minMax(value);
    }
    this.#sum = sum;
    this.#relativeSum = relativeSum;
    this.#mean = minMaxes / count;
    let squares = 0;
    for (const value of sorted) squares += (this.minMax(value) - this.#mean) ** 2;
    this.#deviation = Math.sqrt(squares / count);
  }

  /** How many are smaller. */
  below(value: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How many are smaller or equal. */
  upTo(value: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle] as number) <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** 1 for the largest; equal numbers share the better rank, and the next one counts them all (1, 1, 3). */
  rank(value: number): number {
    return 1 + this.count - this.upTo(value);
  }

  /** (value - min) / (max - min); NaN where all are equal. */
  minMax(value: number): number {
    const range = this.max - this.min;
    // The range of numbers near both ends of what a double holds overflows; that of their halves does not.
    return range < Infinity
      ? (value - this.min) / range
      : (value / 2 - this.min / 2) / (this.max / 2 - this.min / 2);
  }

  /**
   * (value - mean) / standard deviation of the set; NaN where all are equal. Worked out in units of the range, which
   * leaves it the same and cannot overflow.
   */
  zScore(value: number): number {
    return (this.minMax(value) - this.#mean) / this.#deviation;
  }

  /** value / sum; NaN where one is negative, or all are 0. */
  share(value: number): number {
    if (this.min < 0) return NaN;
    return this.#sum < Infinity ? value / this.#sum : value / this.max / this.#relativeSum;
  }
}
