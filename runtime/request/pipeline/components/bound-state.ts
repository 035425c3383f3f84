import type { Bound } from '../../../ground/api/ranking-edit.js';
import { GroupsBySize } from './groups-by-size.js';
import { type LookAhead, WindowLookAhead } from './look-ahead.js';
import type { PageGrid } from './order-rules.js';
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
  readonly #most: number;
  /** Places of a window; 0 if pages count. */
  readonly #window: number;
  readonly #page: PageGrid;
  readonly #order: Int32Array;
  readonly #fixed: ReadonlyMap<number, number>;
  /** By group: how many stand in the window or on the page so far. */
  readonly #near: Int32Array;
  /** By group: 1 if a row of it has a place of its own. */
  readonly #isFixed: Uint8Array;
  /** By group: how many rows wait for a place. */
  readonly left: Int32Array;
  readonly #bySize: GroupsBySize;
  readonly #ahead: LookAhead;

  /**
   * @param free the rows that wait for a place
   * @param fixed rows by position
   * @param order the rows that are placed, by rank; the caller writes it
   */
  constructor(
    bound: Bound,
    free: Int32Array,
    fixed: ReadonlyMap<number, number>,
    order: Int32Array,
    page: PageGrid,
  ) {
    this.groups = bound.groups;
    this.#most = bound.most;
    this.#window = bound.within === 'page' ? 0 : bound.within;
    this.#page = page;
    this.#order = order;
    this.#fixed = fixed;
    const size = bound.groups.length;
    this.#near = new Int32Array(size);
    this.#isFixed = new Uint8Array(size);
    this.left = new Int32Array(size);
    for (const row of fixed.values()) if (this.#groupOf(row) >= 0) this.#isFixed[this.#groupOf(row)] = 1;
    for (const row of free) {
      const group = this.#groupOf(row);
      if (group >= 0) this.left[group] = (this.left[group] ?? 0) + 1;
    }
    this.#bySize = new GroupsBySize(this.left);
    this.#ahead =
      this.#window === 0
        ? new PageLookAhead(this.left, this.#most, page, fixed, free.length + fixed.size)
        : new WindowLookAhead(this.left, this.#most, this.#window, free.length);
  }

  /** Moves on to a rank. @returns the group that may have got room, ALL, or -1 */
  enter(rank: number): number {
    this.#ahead.enter(rank);
    if (this.#window === 0) {
      if ((rank - this.#page.first) % this.#page.size !== 0) return NONE;
      this.#near.fill(0);
      return ALL;
    }
    if (rank < this.#window) return NONE;
    const gone = this.#groupOf(this.#order[rank - this.#window] ?? 0);
    if (gone >= 0) this.#near[gone] = (this.#near[gone] ?? 0) - 1;
    return gone;
  }

  /** Whether a row may have a rank. */
  allows(row: number, rank: number): boolean {
    const group = this.#groupOf(row);
    if (group < 0) return true;
    if (this.#isFixed[group] === 1) return this.#allowsNearFixed(group, rank);
    return (this.#near[group] ?? 0) < this.#most;
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
    const group = this.#groupOf(row);
    return group < 0 ? 0 : (this.left[group] ?? 0);
  }

  /** Takes note of a row that got a rank. @param waited whether it has no place of its own */
  place(row: number, waited: boolean): void {
    const group = this.#groupOf(row);
    if (group >= 0) this.#near[group] = (this.#near[group] ?? 0) + 1;
    if (!waited) return;
    const left = this.leftOf(row);
    if (left > 0) this.#bySize.lose(group);
    this.#ahead.placed(left);
  }

  #groupOf(row: number): number {
    return this.groups[row] ?? NONE;
  }

  /** Counts in every window, or on the page, with the rows that stand at places of their own further down. */
  #allowsNearFixed(group: number, rank: number): boolean {
    const isOfGroup = (at: number): boolean => {
      if (at === rank) return true;
      const row = at < rank ? this.#order[at] : this.#fixed.get(at + 1);
      return row !== undefined && this.groups[row] === group;
    };
    const page = rank - ((((rank - this.#page.first) % this.#page.size) + this.#page.size) % this.#page.size);
    const first = this.#window === 0 ? Math.max(0, page) : rank - this.#window + 1;
    const end = this.#window === 0 ? Math.min(page + this.#page.size, this.#lastPlace) : rank + this.#window;
    const size = this.#window === 0 ? end - first : this.#window;
    let near = 0;
    for (let at = first; at < end; at++) {
      if (at >= 0 && isOfGroup(at)) near++;
      const gone = at - size;
      if (gone >= Math.max(0, first) && isOfGroup(gone)) near--;
      if (near > this.#most) return false;
    }
    return true;
  }

  get #lastPlace(): number {
    return this.#fixed.size + this.groups.length;
  }
}
