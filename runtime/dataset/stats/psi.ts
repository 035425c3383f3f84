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

interface Bin {
  readonly label: string;
  /** The share in the data set lies between these; quantiles of few values tell no more. */
  readonly least: number;
  readonly most: number;
}

/** Counts the values of a feature into the bins that the manifest of a data set describes. */
export class ShiftCounter {
  readonly #summary: FeatureSummary;
  readonly #edges: readonly number[];
  readonly #bins: readonly Bin[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #counts: Float64Array;
  rows = 0;

  constructor(summary: FeatureSummary) {
    this.#summary = summary;
    const { missing, quantiles, values } = summary;
    const of = (share: number): number => share * (1 - missing);
    if (quantiles !== undefined) {
      const inner = quantiles.slice(1, -1);
      this.#edges = [...new Set(inner)];
      this.#bins = numberBins(inner, this.#edges, quantiles).map((bin) => ({
        ...bin,
        least: of(bin.least),
        most: of(bin.most),
      }));
      this.#places = new Map();
    } else {
      this.#edges = [];
      const listed = values ?? [];
      const rest = Math.max(0, 1 - listed.reduce((sum, { share }) => sum + share, 0));
      const shares = [
        ...listed.map(({ value, share }) => ({ label: value, share })),
        { label: '(other)', share: rest },
      ];
      this.#bins = shares.map(({ label, share }) => ({ label, least: of(share), most: of(share) }));
      this.#places = new Map(listed.map(({ value }, at) => [value, at]));
    }
    // The last bin is of rows without a value.
    this.#counts = new Float64Array(this.#bins.length + 1);
  }

  add(value: number | string | undefined): void {
    this.rows += 1;
    const last = this.#bins.length;
    const at =
      value === undefined || (typeof value === 'number' && Number.isNaN(value))
        ? last
        : typeof value === 'number'
          ? this.#binOf(value)
          : (this.#places.get(value) ?? last - 1);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /**
   * @param sampled the rows of the data set that its bins are made of
   * @param clusters how many rows of a request there are, if all rows of a request have one value
   */
  shift(sampled: number, clusters = 1): Shift {
    const { name, missing } = this.#summary;
    const rows = this.rows / clusters;
    const before = sampled / clusters;
    let psi = 0;
    let bins = 0;
    let through = 0;
    let belowLeast = 0;
    let belowMost = 0;
    let expectedThrough = 0;
    for (const [at, bin] of this.#bins.entries()) {
      const actual = (this.#counts[at] ?? 0) / Math.max(1, this.rows);
      through += actual;
      belowLeast += bin.least;
      belowMost += bin.most;
      // A bin of the manifest whose share is only known to lie in a range takes the share that is nearest to the actual.
      const reached = Math.min(Math.max(through, belowLeast), belowMost);
      const expected = bin.least === bin.most ? bin.least : Math.max(0, reached - expectedThrough);
      expectedThrough += expected;
      if (expected === 0 && actual === 0) continue;
      bins += 1;
      psi += term(actual, expected, rows, before);
    }
    const gone = (this.#counts[this.#bins.length] ?? 0) / Math.max(1, this.rows);
    if (gone > 0 || missing > 0) {
      bins += 1;
      psi += term(gone, missing, rows, before);
    }
    const scale = rows === 0 || before === 0 ? Infinity : 1 / rows + 1 / before;
    const noise95 = scale * chiSquared95(Math.max(1, bins - 1));
    return {
      feature: name,
      psi,
      noise: scale * Math.max(1, bins - 1),
      noise95,
      rows: this.rows,
      bins,
      missing: [gone, missing],
      moved: psi > noise95 && psi > LEAST_SHIFT,
    };
  }

  /** The bin of a number: up to and including the edge. */
  #binOf(value: number): number {
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

/** A smaller index is no shift that anyone would act on, however many rows show it. */
const LEAST_SHIFT = 0.02;

/** A bin without rows counts as half a row, so that the logarithm exists. */
function term(actual: number, expected: number, rows: number, before: number): number {
  const a = Math.max(actual, 0.5 / Math.max(1, rows));
  const e = Math.max(expected, 0.5 / Math.max(1, before));
  return (a - e) * Math.log(a / e);
}

/**
 * Bins between the distinct deciles. If deciles are equal, or all are whole numbers, a value can have more rows than its
 * deciles tell, up to a tenth more.
 */
function numberBins(inner: readonly number[], edges: readonly number[], quantiles: readonly number[]): Bin[] {
  const tenths = inner.length + 1;
  const isDiscrete = edges.length < inner.length || quantiles.every(Number.isInteger);
  const slack = isDiscrete ? 1 : 0;
  let before = 0;
  const bins = edges.map((edge, at): Bin => {
    const through = inner.lastIndexOf(edge) + 1;
    const least = (through - before) / tenths;
    before = through;
    return { label: `≤ ${edge}`, least, most: least + (at === 0 ? slack / tenths : 0) };
  });
  const rest = (tenths - before) / tenths;
  return [...bins, { label: 'more', least: Math.max(0, rest - slack / tenths), most: rest }];
}

/** The 95 % quantile of the chi-squared distribution, by Wilson and Hilferty's cube root (within 1 %). */
export function chiSquared95(degrees: number): number {
  const spread = 2 / (9 * degrees);
  return degrees * (1 - spread + 1.6449 * Math.sqrt(spread)) ** 3;
}
