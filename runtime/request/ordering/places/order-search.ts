import type { Bound } from '../../../ground/api/ranking-edit.js';
import { classesOf } from './row-classes.js';
import type { PageGrid } from '../page-grid.js';
import { StandingGroups } from './standing-groups.js';

/** Places that are to be filled with waiting rows, so that all bounds hold. */
export interface SearchedPlaces {
  readonly bounds: readonly Bound[];
  readonly page: PageGrid;
  /** By rank: the row that stands there, because it has the place of its own or was placed above; -1: the place is empty. */
  readonly placed: Int32Array;
  /** Rows with a place of their own, by position from 1. */
  readonly fixed: ReadonlyMap<number, number>;
  /** The rows without a place, preferred first. */
  readonly waiting: Int32Array;
  /** The first rank without a row, and the one after the last rank that is filled. */
  readonly from: number;
  readonly to: number;
}

/**
 * Backtracks over the places from the top, preferred rows first, and leaves out what was tried before: rows of one class
 * (they are in the same group of every bound), and places after which the same rows wait and the same groups stand near.
 */
export class OrderSearch {
  readonly #placed: Int32Array;
  readonly #waiting: Int32Array;
  readonly #page: StandingGroups | undefined;
  readonly #to: number;
  readonly #standing: readonly StandingGroups[];
  /** By index in `waiting`. */
  readonly #classes: Int32Array;
  readonly #isTaken: Uint8Array;
  /** By rank: the class of the row that was placed there; -1 for others. */
  readonly #classAt: Int32Array;
  readonly #from: number;
  readonly #largestWindow: number;
  /** States from which no order keeps the bounds. */
  readonly #dead = new Set<string>();
  #steps: number;

  /** @param steps how many rows are tried at most */
  constructor({ bounds, page, placed, fixed, waiting, from, to }: SearchedPlaces, steps: number) {
    this.#placed = placed.slice();
    this.#waiting = waiting;
    this.#from = from;
    this.#to = to;
    this.#standing = bounds.map((bound) => new StandingGroups(bound, placed, fixed, waiting, page));
    this.#page = this.#standing.find(({ window }) => window === 0);
    this.#largestWindow = Math.max(0, ...this.#standing.map(({ window }) => window));
    this.#classes = classesOf(
      waiting,
      bounds.map(({ groups }) => groups),
    );
    this.#isTaken = new Uint8Array(waiting.length);
    this.#classAt = new Int32Array(placed.length).fill(-1);
    this.#steps = steps;
  }

  /** How many rows may still be tried. */
  get stepsLeft(): number {
    return this.#steps;
  }

  /** @returns by rank: the rows, with -1 for places after `to`; undefined if no order keeps the bounds, or none was found */
  find(): Int32Array | undefined {
    return this.#canEnd(this.#from) && this.#fill(this.#from, 0) ? this.#placed : undefined;
  }

  /** @param first no row of a smaller index waits */
  #fill(start: number, first: number): boolean {
    let rank = start;
    while (rank < this.#to && (this.#placed[rank] ?? -1) >= 0) rank++;
    if (rank >= this.#to) return true;
    const state = this.#stateAt(rank);
    if (this.#dead.has(state)) return false;
    while (this.#isTaken[first] === 1) first++;
    const tried = new Set<number>();
    for (let index = first; index < this.#waiting.length; index++) {
      const of = this.#classes[index] ?? 0;
      if (this.#isTaken[index] === 1 || tried.has(of)) continue;
      if (this.#steps-- <= 0) return false;
      tried.add(of);
      const row = this.#waiting[index] ?? 0;
      if (!this.#standing.every((one) => one.allows(row, rank))) continue;
      this.#isTaken[index] = 1;
      this.#placed[rank] = row;
      this.#classAt[rank] = of;
      for (const one of this.#standing) one.fill(row, rank);
      if (this.#canEnd(rank + 1) && this.#fill(rank + 1, first)) return true;
      for (const one of this.#standing) one.remove(row, rank);
      this.#classAt[rank] = -1;
      this.#placed[rank] = -1;
      this.#isTaken[index] = 0;
    }
    if (this.#steps > 0) this.#dead.add(state);
    return false;
  }

  /** Only the last places show whether all rows fit. */
  #canEnd(rank: number): boolean {
    return this.#to < this.#placed.length || this.#standing.every((one) => one.canEnd(rank));
  }

  /** What decides how the places from a rank on can be filled. */
  #stateAt(rank: number): string {
    const parts = [this.#classAt.slice(this.#from, rank).sort().join()];
    if (this.#page !== undefined)
      parts.push(this.#classAt.slice(this.#page.pageStart(rank), rank).sort().join());
    if (this.#largestWindow > 0)
      parts.push(this.#classAt.slice(Math.max(0, rank - this.#largestWindow + 1), rank).join());
    return parts.join(' ');
  }
}
