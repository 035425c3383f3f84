/** How far judges agree on the candidates that at least two of them graded. */
export interface Agreement {
  /** The candidates that at least two judges graded. */
  readonly candidates: number;
  /** The share of equal grades among the pairs of grades for one candidate, 0 to 1; null if there is no pair. */
  readonly percent: number | null;
  /** Krippendorff's alpha: 1 is perfect agreement, 0 is that of chance; null if all grades are equal, or there is no pair. */
  readonly alpha: number | null;
}

/**
 * Measures the agreement of any number of judges, of whom each may have left out candidates. Alpha is for ordinal values: a
 * grade of 3 beside a grade of 0 counts as a larger disagreement than beside a grade of 2. For two judges, no missing grade and
 * unordered values it is near Cohen's kappa; for several, near that of Fleiss.
 * Source: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", University of Pennsylvania, 2011: the matrix of
 * coincidences (section C), and the ordinal metric (section E).
 * @param units the grades of each candidate, one for each judge who graded it
 */
export function agreementOf(units: readonly (readonly number[])[]): Agreement {
  const paired = units.filter((grades) => grades.length > 1);
  const values = [...new Set(paired.flat())].sort((a, b) => a - b);
  const rank = new Map(values.map((value, at) => [value, at]));
  const size = values.length;
  const coincidences = new Float64Array(size * size);
  let [equal, pairs] = [0, 0];
  for (const grades of paired)
    for (const [i, one] of grades.entries())
      for (const [j, other] of grades.entries()) {
        if (i === j) continue;
        const cell = (rank.get(one) ?? 0) * size + (rank.get(other) ?? 0);
        coincidences[cell] = (coincidences[cell] ?? 0) + 1 / (grades.length - 1);
        pairs++;
        if (one === other) equal++;
      }
  return {
    candidates: paired.length,
    percent: pairs === 0 ? null : equal / pairs,
    alpha: alphaOf(coincidences, size),
  };
}

/** @param coincidences a square matrix by rank of the value @returns null if fewer than two values occur */
function alphaOf(coincidences: Float64Array, size: number): number | null {
  const totals = Array.from({ length: size }, (_, row) =>
    coincidences.subarray(row * size, (row + 1) * size).reduce((sum, one) => sum + one, 0),
  );
  const all = totals.reduce((sum, one) => sum + one, 0);
  let [observed, expected] = [0, 0];
  for (let low = 0; low < size; low++) {
    let between = (totals[low] ?? 0) / 2;
    for (let high = low + 1; high < size; high++) {
      const own = totals[high] ?? 0;
      const distance = (between + own / 2) ** 2;
      observed += (coincidences[low * size + high] ?? 0) * distance;
      expected += (totals[low] ?? 0) * own * distance;
      between += own;
    }
  }
  return expected === 0 ? null : 1 - ((all - 1) * observed) / expected;
}
