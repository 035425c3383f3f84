/** Larger than every slack, and small enough that no sum leaves 32 bits. */
const NONE = 2 ** 29;

/**
 * Numbers with an index, of which ranges change together: how much room the conditions of a bound leave. Each change and each
 * look-up costs O(log n): a segment tree of minima in which a node keeps what was added to all below it (Bentley, "Solutions to
 * Klee's rectangle problems", 1977).
 */
export class Slacks {
  readonly #length: number;
  /** The number of leaves, a power of 2. */
  readonly #size: number;
  /** By node, from 1: the least number below it, with what was added to this node, but not to those above it. */
  readonly #least: Int32Array;
  /** By inner node: what was added to all below it. */
  readonly #added: Int32Array;

  constructor(slacks: Int32Array) {
    this.#length = slacks.length;
    this.#size = 2 ** Math.ceil(Math.log2(Math.max(1, slacks.length)));
    this.#least = new Int32Array(2 * this.#size).fill(NONE);
    this.#added = new Int32Array(this.#size);
    this.#least.set(slacks, this.#size);
    for (let node = this.#size - 1; node > 0; node--) this.#renew(node);
  }

  get length(): number {
    return this.#length;
  }

  /** The least of all numbers. */
  get least(): number {
    return this.#least[1] ?? 0;
  }

  /** The first index whose number is 0 or less; undefined if there is none. */
  get first(): number | undefined {
    return this.#find(0);
  }

  /** The last index whose number is 0 or less; undefined if there is none. */
  get last(): number | undefined {
    return this.#find(1);
  }

  /** Adds to the numbers from an index to another one, which is not included. */
  add(from: number, to: number, change: number): void {
    if (from >= to) return;
    let left = from + this.#size;
    let right = to + this.#size;
    for (; left < right; left >>= 1, right >>= 1) {
      if ((left & 1) === 1) this.#addTo(left++, change);
      if ((right & 1) === 1) this.#addTo(--right, change);
    }
    for (let node = (from + this.#size) >> 1; node > 0; node >>= 1) this.#renew(node);
    for (let node = (to - 1 + this.#size) >> 1; node > 0; node >>= 1) this.#renew(node);
  }

  /** Adds to each number what its index says. It costs O(n). */
  addEach(change: (index: number) => number): void {
    for (let node = 1; node < this.#size; node++) {
      const added = this.#added[node] ?? 0;
      this.#added[node] = 0;
      this.#addTo(2 * node, added);
      this.#addTo(2 * node + 1, added);
    }
    for (let index = 0; index < this.#length; index++) this.#addTo(index + this.#size, change(index));
    for (let node = this.#size - 1; node > 0; node--) this.#renew(node);
  }

  /** Leaves a number out from now on. */
  drop(index: number): void {
    this.add(index, index + 1, NONE);
  }

  #addTo(node: number, change: number): void {
    this.#least[node] = (this.#least[node] ?? 0) + change;
    if (node < this.#size) this.#added[node] = (this.#added[node] ?? 0) + change;
  }

  #renew(node: number): void {
    const [left, right] = [this.#least[2 * node] ?? 0, this.#least[2 * node + 1] ?? 0];
    this.#least[node] = (left < right ? left : right) + (this.#added[node] ?? 0);
  }

  /** @param side 0: the first index; 1: the last one */
  #find(side: 0 | 1): number | undefined {
    if (this.least > 0) return undefined;
    let node = 1;
    let added = 0;
    while (node < this.#size) {
      added += this.#added[node] ?? 0;
      node = 2 * node + side;
      if ((this.#least[node] ?? 0) + added > 0) node ^= 1;
    }
    return node - this.#size;
  }
}
