import type { BoundState } from './bound-state.js';
import type { DiversityState } from './diversity-state.js';

/** The rows that wait, while some places are filled by marginal relevance. */
export class DiversePlaces {
  readonly #states: readonly DiversityState[];
  readonly #places: number;
  readonly #free: Int32Array;
  readonly #indexes: Int32Array;
  readonly #open: Int32Array;
  #length: number;

  constructor(free: Int32Array, states: readonly DiversityState[]) {
    this.#states = states;
    this.#places = Math.max(0, ...states.map(({ places }) => places));
    this.#free = free;
    this.#length = states.length === 0 ? 0 : free.length;
    this.#indexes = Int32Array.from({ length: this.#length }, (_, index) => index);
    this.#open = new Int32Array(this.#length);
  }

  /** The index of the allowed row with the highest marginal relevance; undefined if this place is filled in another way. */
  best(
    rank: number,
    bounds: readonly BoundState[],
    allowed: (row: number) => boolean,
    isTaken: Uint8Array,
  ): number | undefined {
    if (rank >= this.#places) return undefined;
    const states = this.#states.filter(({ places }) => rank < places);
    const least = bounds.map((bound) => bound.leastLeft);
    let best: number | undefined;
    let value = -Infinity;
    for (let i = 0; i < this.#length; i++) {
      const index = this.#indexes[i] ?? 0;
      if (isTaken[index] === 1) continue;
      const row = this.#free[index] ?? 0;
      let own = 0;
      let isIn = false;
      for (const state of states) {
        if (!state.has(row)) continue;
        isIn = true;
        own += state.value(row);
      }
      if (!isIn || own <= value) continue;
      if (!bounds.every((bound, at) => bound.leftOf(row) >= (least[at] ?? 0)) || !allowed(row)) continue;
      best = index;
      value = own;
    }
    return best;
  }

  /** Takes note of a row that got a place. */
  place(row: number, rank: number, isTaken: Uint8Array): void {
    if (rank + 1 >= this.#places) return;
    let length = 0;
    for (let i = 0; i < this.#length; i++) {
      const index = this.#indexes[i] ?? 0;
      if (isTaken[index] === 1) continue;
      this.#indexes[length] = index;
      this.#open[length++] = this.#free[index] ?? 0;
    }
    this.#length = length;
    for (const state of this.#states) if (rank + 1 < state.places) state.place(row, this.#open, length);
  }
}
