import type { FeatureSummary } from '../manifest.js';

/** How much a feature has moved against a data set. */
export interface Shift {
  readonly feature: string;
  /** The population stability index: the sum of (actual − expected) · ln(actual / expected) over the bins. */
  readonly psi: number;
  /**
   * The mean and the 95 % quantile of the index if nothing has moved. With n and m rows and B bins, the index is about
   * (1/n + 1/m) times a chi-squared variable with B − 1 degrees of freedom. Source: Yurdakul and Naranjo, "Statistical
   * properties of the population stability index", Journal of Risk Model Validation 14 (4), 2020.
   */
  readonly noise: number;
  readonly noise95: number;
  readonly rows: number;
  readonly bins: number;
  /** Shares of rows without a value: now, and in the data set. */
  readonly missing: readonly [now: number, before: number];
  readonly moved: boolean;
}

/** Counts the values of a feature into the bins that the manifest of a data set describes. */
export class ShiftCounter {
  readonly #summary: FeatureSummary;
  /** The distinct deciles of a number. A bin goes up to and including its edge; one more bin follows the last. */
  readonly #edges: readonly number[];
  /** Values with exactly the number of an edge. */
  readonly #onEdge: Float64Array;
  readonly #places: ReadonlyMap<string, number>;
  /** The last bin is of rows without a value. */
  readonly #counts: Float64Array;
  rows = 0;

  constructor(summary: FeatureSummary) {
    this.#summary = summary;
    this.#edges = [...new Set(summary.quantiles?.slice(1, -1))];
    this.#onEdge = new Float64Array(this.#edges.length);
    this.#places = new Map((summary.values ?? []).map(({ value }, at) => [value, at]));
    this.#counts = new Float64Array(Math.max(this.#edges.length, this.#places.size) + 2);
  }

  add(value: number | string | undefined): void {
    this.rows += 1;
    const at = this.#binOf(value);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    if (value === this.#edges[at]) this.#onEdge[at] = (this.#onEdge[at] ?? 0) + 1;
  }

  /**
   * @param sampled the rows of the data set that its bins are made of
   * @param clusters how many rows of a request there are, if all rows of a request have one value
   */
  shift(sampled: number, clusters = 1): Shift {
    const { name, missing, quantiles } = this.#summary;
    const rows = this.rows / clusters;
    const before = sampled / clusters;
    const gone = (this.#counts.at(-1) ?? 0) / Math.max(1, this.rows);
    const known = Math.max(1, this.rows - (this.#counts.at(-1) ?? 0));
    const actual = Array.from(this.#counts.subarray(0, -1), (count) => count / known);
    const expected = quantiles === undefined ? this.#textShares() : this.#numberShares(actual, known);
    const terms = actual.map((share, at): Pair => [share * (1 - gone), (expected[at] ?? 0) * (1 - missing)]);
    terms.push([gone, missing]);
    const used = terms.filter(([now, then]) => now > 0 || then > 0);
    const psi = used.reduce((sum, pair) => sum + term(pair, rows, before), 0);
    const degrees = Math.max(1, used.length - 1);
    const scale = rows === 0 || before === 0 ? Infinity : 1 / rows + 1 / before;
    const noise95 = scale * chiSquared95(degrees);
    return {
      feature: name,
      psi,
      noise: scale * degrees,
      noise95,
      rows: this.rows,
      bins: used.length,
      missing: [gone, missing],
      moved: psi > noise95 && psi > LEAST_SHIFT,
    };
  }

  #textShares(): readonly number[] {
    const shares = (this.#summary.values ?? []).map(({ share }) => share);
    return [...shares, Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0))];
  }

  /**
   * Decile i says: at most i tenths of the values are below it, and at least i tenths are not above it. If many values are
   * equal to it, the share up to it is not known exactly; then the one that is nearest to the actual share counts.
   */
  #numberShares(actual: readonly number[], known: number): readonly number[] {
    const inner = this.#summary.quantiles?.slice(1, -1) ?? [];
    if (inner.length === 0) return actual;
    const tenths = inner.length + 1;
    let through = 0;
    let reached = 0;
    const shares = this.#edges.map((edge, at) => {
      through += actual[at] ?? 0;
      const least = (inner.lastIndexOf(edge) + 1) / tenths;
      const most = (inner.indexOf(edge) + 1) / tenths + (this.#onEdge[at] ?? 0) / known;
      const expected = Math.min(Math.max(through, least), Math.max(least, most), 1);
      const share = Math.max(0, expected - reached);
      reached = Math.max(reached, expected);
      return share;
    });
    return [...shares, Math.max(0, 1 - reached)];
  }

  #binOf(value: number | string | undefined): number {
    if (value === undefined || Number.isNaN(value)) return this.#counts.length - 1;
    if (typeof value === 'string') return this.#places.get(value) ?? this.#counts.length - 2;
    let low = 0;
    let high = this.#edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value <= (this.#edges[middle] ?? Infinity)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

type Pair = readonly [actual: number, expected: number];

/** A smaller index is no shift that anyone would act on, however many rows show it. */
const LEAST_SHIFT = 0.02;

/** A bin without rows counts as half a row, so that the logarithm exists. */
function term([actual, expected]: Pair, rows: number, before: number): number {
  const a = Math.max(actual, 0.5 / Math.max(1, rows));
  const e = Math.max(expected, 0.5 / Math.max(1, before));
  return (a - e) * Math.log(a / e);
}

/** The 95 % quantile of the chi-squared distribution, by Wilson and Hilferty's cube root (within 1 %). */
export function chiSquared95(degrees: number): number {
  const spread = 2 / (9 * degrees);
  return degrees * (1 - spread + 1.6449 * Math.sqrt(spread)) ** 3;
}
