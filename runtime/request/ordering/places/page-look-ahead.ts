import type { LookAhead } from './look-ahead.js';
import { pageStart, type PageGrid } from '../page-grid.js';
import { pageSlacks } from './feasibility.js';
import type { GroupsBySize } from './groups-by-size.js';
import { Slacks } from './slacks.js';

/**
 * The look-ahead of a bound on every page, by `pageSlacks`. On a page with r free places left, the condition is: the t largest
 * groups have at most r + Σ_later min(s_p, k·t) rows. (The other cuts, by what each group may still have on this page, do not
 * change while the page is filled.) Where the slack of t is 0, the next row must make the t largest groups smaller: at most t
 * groups may have as many waiting rows as its own.
 */
export class PageLookAhead implements LookAhead {
  readonly #page: PageGrid;
  readonly #most: number;
  /** Free places of the pages from that of rank 0 on. */
  readonly #places: Int32Array;
  readonly #groups: GroupsBySize;
  /** By t, from 1; larger t have a slack of their own accord. Undefined if no order keeps the bound. */
  #slack: Slacks | undefined;

  /**
   * @param left by group: its rows
   * @param groups the same by size
   * @param places rows by position that are fixed, and the number of all places
   */
  constructor(
    left: Int32Array,
    groups: GroupsBySize,
    most: number,
    page: PageGrid,
    { fixed, total }: { readonly fixed: ReadonlyMap<number, unknown>; readonly total: number },
  ) {
    this.#groups = groups;
    this.#page = page;
    this.#most = most;
    this.#places = new Int32Array(total === 0 ? 0 : this.#pageOf(total - 1) + 1);
    for (let rank = 0; rank < total; rank++) {
      const at = this.#pageOf(rank);
      if (!fixed.has(rank + 1)) this.#places[at] = (this.#places[at] ?? 0) + 1;
    }
    const slack = pageSlacks(left, most, this.#places);
    if (slack.some((one) => one < 0)) return;
    this.#slack = new Slacks(slack);
    this.#slack.drop(0);
  }

  get leastLeft(): number {
    const t = this.#slack?.first;
    if (t === undefined) return 0;
    // The smallest count that at most t groups have.
    const { atLeast } = this.#groups;
    let [low, high] = [1, atLeast.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((atLeast[middle] ?? 0) <= t) high = middle;
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
    const smaller = left === 0 ? Infinity : (this.#groups.atLeast[left] ?? 0) + 1;
    this.#slack?.add(1, Math.min(smaller, this.#slack.length), -1);
    if ((this.#slack?.least ?? 0) < 0) this.#slack = undefined;
  }

  /** The number of the page of a rank, from 0 for that of the first rank. */
  #pageOf(rank: number): number {
    return (pageStart(this.#page, rank) - pageStart(this.#page, 0)) / this.#page.size;
  }
}
