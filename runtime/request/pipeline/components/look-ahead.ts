import { Slacks } from './slacks.js';

/** Says which groups must not wait, so that a bound can hold to the last place. */
export interface LookAhead {
  /** The number of waiting rows that the group of the next row needs. */
  readonly leastLeft: number;
  /** Moves on to a rank. */
  enter(rank: number): void;
  /** Takes note of a waiting row that got the rank. @param left the rows of its group that waited, with it; 0: no group */
  placed(left: number): void;
}

/**
 * The look-ahead of a bound in every window: the test of unit jobs with deadlines. From the end, the j-th candidate of a
 * group has its last possible place `offset[j]` places before the end. All orders fail if, for some j, more candidates must
 * come by that place than there are places: `slack[j]` is the difference. A candidate of a group with c candidates left
 * lowers the slack of every j > c, so it must wait if one of them is 0.
 */
export class WindowLookAhead implements LookAhead {
  /** By number of rows that wait: how many groups have so many. */
  readonly #groupsWith: Int32Array;
  #largest: number;
  /** By j: see above. Undefined if no order keeps the bound. */
  #slack: Slacks | undefined;

  /**
   * @param left by group: its rows
   * @param waiting number of all rows without a place
   */
  constructor(left: Int32Array, most: number, window: number, waiting: number) {
    this.#largest = left.reduce((largest, count) => Math.max(largest, count), 0);
    this.#groupsWith = new Int32Array(this.#largest + 1);
    for (const count of left) this.#groupsWith[count] = (this.#groupsWith[count] ?? 0) + 1;
    const slack = new Int32Array(this.#largest + 1);
    let groups = 0;
    let needed = 0;
    for (let j = this.#largest; j > 0; j--) {
      groups += this.#groupsWith[j] ?? 0;
      needed += groups;
      const offset = Math.floor((j - 1) / most) * window + ((j - 1) % most);
      slack[j] = waiting - offset - needed;
    }
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
    if (left > 0) {
      this.#groupsWith[left] = (this.#groupsWith[left] ?? 0) - 1;
      this.#groupsWith[left - 1] = (this.#groupsWith[left - 1] ?? 0) + 1;
    }
    for (; this.#largest > 0 && this.#groupsWith[this.#largest] === 0; this.#largest--)
      this.#slack?.drop(this.#largest);
    this.#slack?.add(left + 1, this.#largest + 1, -1);
    if ((this.#slack?.least ?? 0) < 0) this.#slack = undefined;
  }
}
