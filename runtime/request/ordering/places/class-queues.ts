import { ALL, type BoundState } from './bound-state.js';
import { RankHeap } from './rank-heap.js';
import { classesOf } from './row-classes.js';

/** How many rows are tried one by one, at least, before all classes of the groups that must not wait are compared. */
const WALKED = 32;

/**
 * The waiting rows by class: rows of one class are in the same group of every bound, so only the best of each class counts.
 * Classes whose group is full are parked at that group, and come back when it has room. So most places cost O(log n).
 */
export class ClassQueues {
  readonly #free: Int32Array;
  readonly #bounds: readonly BoundState[];
  readonly #isTaken: Uint8Array;
  /** By index in `free`: the next one of its class, or the number of rows. */
  readonly #next: Int32Array;
  /** By class: its best waiting index, or the number of rows. */
  readonly #heads: Int32Array;
  readonly #open: RankHeap;
  /** By bound: parked classes by group. */
  readonly #parked: readonly Map<number, RankHeap>[];
  /** By class: the index by which it is in a heap. */
  readonly #ranks: Int32Array;
  /** No row of a smaller index waits. */
  #first = 0;
  /** By bound: the classes of each group, made when they are first needed. */
  readonly #classesOf: (readonly (readonly number[])[] | undefined)[] = [];

  /**
   * @param free waiting rows, best first
   * @param isTaken by index in `free`: 1 if the row has got a place; the caller writes it
   */
  constructor(free: Int32Array, bounds: readonly BoundState[], isTaken: Uint8Array) {
    this.#free = free;
    this.#bounds = bounds;
    this.#isTaken = isTaken;
    const classes = classesOf(
      free,
      bounds.map(({ groups }) => groups),
    );
    this.#next = new Int32Array(free.length).fill(free.length);
    const last: number[] = [];
    const heads: number[] = [];
    for (let at = 0; at < free.length; at++) {
      const of = classes[at] ?? 0;
      const before = last[of];
      if (before === undefined) heads[of] = at;
      else this.#next[before] = at;
      last[of] = at;
    }
    this.#heads = Int32Array.from(heads);
    this.#ranks = this.#heads.slice();
    this.#open = new RankHeap(this.#ranks);
    for (let of = 0; of < heads.length; of++) this.#open.push(of);
    this.#parked = bounds.map(() => new Map<number, RankHeap>());
  }

  /** Moves on to a rank: groups may have room again. */
  enter(rank: number): void {
    for (const [which, bound] of this.#bounds.entries()) {
      const group = bound.enter(rank);
      if (group === ALL) for (const one of this.#parked[which]?.keys() ?? []) this.#wake(which, one);
      else if (group >= 0) this.#wake(which, group);
    }
  }

  /** The best index whose row every bound allows at a rank; undefined if there is none. */
  best(rank: number): number | undefined {
    const tight = this.#tight(rank);
    if (tight !== undefined) return tight;
    for (let of = this.#open.first; of !== undefined; of = this.#open.first) {
      const head = this.#head(of);
      if (head !== this.#ranks[of]) {
        this.#renew(this.#open, of, head);
        continue;
      }
      const row = this.#free[head] ?? 0;
      const full = this.#bounds.findIndex((bound) => !bound.allows(row, rank));
      if (full < 0) return head;
      this.#open.drop();
      this.#park(full, this.#bounds[full]?.groups[row] ?? 0, of);
      this.#wakeGroupsOf(row, rank, full);
    }
    return undefined;
  }

  /** After a row got a place: other classes of its groups may have room as well. */
  placed(row: number, rank: number): void {
    this.#wakeGroupsOf(row, rank, -1);
  }

  /**
   * The best row among those that must not wait, for the first bound that has some; undefined if none must be chosen, or
   * none of them is allowed.
   */
  #tight(rank: number): number | undefined {
    const least = this.#bounds.map((bound) => bound.leastLeft);
    let fewest: Int32Array | undefined;
    let which = 0;
    for (const [at, bound] of this.#bounds.entries()) {
      const count = least[at] ?? 0;
      const groups = count === 0 ? undefined : bound.groupsWith(count);
      if (groups === undefined || groups.length >= (fewest?.length ?? Infinity)) continue;
      fewest = groups;
      which = at;
    }
    if (fewest === undefined) return undefined;
    const fits = (row: number): boolean =>
      this.#bounds.every((bound, i) => bound.leftOf(row) >= (least[i] ?? 0) && bound.allows(row, rank));
    // If many groups must not wait, one of the first rows is usually of one of them.
    const walked = this.#firstThat(fits, Math.max(WALKED, fewest.length));
    if (walked !== undefined) return walked;
    const classes = this.#groupedBy(which);
    let best: number | undefined;
    for (const group of fewest)
      for (const of of classes[group] ?? []) {
        const head = this.#head(of);
        if (head < (best ?? this.#free.length) && fits(this.#free[head] ?? 0)) best = head;
      }
    return best;
  }

  /** The best waiting index whose row fits; undefined if none of so many rows does. */
  #firstThat(fits: (row: number) => boolean, most: number): number | undefined {
    while (this.#isTaken[this.#first] === 1) this.#first++;
    const end = Math.min(this.#free.length, this.#first + most);
    for (let index = this.#first; index < end; index++)
      if (this.#isTaken[index] !== 1 && fits(this.#free[index] ?? 0)) return index;
    return undefined;
  }

  /** The classes of each group of a bound. */
  #groupedBy(which: number): readonly (readonly number[])[] {
    const known = this.#classesOf[which];
    if (known !== undefined) return known;
    const classes: number[][] = [];
    for (let of = 0; of < this.#heads.length; of++) {
      // A class whose rows have all got a place is not needed any more.
      const group = this.#bounds[which]?.groups[this.#free[this.#head(of)] ?? -1] ?? -1;
      if (group >= 0) (classes[group] ??= []).push(of);
    }
    this.#classesOf[which] = classes;
    return classes;
  }

  #head(of: number): number {
    let head = this.#heads[of] ?? 0;
    while (this.#isTaken[head] === 1) head = this.#next[head] ?? this.#free.length;
    this.#heads[of] = head;
    return head;
  }

  /** Puts the first class of a heap where its best row belongs; a class without rows leaves. */
  #renew(heap: RankHeap, of: number, head: number): void {
    this.#ranks[of] = head;
    if (head < this.#free.length) heap.renew();
    else heap.drop();
  }

  #park(which: number, group: number, of: number): void {
    const parked = this.#parked[which];
    const heap = parked?.get(group) ?? new RankHeap(this.#ranks);
    parked?.set(group, heap);
    heap.push(of);
  }

  #wakeGroupsOf(row: number, rank: number, except: number): void {
    for (const [which, bound] of this.#bounds.entries()) {
      if (which !== except && bound.allows(row, rank)) this.#wake(which, bound.groups[row] ?? -1);
    }
  }

  /** The best class that is parked at a group comes back. */
  #wake(which: number, group: number): void {
    const heap = this.#parked[which]?.get(group);
    if (heap === undefined) return;
    for (let of = heap.first; of !== undefined; of = heap.first) {
      const head = this.#head(of);
      if (head !== this.#ranks[of]) {
        this.#renew(heap, of, head);
        continue;
      }
      heap.drop();
      this.#open.push(of);
      return;
    }
  }
}
