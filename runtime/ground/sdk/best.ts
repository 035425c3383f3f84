/** More than the best are kept before they are sorted. */
const ROOM = 256;

/** Keeps the best of many rows: it sorts whenever enough are there, and leaves out worse ones. */
export class Best {
  readonly #kept: number[] = [];
  #worst: number | undefined;
  /** So many of the kept rows pass the filter; the others are not asked for yet. */
  #passed = 0;

  /**
   * @param order below 0 if the first is better; 0 only for a row and itself
   * @param filter by row, 1 if it counts; by default all do. It is asked for rows that would be kept
   */
  constructor(
    private readonly most: number,
    private readonly order: (a: number, b: number) => number,
    private readonly filter?: (rows: readonly number[]) => Uint8Array,
  ) {}

  /** @returns whether it filtered or sorted, after which a piece of work may end */
  add(row: number): boolean {
    if (this.#worst !== undefined && this.order(this.#worst, row) < 0) return false;
    if (this.#kept.push(row) < 2 * this.most + ROOM) return false;
    this.#pass();
    if (this.#passed > this.most) {
      this.#kept.sort(this.order).length = this.#passed = this.most;
      this.#worst = this.#kept[this.most - 1];
    }
    return true;
  }

  /** The best, best first. */
  sorted(): number[] {
    this.#pass();
    return this.#kept.sort(this.order).slice(0, this.most);
  }

  #pass(): void {
    const asked = this.#kept.splice(this.#passed);
    const passes = this.filter?.(asked);
    for (const [i, row] of asked.entries()) if (passes?.[i] !== 0) this.#kept.push(row);
    this.#passed = this.#kept.length;
  }
}
