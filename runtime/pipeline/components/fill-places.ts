import { BoundState } from './bound-state.js';
import { ClassQueues } from './class-queues.js';
import { DiversityState } from './diversity-state.js';
import { type RankingState, rulesOf } from './order-rules.js';

/**
 * Fills the places from the top. Each place without a row of its own takes the best waiting row that all bounds allow, or,
 * with diversity, the allowed row of the highest marginal relevance. If the bounds allow no row, it takes the best one. The
 * first rows do not depend on `most`, so pages fit together.
 * @param fixed rows with a place of their own, by position from 1
 * @param free the other rows, best first
 */
export function fillPlaces(
  fixed: ReadonlyMap<number, number>,
  free: Int32Array,
  { rules, scores, tiers, page }: RankingState,
  most: number,
): Int32Array {
  const order = new Int32Array(Math.min(most, free.length + fixed.size));
  const bounds = rulesOf(rules, 'limit').map(({ bound }) => new BoundState(bound, free, fixed, order, page));
  const isTaken = new Uint8Array(free.length + 1);
  const queues = new ClassQueues(free, bounds, isTaken);
  const diverse = new DiversePlaces(
    free,
    rulesOf(rules, 'diversify').map(({ diversity }) => new DiversityState(diversity, free, scores, tiers)),
  );
  let first = 0; // the best waiting index
  for (let rank = 0; rank < order.length; rank++) {
    queues.enter(rank);
    const own = fixed.get(rank + 1);
    let row = own ?? -1;
    if (own === undefined) {
      while (isTaken[first] === 1) first++;
      const allowed = (one: number): boolean => bounds.every((bound) => bound.allows(one, rank));
      const index = diverse.best(rank, bounds, allowed, isTaken) ?? queues.best(rank) ?? first;
      isTaken[index] = 1;
      row = free[index] ?? 0;
    }
    order[rank] = row;
    for (const bound of bounds) bound.place(row, own === undefined);
    queues.placed(row, rank);
    diverse.place(row, rank, isTaken);
  }
  return order;
}

/** The rows that wait, while some places are filled by marginal relevance. */
class DiversePlaces {
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
