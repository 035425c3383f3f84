import type { Column } from '../../ground/api/columns.js';
import { DEFAULTED, defaultedCause, Status, statusName, type StatusName } from '../../ground/api/status.js';

/** Number of status bytes: each status, and its defaulted form. */
const STATUSES = 2 * DEFAULTED;

/** Counts of one column; all zero between columns. */
const scratch = new Uint32Array(STATUSES);

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

  /** Counts the first `rows` cells of a column. */
  count(view: string, { status }: Column, rows: number): void {
    const counts = this.#of(view);
    let row = 0;
    if (status.byteOffset % 8 === 0) {
      // Most cells are present, which is status 0. Eight of them are tested at once as one double. No status sets its
      // highest bit, so a double of eight statuses is 0 only if all eight are present.
      const eights = new Float64Array(status.buffer, status.byteOffset, rows >> 3);
      let present = 0;
      for (let i = 0; i < eights.length; i++) {
        if (eights[i] === 0) present += 8;
        else for (let at = 8 * i; at < 8 * i + 8; at++) tally(status[at] as number);
      }
      counts[0] = (counts[0] as number) + present;
      row = 8 * eights.length;
    }
    for (; row < rows; row++) tally(status[row] as number);
    for (let one = 0; one < STATUSES; one++) counts[one] = (counts[one] as number) + (scratch[one] as number);
    scratch.fill(0);
  }

  addAll(other: StatusCounts): void {
    for (const [view, values] of other.#byView) {
      const counts = this.#of(view);
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
    return counts;
  }
}

function tally(status: number): void {
  scratch[status] = (scratch[status] as number) + 1;
}
