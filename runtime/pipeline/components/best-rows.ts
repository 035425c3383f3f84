/**
 * Finds the best `most` rows, best first: lower tier, then higher score, then earlier row. It keeps a heap of the best
 * rows instead of sorting all rows (Knuth, The Art of Computer Programming 3, 5.2.3): O(n log most).
 */
export function bestRows(
  rows: Int32Array,
  scores: Float64Array,
  tiers: Int32Array,
  most: number,
): Int32Array {
  const size = Math.min(most, rows.length);
  const heap = rows.slice(0, size); // its root is the worst of the best rows
  if (size === 0) return heap;

  /** Whether row a ranks below row b. */
  const below = (a: number, b: number): boolean => {
    const tierA = tiers[a] ?? 0;
    const tierB = tiers[b] ?? 0;
    if (tierA !== tierB) return tierA > tierB;
    const scoreA = scores[a] ?? 0;
    const scoreB = scores[b] ?? 0;
    return scoreA !== scoreB ? scoreA < scoreB : a > b;
  };
  const sink = (from: number, end: number): void => {
    const row = heap[from] ?? 0;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= end) break;
      if (child + 1 < end && below(heap[child + 1] ?? 0, heap[child] ?? 0)) child++;
      const candidate = heap[child] ?? 0;
      if (!below(candidate, row)) break;
      heap[at] = candidate;
      at = child;
    }
    heap[at] = row;
  };

  for (let i = (size >> 1) - 1; i >= 0; i--) sink(i, size);
  for (let i = size; i < rows.length; i++) {
    const row = rows[i] ?? 0;
    if (!below(heap[0] ?? 0, row)) continue;
    heap[0] = row;
    sink(0, size);
  }
  for (let end = size - 1; end > 0; end--) {
    const worst = heap[0] ?? 0;
    heap[0] = heap[end] ?? 0;
    heap[end] = worst;
    sink(0, end);
  }
  return heap;
}
