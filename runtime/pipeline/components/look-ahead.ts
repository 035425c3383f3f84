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
  /** By j: see above. Empty if no order keeps the bound. */
  #slack: Int32Array;

  /**
   * @param left by group: its rows
   * @param waiting number of all rows without a place
   */
  constructor(left: Int32Array, most: number, window: number, waiting: number) {
    this.#largest = left.reduce((largest, count) => Math.max(largest, count), 0);
    this.#groupsWith = new Int32Array(this.#largest + 1);
    for (const count of left) this.#groupsWith[count] = (this.#groupsWith[count] ?? 0) + 1;
    this.#slack = new Int32Array(this.#largest + 1);
    let groups = 0;
    let needed = 0;
    for (let j = this.#largest; j > 0; j--) {
      groups += this.#groupsWith[j] ?? 0;
      needed += groups;
      const offset = Math.floor((j - 1) / most) * window + ((j - 1) % most);
      this.#slack[j] = waiting - offset - needed;
    }
    if (this.#slack.some((slack) => slack < 0)) this.#slack = new Int32Array();
  }

  get leastLeft(): number {
    for (let j = Math.min(this.#largest, this.#slack.length - 1); j > 1; j--)
      if (this.#slack[j] === 0) return j;
    return 0;
  }

  enter(): void {
    // Every place counts alike.
  }

  placed(left: number): void {
    if (left > 0) {
      this.#groupsWith[left] = (this.#groupsWith[left] ?? 0) - 1;
      this.#groupsWith[left - 1] = (this.#groupsWith[left - 1] ?? 0) + 1;
    }
    while (this.#largest > 0 && this.#groupsWith[this.#largest] === 0) this.#largest--;
    const slack = this.#slack;
    if (slack.length === 0) return;
    for (let j = left + 1; j <= this.#largest; j++) {
      const rest = (slack[j] ?? 0) - 1;
      if (rest < 0) return void (this.#slack = new Int32Array());
      slack[j] = rest;
    }
  }
}
