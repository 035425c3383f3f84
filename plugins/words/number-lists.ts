/** By class of size: how many numbers a block holds. There are two sizes an octave, so a fifth is free at most on average. */
const SIZES = [1, 2, 3];
while (SIZES.length < 56) SIZES.push(2 * (SIZES[SIZES.length - 2] as number));
const NONE = 0;

/**
 * Lists of 32-bit numbers in one array. A list that grows or shrinks moves to a block of another size, and a block that it
 * leaves is used again.
 */
export class NumberLists {
  /** The list `n` is at `starts[n]`, and has `lengths[n]` numbers. It is replaced when it grows. */
  cells = new Uint32Array(1024);
  starts = new Uint32Array(256);
  lengths = new Uint32Array(256);
  #classes = new Uint8Array(256);
  /** The cells from here on are not used yet. */
  end = 1;
  #lists = 0;
  /** By class of size: a free block, whose first cell has the next one. */
  readonly #free = new Uint32Array(SIZES.length);

  get bytes(): number {
    return this.cells.byteLength + 9 * this.starts.length;
  }

  add(list: number, value: number): void {
    if (list >= this.#lists) this.#open(list);
    const length = this.lengths[list] as number;
    if (this.starts[list] === NONE) this.#place(list, 0);
    else if (length === SIZES[this.#classes[list] as number]) this.#place(list, this.#next(list, 1));
    this.cells[(this.starts[list] as number) + length] = value;
    this.lengths[list] = length + 1;
  }

  /** Removes the numbers that are not to be kept. @returns how many are left */
  keep(list: number, keeps: (value: number) => boolean): number {
    const start = this.starts[list] as number;
    const end = start + (this.lengths[list] as number);
    const { cells } = this;
    let to = start;
    for (let at = start; at < end; at++) {
      const value = cells[at] as number;
      if (keeps(value)) cells[to++] = value;
    }
    const left = to - start;
    if (to === end) return left;
    this.lengths[list] = left;
    if (left === 0) this.#release(list);
    else if (this.#classes[list] !== 0 && left <= (SIZES[this.#next(list, -2)] as number))
      this.#place(list, classOf(left));
    return left;
  }

  #next(list: number, by: number): number {
    return Math.max(0, (this.#classes[list] as number) + by);
  }

  #open(list: number): void {
    this.#lists = list + 1;
    if (list < this.starts.length) return;
    const size = Math.ceil(1.5 * list) + 1;
    this.starts = grown(this.starts, size);
    this.lengths = grown(this.lengths, size);
    const classes = new Uint8Array(size);
    classes.set(this.#classes);
    this.#classes = classes;
  }

  /** Moves a list to a block of a class. */
  #place(list: number, sizeClass: number): void {
    let block = this.#free[sizeClass] as number;
    if (block === NONE) {
      block = this.end;
      this.end += SIZES[sizeClass] as number;
      if (this.end > this.cells.length) this.cells = grown(this.cells, Math.ceil(1.25 * this.end));
    } else this.#free[sizeClass] = this.cells[block] as number;
    const start = this.starts[list] as number;
    if (start !== NONE) {
      this.cells.copyWithin(block, start, start + (this.lengths[list] as number));
      this.#release(list);
    }
    this.starts[list] = block;
    this.#classes[list] = sizeClass;
  }

  #release(list: number): void {
    const start = this.starts[list] as number;
    const sizeClass = this.#classes[list] as number;
    this.cells[start] = this.#free[sizeClass] as number;
    this.#free[sizeClass] = start;
    this.starts[list] = NONE;
  }
}

function classOf(length: number): number {
  return SIZES.findIndex((size) => size >= length);
}

function grown(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(array);
  return larger;
}
