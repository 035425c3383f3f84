/** Statistics of a complete set of finite numbers. */
export class Distribution {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  /** Mean and deviation of the numbers after scaling to the range 0 (least) to 1 (largest). */
  readonly #mean: number;
  readonly #deviation: number;
  readonly #sum: number;
  /** In units of the largest number, because the plain sum can overflow. */
  readonly #relativeSum: number;
  readonly #sorted: Float64Array;

  /** @param sorted ascending; it is kept, not copied */
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

  /** The number of smaller values. */
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

  /** The number of values that are smaller or equal. */
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

  /** 1 for the largest. Equal numbers share the better rank, and the next rank counts them all (1, 1, 3). */
  rank(value: number): number {
    return 1 + this.count - this.upTo(value);
  }

  /** (value - min) / (max - min); NaN if all are equal. */
  minMax(value: number): number {
    const range = this.max - this.min;
    // The range of numbers near both ends of the doubles overflows. The range of their halves does not.
    return range < Infinity
      ? (value - this.min) / range
      : (value / 2 - this.min / 2) / (this.max / 2 - this.min / 2);
  }

  /**
   * (value - mean) / standard deviation of the set; NaN if all are equal. It is computed in units of the range, which
   * gives the same result and cannot overflow.
   */
  zScore(value: number): number {
    return (this.minMax(value) - this.#mean) / this.#deviation;
  }

  /**
   * The value at a share of the sorted numbers, from 0 (least) to 1 (largest); between two numbers it is interpolated
   * linearly (type 7 of Hyndman and Fan, as NumPy does). NaN without numbers.
   */
  quantile(share: number): number {
    const at = share * (this.count - 1);
    const low = this.#sorted[Math.floor(at)] ?? NaN;
    const high = this.#sorted[Math.ceil(at)] ?? NaN;
    const part = at - Math.floor(at);
    return low === high ? low : low * (1 - part) + high * part;
  }

  /** value / sum; NaN if a number is negative, or all are 0. */
  share(value: number): number {
    if (this.min < 0) return NaN;
    return this.#sum < Infinity ? value / this.#sum : value / this.max / this.#relativeSum;
  }
}
