import type { Diversity } from '../../../ground/api/ranking-edit.js';
import { BURIED } from '../best-rows.js';
import { WindowMaxima } from './window-maxima.js';

/** One `diversify` while places are filled from the top. */
export class DiversityState {
  readonly places: number;
  /** By row: the marginal relevance of a row that waits; NaN if it does not take part. */
  readonly values: Float64Array;
  readonly #diversity: Diversity;
  /** By row: 1 if it takes part. */
  readonly #isIn: Uint8Array;
  /** By row: its score from 0 to 1. */
  readonly #relevance: Float64Array;
  /** By row: how alike it is to the most similar row above. */
  readonly #most: Float64Array;
  /** Undefined if all rows above count. */
  readonly #recent: WindowMaxima | undefined;
  readonly #alike: Float64Array;
  #isFirst = true;

  constructor(diversity: Diversity, free: Int32Array, scores: Float64Array, tiers: Int32Array) {
    this.places = diversity.places;
    this.#diversity = diversity;
    this.#isIn = new Uint8Array(scores.length);
    for (const row of diversity.rows) this.#isIn[row] = 1;
    this.#relevance = this.#scaled(free, scores, tiers);
    this.#most = new Float64Array(scores.length);
    const { window } = diversity;
    this.#recent = window === undefined ? undefined : new WindowMaxima(window, scores.length);
    this.#alike = new Float64Array(free.length);
    this.values = new Float64Array(scores.length).fill(NaN);
    this.#settle(free, free.length);
  }

  has(row: number): boolean {
    return this.#isIn[row] === 1;
  }

  /** Computes the values of the first `length` rows. */
  #settle(rows: Int32Array, length: number): void {
    const [isIn, relevances, most, values] = [this.#isIn, this.#relevance, this.#most, this.values];
    const { relevance } = this.#diversity;
    for (let i = 0; i < length; i++) {
      const row = rows[i] ?? 0;
      if (isIn[row] === 1)
        values[row] = relevance * (relevances[row] ?? 0) - (1 - relevance) * (most[row] ?? 0);
    }
  }

  /** Takes note of a row that got the next place. @param open the first `length` rows wait */
  place(row: number, open: Int32Array, length: number): void {
    if (!this.has(row)) return;
    const alike = this.#alike;
    this.#diversity.compare(row, open, length, alike);
    const most = this.#most;
    const isFirst = this.#isFirst;
    if (this.#recent !== undefined) this.#recent.add(open, length, alike, most);
    else
      for (let i = 0; i < length; i++) {
        const other = open[i] ?? 0;
        const value = alike[i] ?? 0;
        if (isFirst || value > (most[other] ?? 0)) most[other] = value;
      }
    this.#isFirst = false;
    this.#settle(open, length);
  }

  #scaled(free: Int32Array, scores: Float64Array, tiers: Int32Array): Float64Array {
    const isBuried = (row: number): boolean => (tiers[row] ?? 0) >= BURIED;
    let least = Infinity;
    let best = -Infinity;
    for (const row of free) {
      if (!this.has(row) || isBuried(row)) continue;
      least = Math.min(least, scores[row] ?? 0);
      best = Math.max(best, scores[row] ?? 0);
    }
    // The difference of two large scores can be infinite.
    const unit = Number.isFinite(best - least) ? 1 : 0.5;
    const relevance = new Float64Array(scores.length);
    for (const row of free) {
      if (!this.has(row) || isBuried(row)) continue;
      relevance[row] =
        best > least ? (unit * (scores[row] ?? 0) - unit * least) / (unit * best - unit * least) : 1;
    }
    return relevance;
  }
}
