/**
 * What is known of a metric in one arm: the sums over its units. A unit, e.g. a user, has an outcome and a base. The
 * metric is the sum of the outcomes divided by the sum of the bases: with a base of 1 the mean of units, with the number
 * of requests as the base an outcome per request.
 */
export class UnitMoments {
  units = 0;
  #outcome = 0;
  #base = 0;
  #squaredOutcome = 0;
  #squaredBase = 0;
  #product = 0;

  /**
   * Adds a unit. The means and the sums of squared deviations are updated, so large values lose no digits.
   * Source: Welford, "Note on a method for calculating corrected sums of squares and products", Technometrics 1962.
   */
  add(outcome: number, base = 1): void {
    this.units += 1;
    const [byOutcome, byBase] = [outcome - this.#outcome, base - this.#base];
    this.#outcome += byOutcome / this.units;
    this.#base += byBase / this.units;
    this.#squaredOutcome += byOutcome * (outcome - this.#outcome);
    this.#squaredBase += byBase * (base - this.#base);
    this.#product += byOutcome * (base - this.#base);
  }

  /**
   * Adds the units of another sum.
   * Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
   */
  merge(other: UnitMoments): void {
    const all = this.units + other.units;
    if (all === 0) return;
    const share = other.units / all;
    const [byOutcome, byBase] = [other.#outcome - this.#outcome, other.#base - this.#base];
    const weight = this.units * share;
    this.#squaredOutcome += other.#squaredOutcome + byOutcome * byOutcome * weight;
    this.#squaredBase += other.#squaredBase + byBase * byBase * weight;
    this.#product += other.#product + byOutcome * byBase * weight;
    this.#outcome += byOutcome * share;
    this.#base += byBase * share;
    this.units = all;
  }

  /** The metric; NaN without units or with bases of 0. */
  get value(): number {
    return this.#base === 0 ? NaN : this.#outcome / this.#base;
  }

  /**
   * The variance of the metric by the delta method: the metric is close to a mean of (outcome − metric · base) / mean base
   * over the units, whose variance is known. With a base of 1 it is the variance of the mean.
   * Source: Deng, Knoblich and Lu, "Applying the delta method in metric analytics", KDD 2018, section 3.1.
   * @returns NaN for fewer than two units
   */
  get variance(): number {
    const { units, value } = this;
    if (units < 2) return NaN;
    const squares = this.#squaredOutcome - 2 * value * this.#product + value * value * this.#squaredBase;
    return Math.max(0, squares) / (units - 1) / units / (this.#base * this.#base);
  }
}
