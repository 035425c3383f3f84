import type { Bound } from '../../../ground/api/ranking-edit.js';
import { BoundState } from './bound-state.js';
import { ClassQueues } from './class-queues.js';
import { DiversePlaces } from './diverse-places.js';
import type { RankingState } from '../rule-kind.js';
import type { SearchedPlaces } from './order-search.js';

/**
 * The places while they are filled from the top. Each place without a row of its own takes the best waiting row that all
 * bounds allow, or, with diversity, the allowed row of the highest marginal relevance. If the bounds allow no row, it takes
 * the best one.
 */
export class Filling {
  readonly order: Int32Array;
  readonly #fixed: ReadonlyMap<number, number>;
  readonly #free: Int32Array;
  readonly #bounds: readonly BoundState[];
  readonly #queues: ClassQueues;
  readonly #diverse: DiversePlaces;
  /** By index in `free`: 1 if the row has got a place. */
  readonly #isTaken: Uint8Array;
  readonly #isDiverse: boolean;
  /** The best waiting index. */
  #first = 0;

  /** @param length the number of places that are filled at most, from the first */
  constructor(
    fixed: ReadonlyMap<number, number>,
    free: Int32Array,
    bounds: readonly Bound[],
    state: RankingState,
    length: number,
  ) {
    this.order = new Int32Array(length);
    this.#fixed = fixed;
    this.#free = free;
    this.#bounds = bounds.map((bound) => new BoundState(bound, free, fixed, state.page));
    this.#isTaken = new Uint8Array(free.length + 1);
    this.#queues = new ClassQueues(free, this.#bounds, this.#isTaken);
    const preferences = state.rules.flatMap(({ kind, ask }) => kind.preference?.(ask, free, state) ?? []);
    this.#isDiverse = preferences.length > 0;
    this.#diverse = new DiversePlaces(free, preferences);
  }

  /** Fills the places from a rank to another one. @returns whether each row that waited was allowed */
  fill(from: number, to: number): boolean {
    let isKept = true;
    for (let rank = from; rank < to; rank++) {
      this.#queues.enter(rank);
      const own = this.#fixed.get(rank + 1);
      if (own !== undefined) {
        this.#place(own, rank, false);
        continue;
      }
      while (this.#isTaken[this.#first] === 1) this.#first++;
      const allowed = (row: number): boolean => this.#bounds.every((bound) => bound.allows(row, rank));
      const index = this.#diverse.best(rank, this.#bounds, allowed, this.#isTaken) ?? this.#queues.best(rank);
      isKept &&= index !== undefined;
      this.#takeAt(index ?? this.#first, rank);
    }
    return isKept;
  }

  /** Gives the first places, which are empty, to the rows of another order. */
  take(rows: Int32Array): void {
    const indexes = new Map(Array.from(this.#free, (row, index) => [row, index]));
    for (const [rank, row] of rows.entries()) {
      this.#queues.enter(rank);
      const index = indexes.get(row);
      if (index === undefined) this.#place(row, rank, false);
      else this.#takeAt(index, rank);
    }
  }

  /**
   * All places, of which those from a rank on are empty but for rows with places of their own.
   * @param to how many places have been filled
   * @returns `waiting`: the other rows, best first, or, with diversity, first those that it chose
   */
  emptied(from: number, to: number): Pick<SearchedPlaces, 'placed' | 'waiting'> {
    const placed = new Int32Array(this.#free.length + this.#fixed.size).fill(-1);
    placed.set(this.order.subarray(0, from));
    for (const [position, row] of this.#fixed) placed[position - 1] = row;
    const above = new Set(this.order.subarray(0, from));
    const isFixed = new Set(this.#fixed.values());
    const chosen = this.#isDiverse ? this.order.subarray(0, to).filter((row) => !isFixed.has(row)) : [];
    const waiting = new Set([...chosen, ...this.#free].filter((row) => !above.has(row)));
    return { placed, waiting: Int32Array.from(waiting) };
  }

  #takeAt(index: number, rank: number): void {
    this.#isTaken[index] = 1;
    this.#place(this.#free[index] ?? 0, rank, true);
  }

  #place(row: number, rank: number, waited: boolean): void {
    this.order[rank] = row;
    for (const bound of this.#bounds) bound.place(row, rank, waited);
    this.#queues.placed(row, rank);
    this.#diverse.place(row, rank, this.#isTaken);
  }
}
