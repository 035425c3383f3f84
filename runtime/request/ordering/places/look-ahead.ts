import { windowSlacks } from './feasibility.js';
import type { GroupsBySize } from './groups-by-size.js';
import { Slacks } from './slacks.js';

/** Says which groups must not wait, so that a bound can hold to the last place. */
export interface LookAhead {
  /** The number of waiting rows that the group of the next row needs. */
  readonly leastLeft: number;
  /** Moves on to a rank. */
  enter(rank: number): void;
  /**
   * Takes note of a waiting row that got the rank, after `GroupsBySize.lose`.
   * @param left the rows of its group that waited, with it; 0: no group
   */
  placed(left: number): void;
}

/**
 * The look-ahead of a bound in every window, by `windowSlacks`. A row of a group with c rows left lowers the slack of every
 * j > c, so it must wait if one of them is 0.
 */
export class WindowLookAhead implements LookAhead {
  readonly #groups: GroupsBySize;
  #largest: number;
  /** By j. Undefined if no order keeps the bound. */
  #slack: Slacks | undefined;

  /**
   * @param groups by their waiting rows
   * @param waiting number of all rows without a place
   */
  constructor(groups: GroupsBySize, most: number, window: number, waiting: number) {
    this.#groups = groups;
    this.#largest = groups.atLeast.length - 2;
    const slack = windowSlacks(groups.atLeast, most, window, (offset) => waiting - offset);
    if (slack.some((one) => one < 0)) return;
    this.#slack = new Slacks(slack);
    this.#slack.drop(0);
  }

  get leastLeft(): number {
    const last = this.#slack?.last ?? 0;
    return last > 1 ? last : 0;
  }

  enter(): void {
    // Every place counts alike.
  }

  placed(left: number): void {
    for (; this.#largest > 0 && this.#groups.atLeast[this.#largest] === 0; this.#largest--)
      this.#slack?.drop(this.#largest);
    this.#slack?.add(left + 1, this.#largest + 1, -1);
    if ((this.#slack?.least ?? 0) < 0) this.#slack = undefined;
  }
}
