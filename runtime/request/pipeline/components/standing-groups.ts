import type { Bound } from '../../../ground/api/ranking-edit.js';
import type { PageGrid } from './order-rules.js';

const NONE = -1;

/** One bound over places that are filled and emptied again: which groups stand where, and how many rows of each wait. */
export class StandingGroups {
  readonly #groups: Int32Array;
  readonly #most: number;
  /** Places of a window; 0 if pages count. */
  readonly window: number;
  readonly #page: PageGrid;
  /** By rank: the group of its row; -1 if it has none, or if the place is empty. */
  readonly #at: Int32Array;
  /** By group: how many rows wait. */
  readonly #left: Int32Array;
  /** By group: 1 if a row of it has a place of its own. */
  readonly #isFixed: Uint8Array;
  /** By rank: how many places above it wait for a row. */
  readonly #openAbove: Int32Array;

  /**
   * @param placed by rank: the row that stands there; -1: the place is empty
   * @param fixed rows with a place of their own, by position from 1
   * @param waiting the rows without a place
   */
  constructor(
    bound: Bound,
    placed: Int32Array,
    fixed: ReadonlyMap<number, number>,
    waiting: Int32Array,
    page: PageGrid,
  ) {
    this.#groups = bound.groups;
    this.#most = bound.most;
    this.window = bound.within === 'page' ? 0 : bound.within;
    this.#page = page;
    this.#at = placed.map((row) => (row < 0 ? NONE : this.groupOf(row)));
    this.#left = new Int32Array(bound.groups.length);
    for (const row of waiting) this.#count(this.groupOf(row), 1);
    this.#isFixed = new Uint8Array(bound.groups.length);
    for (const row of fixed.values()) if (this.groupOf(row) >= 0) this.#isFixed[this.groupOf(row)] = 1;
    this.#openAbove = new Int32Array(placed.length + 1);
    for (const [rank, row] of placed.entries())
      this.#openAbove[rank + 1] = (this.#openAbove[rank] ?? 0) + (row < 0 ? 1 : 0);
  }

  groupOf(row: number): number {
    return this.#groups[row] ?? NONE;
  }

  /** The first rank of the page of a rank. */
  pageStart(rank: number): number {
    const { size, first } = this.#page;
    return Math.max(0, rank - ((((rank - first) % size) + size) % size));
  }

  put(row: number, rank: number): void {
    this.#at[rank] = this.groupOf(row);
    this.#count(this.groupOf(row), -1);
  }

  remove(row: number, rank: number): void {
    this.#at[rank] = NONE;
    this.#count(this.groupOf(row), 1);
  }

  /** Whether a row may have an empty place, by the rows above it and by those that have places of their own below. */
  allows(row: number, rank: number): boolean {
    const group = this.groupOf(row);
    if (group < 0) return true;
    if (this.window === 0) return this.#onPage(group, rank) < this.#most;
    const at = this.#at;
    let near = 0;
    for (let other = Math.max(0, rank - this.window + 1); other < rank; other++)
      if (at[other] === group) near++;
    if (near >= this.#most) return false;
    if (this.#isFixed[group] === 0) return true;
    const end = Math.min(at.length, rank + this.window);
    for (let last = rank + 1; last < end; last++) {
      if (at[last] === group) near++;
      if (last >= this.window && at[last - this.window] === group) near--;
      if (near >= this.#most) return false;
    }
    return true;
  }

  /**
   * Whether the waiting rows may still fit into the places from a rank on. The answer false is certain, true is not: it
   * looks at each bound for itself, as `WindowLookAhead` and `PageLookAhead` do.
   */
  canEnd(rank: number): boolean {
    return this.window === 0 ? this.#fitsPages(rank) : this.#fitsWindows(rank);
  }

  #fitsWindows(rank: number): boolean {
    const largest = this.#left.reduce((most, count) => Math.max(most, count), 0);
    const groupsWith = new Int32Array(largest + 1);
    for (const count of this.#left) groupsWith[count] = (groupsWith[count] ?? 0) + 1;
    let groups = 0;
    let needed = 0;
    for (let j = largest; j > 0; j--) {
      groups += groupsWith[j] ?? 0;
      needed += groups;
      const offset = Math.floor((j - 1) / this.#most) * this.window + ((j - 1) % this.#most);
      if (needed > this.#open(rank, this.#at.length - offset)) return false;
    }
    return true;
  }

  #fitsPages(rank: number): boolean {
    const total = this.#at.length;
    const pages: { readonly start: number; readonly open: number }[] = [];
    for (let start = this.pageStart(rank); start < total; start = this.#pageEnd(start))
      pages.push({ start, open: this.#open(Math.max(start, rank), this.#pageEnd(start)) });
    const counts: number[] = [];
    for (const [group, count] of this.#left.entries()) {
      if (count === 0) continue;
      counts.push(count);
      let room = 0;
      for (const { start, open } of pages)
        room += Math.min(open, Math.max(0, this.#most - this.#onPage(group, start)));
      if (room < count) return false;
    }
    counts.sort((a, b) => b - a);
    let rows = 0;
    for (const [at, count] of counts.entries()) {
      rows += count;
      let room = 0;
      for (const { open } of pages) room += Math.min(open, this.#most * (at + 1));
      if (room < rows) return false;
    }
    return true;
  }

  /** The number of empty places from a rank to another one. */
  #open(from: number, to: number): number {
    return to <= from ? 0 : (this.#openAbove[to] ?? 0) - (this.#openAbove[from] ?? 0);
  }

  #onPage(group: number, rank: number): number {
    const end = this.#pageEnd(rank);
    let count = 0;
    for (let at = this.pageStart(rank); at < end; at++) if (this.#at[at] === group) count++;
    return count;
  }

  #pageEnd(rank: number): number {
    const { size, first } = this.#page;
    const after = (((rank - first) % size) + size) % size;
    return Math.min(this.#at.length, rank - after + size);
  }

  #count(group: number, change: number): void {
    if (group >= 0) this.#left[group] = (this.#left[group] ?? 0) + change;
  }
}
