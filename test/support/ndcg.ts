/**
 * Computes NDCG@k (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002) with gain
 * 2^grade − 1 and discount log2(rank + 1).
 * @param grades of the items in ranked order; items that are not ranked do not count as lost
 * @returns 0 to 1; NaN if no item has a positive grade
 */
export function ndcg(grades: readonly number[], k: number): number {
  const best = [...grades].sort((a, b) => b - a);
  return gain(grades, k) / gain(best, k);
}

function gain(grades: readonly number[], k: number): number {
  return grades.slice(0, k).reduce((sum, grade, i) => sum + (2 ** grade - 1) / Math.log2(i + 2), 0);
}
