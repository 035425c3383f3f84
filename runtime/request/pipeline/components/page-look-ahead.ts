import type { LookAhead } from './look-ahead.js';
import type { PageGrid } from './order-rules.js';
import { Slacks } from './slacks.js';

/**
 * The look-ahead of a bound on every page. Groups with c_g waiting rows go to pages with s_p free places, at most k rows of a
 * group to a page. By the theorem of Gale and Ryser (as a minimum cut), that is possible if and only if for each t the t
 * largest groups together have at most Σ_p min(s_p, k·t) rows.
 *
 * On a page with r free places left, the condition is: the t largest groups have at most r + Σ_later min(s_p, k·t) rows.
 * (The other cuts, by what each group may still have on this page, do not change while the page is filled.) `slack[t]` is the
 * difference. Where it is 0, the next row must make the t largest groups smaller: at most t groups may have as many waiting
 * rows as its own.
 */
export class PageLookAhead implements LookAhead {
  readonly #page: PageGrid;
  readonly #most: number;
  /** Free places of the pages from that of rank 0 on. */
  readonly #places: Int32Array;
  /** By count: how many groups have at least so many waiting rows. */
  readonly #withAtLeast: Int32Array;
  /** By t, from 1; larger t have a slack of their own accord. Undefined if no order keeps the bound. */
  #slack: Slacks | undefined;

  /**
   * @param left by group: its rows
   * @param fixed rows by position
   * @param total number of all places
   */
  constructor(
    left: Int32Array,
    most: number,
    page: PageGrid,
    fixed: ReadonlyMap<number, unknown>,
    total: number,
  ) {
    this.#page = page;
    this.#most = most;
    this.#places = new Int32Array(total === 0 ? 0 : this.#pageOf(total - 1) + 1);
    for (let rank = 0; rank < total; rank++) {
      const at = this.#pageOf(rank);
      if (!fixed.has(rank + 1)) this.#places[at] = (this.#places[at] ?? 0) + 1;
    }
    const counts = left.filter((count) => count > 0).sort((a, b) => b - a);
    this.#withAtLeast = new Int32Array((counts[0] ?? 0) + 2);
    for (const count of counts) this.#withAtLeast[count] = (this.#withAtLeast[count] ?? 0) + 1;
    for (let count = this.#withAtLeast.length - 2; count > 0; count--)
      this.#withAtLeast[count] = (this.#withAtLeast[count] ?? 0) + (this.#withAtLeast[count + 1] ?? 0);
    const largestPage = this.#places.reduce((largest, places) => Math.max(largest, places), 0);
    const slack = new Int32Array(Math.max(0, Math.min(counts.length, Math.ceil(largestPage / most) - 1)) + 1);
    let rows = 0;
    for (let t = 1; t < slack.length; t++) {
      rows += counts[t - 1] ?? 0;
      let room = 0;
      for (const places of this.#places) room += Math.min(places, most * t);
      slack[t] = room - rows;
    }
    if (slack.some((one) => one < 0)) return;
    this.#slack = new Slacks(slack);
    this.#slack.drop(0);
  }

  get leastLeft(): number {
    const t = this.#slack?.first;
    if (t === undefined) return 0;
    // The smallest count that at most t groups have.
    let [low, high] = [1, this.#withAtLeast.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#withAtLeast[middle] ?? 0) <= t) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  enter(rank: number): void {
    if (rank > 0 && (rank - this.#page.first) % this.#page.size !== 0) return;
    // All places of this page are free for the largest groups, not only k for each of them.
    const places = this.#places[this.#pageOf(rank)] ?? 0;
    this.#slack?.addEach((t) => Math.max(0, places - this.#most * t));
  }

  placed(left: number): void {
    const smaller = left === 0 ? Infinity : (this.#withAtLeast[left] ?? 0);
    if (left > 0) this.#withAtLeast[left] = smaller - 1;
    this.#slack?.add(1, Math.min(smaller, this.#slack.length), -1);
    if ((this.#slack?.least ?? 0) < 0) this.#slack = undefined;
  }

  /** The number of the page of a rank, from 0 for that of the first rank. */
  #pageOf(rank: number): number {
    const { first, size } = this.#page;
    return Math.floor((rank - first) / size) - Math.floor(-first / size);
  }
}
