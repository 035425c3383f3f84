import { bestRows } from '../../request/ordering/best-rows.js';

/** Positions whose discount is kept; further ones are computed. */
const DISCOUNTS = Float64Array.from({ length: 64 }, (_, at) => 1 / Math.log2(at + 2));
/** How much a score may differ from the sum, relative to it: the order of additions differs. */
const SLACK = 1e-9;

/** A ranking at one point, as the pipeline made it. */
export interface ProbedRanking {
  /** By row; the arrays are valid during the call. */
  readonly scores: Float64Array;
  /** `REMOVED` for a row that a filter removed. */
  readonly tiers: Int32Array;
}

export const REMOVED = 2 ** 30;

/**
 * The scores of queries as sums: a constant and a factor a param. It is made from rankings at a few points, and it says
 * for which queries such sums give all rankings at these points. Then any other point costs no run of the pipeline.
 */
export class ScoreTable {
  /** By query: its first row; the last one is the number of rows. */
  readonly #first: Int32Array;
  /** By param and row. */
  readonly #factors: Float64Array;
  readonly #tiers: Int32Array;
  readonly #isSum: Uint8Array;
  /** By query: whether all rows have one tier, and a score. */
  readonly #isPlain: Uint8Array;
  /** By row: what it adds to the measure at the first rank. */
  readonly #gains: Float64Array;
  /** By row: its score at the last point of its query, which is in `#seen` by param and query. */
  readonly #scores: Float64Array;
  readonly #seen: Float64Array;
  readonly #rows: Int32Array;
  readonly #best = new Int32Array(DISCOUNTS.length);
  readonly #top = new Float64Array(DISCOUNTS.length);
  readonly #depth: number;

