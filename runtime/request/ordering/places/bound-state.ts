import type { Bound } from '../../../ground/api/ranking-edit.js';
import type { PageGrid } from '../page-grid.js';
import { GroupPlaces } from './group-places.js';
import { GroupsBySize } from './groups-by-size.js';
import { type LookAhead, WindowLookAhead } from './look-ahead.js';
import { PageLookAhead } from './page-look-ahead.js';

/** A group that may have got room again; ALL: each may have. */
export const ALL = -2;
const NONE = -1;

/**
 * One bound while places are filled from the top. It knows which groups are full, and looks ahead: if a large group has to
 * take part at once because it could not be spread over the remaining places later, only such groups are chosen.
 */
export class BoundState {
  readonly groups: Int32Array;
  readonly #page: PageGrid;
  readonly #places: GroupPlaces;
  /** By group: how many stand in the window or on the page so far. */
  readonly #near: Int32Array;
  readonly #bySize: GroupsBySize;
  readonly #ahead: LookAhead;

  /**
   * @param free the rows that wait for a place
   * @param fixed rows by position
   */
  constructor(bound: Bound, free: Int32Array, fixed: ReadonlyMap<number, number>, page: PageGrid) {
    this.groups = bound.groups;
    this.#page = page;
    this.#places = new GroupPlaces(bound, fixed, free, page);
    this.#near = new Int32Array(bound.groups.length);
    const { left, most, window } = this.#places;
    this.#bySize = new GroupsBySize(left);
    this.#ahead =
      window === 0
        ? new PageLookAhead(left, this.#bySize, most, page, { fixed, total: free.length + fixed.size })
        : new WindowLookAhead(this.#bySize, most, window, free.length);
  }

  /** Moves on to a rank. @returns the group that may have got room, ALL, or -1 */
  enter(rank: number): number {
    this.#ahead.enter(rank);
    const { window } = this.#places;
    if (window === 0) {
      if ((rank - this.#page.first) % this.#page.size !== 0) return NONE;
      this.#near.fill(0);
      return ALL;
    }
    if (rank < window) return NONE;
    const gone = this.#places.at(rank - window);
    if (gone >= 0) this.#near[gone] = (this.#near[gone] ?? 0) - 1;
    return gone;
  }

  /** Whether a row may have a rank. */
  allows(row: number, rank: number): boolean {
    const group = this.#places.of(row);
    if (group < 0) return true;
    if (this.#places.isFixed(group)) return this.#places.allows(row, rank);
    return (this.#near[group] ?? 0) < this.#places.most;
  }

  /** The number of waiting rows that the group of the next row needs, so that the bound can hold to the end. */
  get leastLeft(): number {
    return this.#ahead.leastLeft;
  }

  /** The groups with at least so many waiting rows, from 1. */
  groupsWith(left: number): Int32Array {
    return this.#bySize.withAtLeast(left);
  }

  leftOf(row: number): number {
    return this.#places.left[this.#places.of(row)] ?? 0;
  }

  /** Takes note of a row that got a rank. @param waited whether it has no place of its own */
  place(row: number, rank: number, waited: boolean): void {
    const group = this.#places.of(row);
    this.#places.put(row, rank);
    if (group >= 0) this.#near[group] = (this.#near[group] ?? 0) + 1;
    if (!waited) return;
    const left = this.leftOf(row);
    if (left > 0) this.#bySize.lose(group);
    this.#ahead.placed(left);
  }
}
