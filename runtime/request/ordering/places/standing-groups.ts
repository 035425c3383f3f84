import type { Bound } from '../../../ground/api/ranking-edit.js';
import type { PageGrid } from '../page-grid.js';
import { countAtLeast, pageSlacks, windowSlacks } from './feasibility.js';
import { GroupPlaces } from './group-places.js';

/** One bound over places that are filled and emptied again: which groups stand where, and how many rows of each wait. */
export class StandingGroups extends GroupPlaces {
  readonly #total: number;
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
    super(bound, fixed, waiting, page, placed.length);
    this.#total = placed.length;
    this.#openAbove = new Int32Array(placed.length + 1);
    for (const [rank, row] of placed.entries()) {
      if (row >= 0) this.put(row, rank);
      this.#openAbove[rank + 1] = (this.#openAbove[rank] ?? 0) + (row < 0 ? 1 : 0);
    }
  }

  /** A waiting row gets a place. */
  fill(row: number, rank: number): void {
    this.put(row, rank);
    this.#count(row, -1);
  }

  /** The row waits again. */
  remove(row: number, rank: number): void {
    this.empty(rank);
    this.#count(row, 1);
  }

  /**
   * Whether the waiting rows may still fit into the places from a rank on. The answer false is certain, true is not: it
   * looks at each bound for itself, as `WindowLookAhead` and `PageLookAhead` do.
   */
  canEnd(rank: number): boolean {
    return this.window === 0 ? this.#fitsPages(rank) : this.#fitsWindows(rank);
  }

  #fitsWindows(rank: number): boolean {
    const open = (offset: number): number => this.#open(rank, this.#total - offset);
    return isKept(windowSlacks(countAtLeast(this.left), this.most, this.window, open));
  }

  #fitsPages(rank: number): boolean {
    const starts: number[] = [];
    for (let start = this.pageStart(rank); start < this.#total; start = this.pageEnd(start))
      starts.push(start);
    const places = Int32Array.from(starts, (start) => this.#open(Math.max(start, rank), this.pageEnd(start)));
    for (const [group, count] of this.left.entries()) {
      if (count === 0) continue;
      // Rows with places of their own take some of the room of their group.
      let room = 0;
      for (const [page, start] of starts.entries())
        room += Math.min(places[page] ?? 0, Math.max(0, this.most - this.onPage(group, start)));
      if (room < count) return false;
    }
    return isKept(pageSlacks(this.left, this.most, places));
  }

  /** The number of empty places from a rank to another one. */
  #open(from: number, to: number): number {
    return to <= from ? 0 : (this.#openAbove[to] ?? 0) - (this.#openAbove[from] ?? 0);
  }

  #count(row: number, change: number): void {
    const group = this.of(row);
    if (group >= 0) this.left[group] = (this.left[group] ?? 0) + change;
  }
}

function isKept(slack: Int32Array): boolean {
  return slack.every((one) => one >= 0);
}
