/**
 * By element, the largest of the last `window` rows of numbers. It costs O(1) for each number, whatever the window: rows are
 * kept in blocks of its size, and a window is the end of one block and the start of the next one (M. van Herk, "A fast
 * algorithm for local minimum and maximum filters on rectangular and octagonal kernels", 1992).
 */
export class WindowMaxima {
  readonly #window: number;
  /** Of the last whole block, by row: the largest numbers from that row to the end of the block. */
  #before: Float64Array[] = [];
  /** The rows since then. */
  #rows: Float64Array[] = [];
  /** The largest numbers of these rows. */
  readonly #largest: Float64Array;

  /** @param size the number of elements */
  constructor(window: number, size: number) {
    this.#window = window;
    this.#largest = new Float64Array(size).fill(-Infinity);
  }

  /**
   * Adds a row. Elements that are left out once are left out from then on.
   * @param elements the first `length` of them have a number
   * @param numbers by index in `elements`
   * @param maxima by element; gets the largest of the last rows
   */
  add(elements: Int32Array, length: number, numbers: Float64Array, maxima: Float64Array): void {
    const largest = this.#largest;
    // The rows of the block before that the window has left are used again.
    const row = this.#before[this.#rows.length] ?? new Float64Array(largest.length);
    this.#rows.push(row);
    const rest = this.#before[this.#rows.length];
    for (let i = 0; i < length; i++) {
      const element = elements[i] ?? 0;
      const number = numbers[i] ?? 0;
      row[element] = number;
      const most = Math.max(largest[element] ?? 0, number);
      largest[element] = most;
      maxima[element] = rest === undefined ? most : Math.max(most, rest[element] ?? 0);
    }
    if (this.#rows.length === this.#window) this.#endBlock(elements, length);
  }

  #endBlock(elements: Int32Array, length: number): void {
    for (let at = this.#window - 2; at >= 0; at--) {
      const [row, next] = [this.#rows[at], this.#rows[at + 1]];
      if (row === undefined || next === undefined) continue;
      for (let i = 0; i < length; i++) {
        const element = elements[i] ?? 0;
        row[element] = Math.max(row[element] ?? 0, next[element] ?? 0);
      }
    }
    this.#before = this.#rows;
    this.#rows = [];
    this.#largest.fill(-Infinity);
  }
}
