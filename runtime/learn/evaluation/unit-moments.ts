/** What the comparison of two arms needs of a metric. */
export interface Moments {
  readonly units: number;
  readonly value: number;
  /** Of `value`. */
  readonly variance: number;
}

/** Sums over units of squared deviations of the metric, of its past value, and of their product. */
export interface Spread {
  readonly now: number;
  readonly both: number;
  readonly past: number;
}

/** A unit's outcome, its base, and both in the time before. */
const SIZE = 4;
const NOTHING = new Float64Array(SIZE * SIZE);
/** The unit that is added. */
const added = new Float64Array(SIZE);

/**
 * What is known of a metric in one arm: the sums over its units. A unit, e.g. a user, has an outcome and a base. The
 * metric is the sum of the outcomes divided by the sum of the bases: with a base of 1 the mean of units, with the number
 * of requests as the base an outcome per request. A unit can also have both of the time before the experiment.
 */
export class UnitMoments implements Moments {
  units = 0;
  /** Nothing was done in the past, for each unit. */
  readonly #means = Float64Array.of(0, 0, 0, 1);
  /** The sums of the products of deviations, row by row. */
  readonly #products = new Float64Array(SIZE * SIZE);
  /** How many of the means vary: the past does not if no unit has one. */
  #varying = 2;

  add(outcome: number, base = 1, past = 0, pastBase = 1): void {
    added[0] = outcome;
    added[1] = base;
    added[2] = past;
    added[3] = pastBase;
    this.#join(1, added, NOTHING);
  }

  /** Adds the units of another sum. */
  merge(other: UnitMoments): void {
    if (other.units > 0) this.#join(other.units, other.#means, other.#products);
  }

  /**
   * The means and the sums of products of deviations are updated, so large values lose no digits.
   * Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
   */
  #join(units: number, means: Float64Array, products: Float64Array): void {
    const all = this.units + units;
    const share = units / all;
    const weight = this.units * share;
    if (means[2] !== 0 || means[3] !== 1) this.#varying = SIZE;
    const varying = this.#varying;
    for (let i = 0; i < varying; i++) {
      const by = (means[i] ?? 0) - (this.#means[i] ?? 0);
      for (let j = 0; j < varying; j++) {
        const at = i * SIZE + j;
        const other = (means[j] ?? 0) - (this.#means[j] ?? 0);
        this.#products[at] = (this.#products[at] ?? 0) + (products[at] ?? 0) + by * other * weight;
      }
    }
    for (let i = 0; i < varying; i++)
      this.#means[i] = (this.#means[i] ?? 0) + ((means[i] ?? 0) - (this.#means[i] ?? 0)) * share;
    this.units = all;
  }

  /** The metric; NaN without units or with bases of 0. */
  get value(): number {
    return this.#ratio(0);
  }

  /** The metric of the time before; NaN if nothing is known of it. */
  get past(): number {
    return this.#ratio(2);
  }

  /**
   * The sums that the variance comes from, by the delta method: the metric is close to a mean of
   * (outcome − metric · base) / mean base over the units, whose variance is known. With a base of 1 it is the outcome.
   * Source: Deng, Knoblich and Lu, "Applying the delta method in metric analytics", KDD 2018, section 3.1.
   */
  get spread(): Spread {
    return { now: Math.max(0, this.#sum(0, 0)), both: this.#sum(0, 2), past: Math.max(0, this.#sum(2, 2)) };
  }

  /** @returns NaN for fewer than two units */
  get variance(): number {
    return this.varianceOf(Math.max(0, this.#sum(0, 0)));
  }

  /** The variance of a mean whose units have this sum of squared deviations. */
  varianceOf(squares: number): number {
    return this.units < 2 ? NaN : squares / (this.units - 1) / this.units;
  }

  /** @param at 0 for the metric, 2 for that of the time before */
  #ratio(at: number): number {
    const base = this.#means[at + 1] ?? 0;
    return base === 0 ? NaN : (this.#means[at] ?? 0) / base;
  }

  /** The sum over units of the product of two deviations, each of the metric or of that of the time before. */
  #sum(one: number, other: number): number {
    const [a, b] = [this.#ratio(one), this.#ratio(other)];
    const product = (i: number, j: number): number => this.#products[i * SIZE + j] ?? 0;
    const cross =
      product(one, other) -
      a * product(one + 1, other) -
      b * product(one, other + 1) +
      a * b * product(one + 1, other + 1);
    return cross / ((this.#means[one + 1] ?? 0) * (this.#means[other + 1] ?? 0));
  }
}
