import type { Column } from '../../ground/api/columns.js';
import { DEFAULTED, defaultedCause, Status, statusName, type StatusName } from '../../ground/api/status.js';

/** Number of status bytes: each status, and its defaulted form. */
const STATUSES = 2 * DEFAULTED;

/** From so many rows on, eight cells are tested at once. */
const MANY_ROWS = 64;
const NONE = new Float64Array(0);

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

/** Counts feature cells by view and status, one column at a time. */
export class StatusCounts {
  readonly #byView = new Map<string, Float64Array>();
  /** Columns of one view are counted one after the other. */
  #lastView: string | undefined;
  #last: Float64Array = NONE;

  /** Counts the first `rows` cells of a column. */
  count(view: string, { status }: Column, rows: number): void {
    const counts = view === this.#lastView ? this.#last : this.#of(view);
    let row = 0;
    if (rows >= MANY_ROWS && status.byteOffset % 8 === 0) {
      // Most cells are present, which is status 0. Eight of them are tested at once as one double. No status sets its
      // highest bit, so a double of eight statuses is 0 only if all eight are present.
      const eights = new Float64Array(status.buffer, status.byteOffset, rows >> 3);
      let present = 0;
      for (let i = 0; i < eights.length; i++) {
        if (eights[i] === 0) present += 8;
        else for (let at = 8 * i; at < 8 * i + 8; at++) (counts[status[at] as number] as number)++;
      }
      counts[Status.present] = (counts[Status.present] as number) + present;
      row = 8 * eights.length;
    }
    for (; row < rows; row++) (counts[status[row] as number] as number)++;
  }

  addAll(other: StatusCounts): void {
    for (const [view, values] of other.#byView) {
      const counts = this.#byView.get(view) ?? this.#of(view);
      for (let status = 0; status < STATUSES; status++)
        counts[status] = (counts[status] as number) + (values[status] as number);
    }
  }

  /** The counts that are not zero, by view. */
  list(): StatusCount[] {
    return [...this.#byView].flatMap(([view, counts]) =>
      [...counts].flatMap((values, status) =>
        values === 0 ? [] : [{ view, status: statusName(status), cause: defaultedCause(status), values }],
      ),
    );
  }

  /** Views with at least one value that could not be read. */
  failedViews(): string[] {
    const views: string[] = [];
    for (const [view, counts] of this.#byView) if (counts[Status.failed] !== 0) views.push(view);
    return views;
  }

  #of(view: string): Float64Array {
    let counts = this.#byView.get(view);
    if (counts === undefined) {
      counts = new Float64Array(STATUSES);
      this.#byView.set(view, counts);
    }
    this.#lastView = view;
    this.#last = counts;
    return counts;
  }
}
