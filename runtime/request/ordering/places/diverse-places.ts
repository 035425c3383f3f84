import type { BoundState } from './bound-state.js';
import type { DiversityState } from './diversity-state.js';

/** The rows that wait, while some places are filled by marginal relevance. */
export class DiversePlaces {
  readonly #states: readonly DiversityState[];
  readonly #places: number;
  /** Indexes in `free` of the rows that wait, and the rows: the first `#length`. */
  readonly #indexes: Int32Array;
  readonly #open: Int32Array;
  #length: number;

  constructor(free: Int32Array, states: readonly DiversityState[]) {
    this.#states = states;
    this.#places = Math.max(0, ...states.map(({ places }) => places));
    this.#length = states.length === 0 ? 0 : free.length;
    this.#indexes = Int32Array.from({ length: this.#length }, (_, index) => index);
    this.#open = free.slice(0, this.#length);
  }

  /** The index of the allowed row with the highest marginal relevance; undefined if this place is filled in another way. */
  best(
    rank: number,
    bounds: readonly BoundState[],
    allowed: (row: number) => boolean,
    isTaken: Uint8Array,
  ): number | undefined {
    if (rank >= this.#places) return undefined;
    const [first, ...others] = this.#states.filter(({ places }) => rank < places);
    if (first === undefined) return undefined;
    const least = bounds.map((bound) => bound.leastLeft);
    const { values } = first;
    const [open, indexes, length] = [this.#open, this.#indexes, this.#length];
    let best: number | undefined;
    let most = -Infinity;
    // Each place looks at each row that waits, so a row costs a few nanoseconds here.
    for (let i = 0; i < length; i++) {
      const row = open[i] ?? 0;
      let own = values[row] ?? NaN;
      for (let at = 0; at < others.length; at++) own = sum(own, others[at]?.values[row] ?? NaN);
      if (!(own > most)) continue;
      const index = indexes[i] ?? 0;
      if (isTaken[index] === 1) continue;
      if (!bounds.every((bound, at) => bound.leftOf(row) >= (least[at] ?? 0)) || !allowed(row)) continue;
      best = index;
      most = own;
    }
    return best;
  }

  /** Takes note of a row that got a place. */
  place(row: number, rank: number, isTaken: Uint8Array): void {
    if (rank + 1 >= this.#places) return;
    const [open, indexes, waiting] = [this.#open, this.#indexes, this.#length];
    let length = 0;
    for (let i = 0; i < waiting; i++) {
      const index = indexes[i] ?? 0;
      if (isTaken[index] === 1) continue;
      indexes[length] = index;
      open[length++] = open[i] ?? 0;
    }
    this.#length = length;
    for (const state of this.#states) if (rank + 1 < state.places) state.place(row, open, length);
  }
}

/** Of two values of a row, of which one may be NaN because the row does not take part. */
function sum(a: number, b: number): number {
  if (a !== a) return b;
  return b === b ? a + b : a;
}