  /**
   * @param point the first point
   * @param gains by query and row: what a row adds to the measure at the first rank
   */
  constructor(point: readonly number[], gains: readonly Float64Array[], depth: number) {
    this.#depth = depth;
    this.#first = new Int32Array(gains.length + 1);
    for (const [query, own] of gains.entries())
      this.#first[query + 1] = (this.#first[query] ?? 0) + own.length;
    const rows = this.#first[gains.length] ?? 0;
    this.#gains = new Float64Array(rows);
    for (const [query, own] of gains.entries()) this.#gains.set(own, this.#first[query]);
    this.#scores = new Float64Array(rows);
    this.#tiers = new Int32Array(rows);
    this.#factors = new Float64Array(rows * point.length);
    this.#isSum = new Uint8Array(gains.length).fill(1);
    this.#isPlain = new Uint8Array(gains.length);
    this.#seen = new Float64Array(gains.length * point.length);
    for (const [param, value] of point.entries())
      this.#seen.fill(value, param * gains.length, (param + 1) * gains.length);
    this.#rows = Int32Array.from(
      { length: gains.reduce((most, own) => Math.max(most, own.length), 0) },
      (_, row) => row,
    );
  }

  /** Whether the measure of a query can be computed from the sums. */
  has(query: number): boolean {
    return this.#isSum[query] === 1;
  }

  /** The sums of this query do not give its rankings. */
  leaveOut(query: number): void {
    this.#isSum[query] = 0;
  }

  /** Takes the ranking at the first point, before all others. */
  takeFirst(query: number, { scores, tiers }: ProbedRanking): void {
    const first = this.#first[query] ?? 0;
    this.#scores.set(scores, first);
    this.#tiers.set(tiers, first);
    const kept = tiers.find((tier) => tier !== REMOVED);
    let isPlain = true;
    for (const [row, tier] of tiers.entries()) {
      if (tier === REMOVED) {
        this.#scores[first + row] = -Infinity;
        this.#gains[first + row] = 0;
      } else isPlain &&= tier === kept && !Number.isNaN(scores[row]);
    }
    this.#isPlain[query] = isPlain ? 1 : 0;
  }

  /**
   * Takes the ranking at a point that differs from the first one in one param.
   * @param step by how much it differs
   */
  takeFactor(query: number, param: number, step: number, ranking: ProbedRanking): void {
    if (!this.#isAlike(query, ranking)) return;
    const first = this.#first[query] ?? 0;
    const { scores, tiers } = ranking;
    for (let row = 0; row < scores.length; row++) {
      if (tiers[row] === REMOVED) continue;
      const [score = NaN, before = NaN] = [scores[row], this.#scores[first + row]];
      // A candidate without a score has none anywhere, or the query is left out.
      if (Number.isNaN(score) !== Number.isNaN(before)) {
        this.leaveOut(query);
        return;
      }
      this.#factors[param * this.#gains.length + first + row] = Number.isNaN(score)
        ? 0
        : (score - before) / step;
    }
  }

  /** Leaves the query out unless the sums give the ranking at this point. */
  check(query: number, point: readonly number[], ranking: ProbedRanking, measured: number): void {
    if (!this.has(query) || !this.#isAlike(query, ranking)) return;
    const found = this.measure(query, point);
    const first = this.#first[query] ?? 0;
    const { scores, tiers } = ranking;
    for (let row = 0; row < scores.length; row++) {
      if (tiers[row] === REMOVED) continue;
      const [score = NaN, sum = NaN] = [scores[row], this.#scores[first + row]];
      if (
        Number.isNaN(score) ? sum === sum : !(Math.abs(score - sum) <= SLACK * Math.max(1, Math.abs(score)))
      ) {
        this.leaveOut(query);
        return;
      }
    }
    if (Math.abs(found - measured) > SLACK) this.leaveOut(query);
  }

  #isAlike(query: number, { tiers }: ProbedRanking): boolean {
    const first = this.#first[query] ?? 0;
    if (tiers.every((tier, row) => tier === this.#tiers[first + row])) return true;
    this.leaveOut(query);
    return false;
  }

  /** The measure of a query: what the best rows add, each divided by the discount of its rank. */
  measure(query: number, point: readonly number[]): number {
    const first = this.#first[query] ?? 0;
    const end = this.#first[query + 1] ?? 0;
    this.#moveTo(query, first, end, point);
    const best = this.#isPlain[query] === 1 ? this.#bestPlain(first, end) : this.#bestOf(first, end);
    const most = Math.min(this.#depth, end - first);
    let sum = 0;
    for (let rank = 0; rank < most; rank++) {
      const gain = this.#gains[first + (best[rank] ?? 0)] ?? 0;
      if (gain > 0) sum += gain * (DISCOUNTS[rank] ?? 1 / Math.log2(rank + 2));
    }
    return sum;
  }

  /** Adds to the scores what changed since the last point of the query; along a param, that is one factor a row. */
  #moveTo(query: number, first: number, end: number, point: readonly number[]): void {
    const rows = this.#gains.length;
    for (let param = 0; param < point.length; param++) {
      const seen = param * this.#isSum.length + query;
      const step = (point[param] ?? 0) - (this.#seen[seen] ?? 0);
      if (step === 0) continue;
      this.#seen[seen] = point[param] ?? 0;
      const from = param * rows;
      for (let row = first; row < end; row++)
        this.#scores[row] = (this.#scores[row] ?? 0) + step * (this.#factors[from + row] ?? 0);
    }
  }

  /** The best rows by tier, score and input order. */
  #bestOf(first: number, end: number): Int32Array {
    const [scores, tiers] = [this.#scores.subarray(first, end), this.#tiers.subarray(first, end)];
    return bestRows(this.#rows.subarray(0, end - first), scores, tiers, Math.min(this.#depth, end - first));
  }

  /** The same for rows of one tier that all have a score; several times faster for a page of candidates. */
  #bestPlain(first: number, end: number): Int32Array {
    const most = Math.min(this.#depth, end - first);
    if (most > DISCOUNTS.length) return this.#bestOf(first, end);
    const [best, top] = [this.#best, this.#top];
    let kept = 0;
    for (let row = first; row < end; row++) {
      const score = this.#scores[row] ?? 0;
      if (kept === most && !(score > (top[kept - 1] ?? 0))) continue;
      let at = kept === most ? kept - 1 : kept++;
      for (; at > 0 && score > (top[at - 1] ?? 0); at--) {
        best[at] = best[at - 1] ?? 0;
        top[at] = top[at - 1] ?? 0;
      }
      best[at] = row - first;
      top[at] = score;
    }
    return best;
  }
}
