import type { Bound } from '../../../ground/api/ranking-edit.js';
import { pageStart, type PageGrid } from '../page-grid.js';

const NONE = -1;

/** The groups of one bound by place, and whether it allows one more row at a place. */
export class GroupPlaces {
  readonly most: number;
  /** Places of a window; 0 if pages count. */
  readonly window: number;
  /** By group: how many rows wait for a place. */
  readonly left: Int32Array;
  /** By rank: the group of its row; -1 if it has none, or if the place is empty. */
  readonly #at: Int32Array;
  readonly #groups: Int32Array;
  readonly #page: PageGrid;
  /** By group: 1 if a row of it has a place of its own. */
  readonly #isFixed: Uint8Array;

  /**
   * @param fixed rows with a place of their own, by position from 1
   * @param waiting the rows without a place
   * @param total number of all places
   */
  constructor(
    { groups, most, within }: Bound,
    fixed: ReadonlyMap<number, number>,
    waiting: Int32Array,
    page: PageGrid,
    total = waiting.length + fixed.size,
  ) {
    this.most = most;
    this.window = within === 'page' ? 0 : within;
    this.#groups = groups;
    this.#page = page;
    this.#at = new Int32Array(total).fill(NONE);
    this.#isFixed = new Uint8Array(groups.length);
    for (const [position, row] of fixed) {
      this.put(row, position - 1);
      if (this.of(row) >= 0) this.#isFixed[this.of(row)] = 1;
    }
    this.left = new Int32Array(groups.length);
    for (const row of waiting) {
      const group = this.of(row);
      if (group >= 0) this.left[group] = (this.left[group] ?? 0) + 1;
    }
  }

  /** The group of a row; -1: none. */
  of(row: number): number {
    return this.#groups[row] ?? NONE;
  }

  /** The group at a rank; -1: none. */
  at(rank: number): number {
    return this.#at[rank] ?? NONE;
  }

  put(row: number, rank: number): void {
    this.#at[rank] = this.of(row);
  }

  empty(rank: number): void {
    this.#at[rank] = NONE;
  }

  isFixed(group: number): boolean {
    return this.#isFixed[group] === 1;
  }

  pageStart(rank: number): number {
    return Math.max(0, pageStart(this.#page, rank));
  }

  /** The rank after the page of a rank. */
  pageEnd(rank: number): number {
    return Math.min(this.#at.length, pageStart(this.#page, rank) + this.#page.size);
  }

  /** How many rows of a group stand on the page of a rank. */
  onPage(group: number, rank: number): number {
    const end = this.pageEnd(rank);
    let count = 0;
    for (let at = this.pageStart(rank); at < end; at++) if (this.#at[at] === group) count++;
    return count;
  }

  /** Whether a row may have an empty place, by the rows above it and by those with places of their own below. */
  allows(row: number, rank: number): boolean {
    const group = this.of(row);
    if (group < 0) return true;
    if (this.window === 0) return this.onPage(group, rank) < this.most;
    const at = this.#at;
    let near = 0;
    for (let other = Math.max(0, rank - this.window + 1); other < rank; other++)
      if (at[other] === group) near++;
    if (near >= this.most) return false;
    if (this.#isFixed[group] === 0) return true;
    const end = Math.min(at.length, rank + this.window);
    for (let last = rank + 1; last < end; last++) {
      if (at[last] === group) near++;
      if (last >= this.window && at[last - this.window] === group) near--;
      if (near >= this.most) return false;
    }
    return true;
  }
}
