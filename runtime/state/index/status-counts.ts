import type { Column } from '../../ground/api/columns.js';
import { DEFAULTED, defaultedCause, Status, statusName, type StatusName } from '../../ground/api/status.js';

/** Number of status bytes: each status, and its defaulted form. */
const STATUSES = 2 * DEFAULTED;

/** From so many rows on, eight cells are tested at once. */
const MANY_ROWS = 64;

/**
 * The number of cells with one status, in a view or another named group. For a defaulted status, it also has the reason
 * for the default.
 */
export interface StatusCount {
  readonly view: string;
  readonly status: StatusName;
  readonly cause: StatusName | undefined;
  readonly values: number;
}

/** The places of names in counts. Counts of the same plan share them, so that each needs one array of its own. */
export type CountedNames = Map<string, number>;

/** Counts feature cells by view and status, one column at a time. */
export class StatusCounts {
  /** Names are only added. */
  readonly #names: CountedNames;
  /** STATUSES counts for each name, as far as names were counted. */
  #counts: Float64Array;
  /** Columns of one view are counted one after the other. */
  #lastView: string | undefined;
  #lastAt = 0;

  /** @param names those that are counted; it gets the ones that it does not have */
  constructor(names: CountedNames = new Map()) {
    this.#names = names;
    this.#counts = new Float64Array(names.size * STATUSES);
  }

  /** Counts the first `rows` cells of a column. */
  count(view: string, { status }: Column, rows: number): void {
    const first = view === this.#lastView ? this.#lastAt : this.#firstOf(view);
    const counts = this.#counts;
    let row = 0;
    if (rows >= MANY_ROWS && status.byteOffset % 8 === 0) {
      // Most cells are present, which is status 0. Eight of them are tested at once as one double. No status sets its
      // highest bit, so a double of eight statuses is 0 only if all eight are present.
      const eights = new Float64Array(status.buffer, status.byteOffset, rows >> 3);
      let present = 0;
      for (let i = 0; i < eights.length; i++) {
        if (eights[i] === 0) present += 8;
        else for (let at = 8 * i; at < 8 * i + 8; at++) (counts[first + (status[at] as number)] as number)++;
      }
      (counts[first + Status.present] as number) += present;
      row = 8 * eights.length;
    }
    for (; row < rows; row++) (counts[first + (status[row] as number)] as number)++;
  }

  addAll(other: StatusCounts): void {
    const added = other.#counts;
    for (const [view, from] of other.#names) {
      if (from * STATUSES >= added.length) continue;
      let first = (this.#names.get(view) ?? Infinity) * STATUSES;
      if (first >= this.#counts.length) first = this.#firstOf(view);
      const counts = this.#counts;
      for (let status = 0; status < STATUSES; status++)
        (counts[first + status] as number) += added[from * STATUSES + status] as number;
    }
  }

  /** The counts that are not zero, by view. */
  list(): StatusCount[] {
    return [...this.#names].flatMap(([view, at]) =>
      Array.from(this.#counts.subarray(at * STATUSES, (at + 1) * STATUSES)).flatMap((values, status) =>
        values === 0 ? [] : [{ view, status: statusName(status), cause: defaultedCause(status), values }],
      ),
    );
  }

  /** Views with at least one value that could not be read. */
  failedViews(): string[] {
    const views: string[] = [];
    for (const [view, at] of this.#names)
      if ((this.#counts[at * STATUSES + Status.failed] ?? 0) !== 0) views.push(view);
    return views;
  }

  /** The place of the first count of a view. */
  #firstOf(view: string): number {
    let at = this.#names.get(view);
    if (at === undefined) this.#names.set(view, (at = this.#names.size));
    const first = at * STATUSES;
    if (first >= this.#counts.length) {
      const counts = new Float64Array(this.#names.size * STATUSES);
      counts.set(this.#counts);
      this.#counts = counts;
    }
    this.#lastView = view;
    this.#lastAt = first;
    return first;
  }
}
