/** How two rankings of the same request differ in their orders. */
export interface OrderDiff {
  readonly isSame: boolean;
  /** See `overlapAt`. */
  readonly overlap: number;
  /** The places, from 1, of the candidates that both hold, in the order of A. */
  readonly places: readonly (readonly [a: number, b: number])[];
}

export function compareOrders(a: readonly string[], b: readonly string[], depth: number): OrderDiff {
  const placeInB = new Map(b.map((id, at) => [id, at + 1]));
  return {
    isSame: a.length === b.length && a.every((id, at) => id === b[at]),
    overlap: overlapAt(a, b, depth),
    places: a.flatMap((id, at) => {
      const other = placeInB.get(id);
      return other === undefined ? [] : [[at + 1, other] as const];
    }),
  };
}

/** How alike two rankings are. A ranking is a list of ids without repetitions, best first. */

/**
 * The share of ids that the first k of both rankings have in common. If both are shorter than k, the longer length
 * counts.
 * @returns 0 to 1; 1 for two empty rankings
 */
export function overlapAt(a: readonly string[], b: readonly string[], k: number): number {
  const depth = Math.min(k, Math.max(a.length, b.length));
  if (depth === 0) return 1;
  const first = new Set(a.slice(0, k));
  return b.slice(0, k).filter((id) => first.has(id)).length / depth;
}

/**
 * Rank-biased overlap, extrapolated: the expected overlap for a reader who goes on to the next rank with probability p.
 * The rankings may have different lengths and ids.
 * Source: Webber, Moffat and Zobel, "A similarity measure for indefinite rankings", TOIS 2010, equation 32.
 * @param p between 0 and 1; at 0.9 the first ten ranks have 86 % of the weight
 * @returns 0 to 1; 1 for equal rankings
 */
export function rankBiasedOverlap(a: readonly string[], b: readonly string[], p = 0.9): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const [s, l] = [short.length, long.length];
  if (l === 0) return 1;
  if (s === 0) return 0;
  const seenShort = new Set<string>();
  const seenLong = new Set<string>();
  let shared = 0;
  let sharedAtShort = 0;
  let sum = 0;
  let weight = 1;
  for (let d = 1; d <= l; d++) {
    const fromLong = long[d - 1] ?? '';
    const fromShort = short[d - 1];
    if (fromShort === fromLong) shared += 1;
    else {
      if (seenShort.has(fromLong)) shared += 1;
      if (fromShort !== undefined && seenLong.has(fromShort)) shared += 1;
    }
    seenLong.add(fromLong);
    if (fromShort !== undefined) seenShort.add(fromShort);
    if (d === s) sharedAtShort = shared;
    weight *= p;
    sum += (shared / d) * weight;
    if (d > s) sum += ((sharedAtShort * (d - s)) / (s * d)) * weight;
  }
  return ((1 - p) / p) * sum + ((shared - sharedAtShort) / l + sharedAtShort / s) * weight;
}

/**
 * Kendall's tau-b of two lists of scores for the same items: the agreement of all pairs, corrected for ties.
 * Source: Kendall, "The treatment of ties in ranking problems", Biometrika 1945; in n log n steps: Knight, "A computer
 * method for calculating Kendall's tau with ungrouped data", JASA 1966.
 * @returns −1 to 1; undefined if all items of a list are tied
 */
export function kendallTau(x: ArrayLike<number>, y: ArrayLike<number>): number | undefined {
  const n = x.length;
  const order = Array.from({ length: n }, (_, i) => i).sort(
    (i, j) => (x[i] ?? 0) - (x[j] ?? 0) || (y[i] ?? 0) - (y[j] ?? 0),
  );
  const pairs = (n * (n - 1)) / 2;
  const sameX = (i: number, j: number): boolean => x[i] === x[j];
  const tiedX = tiedPairs(order, sameX);
  const tiedBoth = tiedPairs(order, (i, j) => sameX(i, j) && y[i] === y[j]);
  const values = Float64Array.from(order, (i) => y[i] ?? 0);
  const swaps = sortCountingSwaps(values);
  let tiedY = 0;
  for (let i = 0, run = 0; i < n; i++) {
    run = i > 0 && values[i] === values[i - 1] ? run + 1 : 0;
    tiedY += run;
  }
  const scale = Math.sqrt(pairs - tiedX) * Math.sqrt(pairs - tiedY);
  return scale === 0 ? undefined : (pairs - tiedX - tiedY + tiedBoth - 2 * swaps) / scale;
}

function tiedPairs(order: readonly number[], isTied: (i: number, j: number) => boolean): number {
  let pairs = 0;
  let run = 0;
  for (let at = 1; at < order.length; at++) {
    run = isTied(order[at - 1] ?? 0, order[at] ?? 0) ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

/** Merge sort. Returns the number of pairs that were in the wrong order. */
function sortCountingSwaps(values: Float64Array): number {
  const spare = new Float64Array(values.length);
  const sort = (from: number, to: number): number => {
    if (to - from < 2) return 0;
    const middle = (from + to) >> 1;
    let swaps = sort(from, middle) + sort(middle, to);
    let [left, right] = [from, middle];
    for (let at = from; at < to; at++) {
      const takesLeft = right >= to || (left < middle && (values[left] ?? 0) <= (values[right] ?? 0));
      if (!takesLeft) swaps += middle - left;
      spare[at] = (takesLeft ? values[left++] : values[right++]) ?? 0;
    }
    values.set(spare.subarray(from, to), from);
    return swaps;
  };
  return sort(0, values.length);
}
