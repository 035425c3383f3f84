/** Added to the tier of a buried row. The result is lower in the ranking than every tier that `top:` makes. */
export const BURIED = 1 << 20;

/**
 * Finds the best `most` rows, best first: lower tier, then higher score, then earlier row. For fewer rows than there are,
 * it keeps a heap of the best ones instead of sorting all (Knuth, The Art of Computer Programming 3, 5.2.3):
 * O(n log most). For all rows it merges sorted runs (5.2.4), which is two to three times faster than the heap.
 */
export function bestRows(
  rows: Int32Array,
  scores: Float64Array,
  tiers: Int32Array,
  most: number,
): Int32Array {
  if (most >= rows.length) return sortedRows(rows, scores, tiers);
  const size = most;
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

/** The number of rows that are sorted by insertion before runs are merged. */
const RUN = 8;

function sortedRows(rows: Int32Array, scores: Float64Array, tiers: Int32Array): Int32Array {
  /** Whether row a ranks above row b. */
  const above = (a: number, b: number): boolean => {
    const tierA = tiers[a] ?? 0;
    const tierB = tiers[b] ?? 0;
    if (tierA !== tierB) return tierA < tierB;
    const scoreA = scores[a] ?? 0;
    const scoreB = scores[b] ?? 0;
    return scoreA !== scoreB ? scoreA > scoreB : a < b;
  };
  const count = rows.length;
  let from = rows.slice();
  for (let start = 0; start < count; start += RUN) {
    const end = Math.min(start + RUN, count);
    for (let i = start + 1; i < end; i++) {
      const row = from[i] ?? 0;
      let at = i;
      for (; at > start && above(row, from[at - 1] ?? 0); at--) from[at] = from[at - 1] ?? 0;
      from[at] = row;
    }
  }
  let to = new Int32Array(count > RUN ? count : 0);
  for (let run = RUN; run < count; run *= 2) {
    for (let start = 0; start < count; start += 2 * run) {
      const middle = Math.min(start + run, count);
      const end = Math.min(start + 2 * run, count);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const isLeft = left < middle && (right >= end || !above(from[right] ?? 0, from[left] ?? 0));
        to[at] = (isLeft ? from[left++] : from[right++]) ?? 0;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
