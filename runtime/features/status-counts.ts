import type { Column } from '../api/columns.js';
import { defaultedCause, statusName, type StatusName } from '../api/status.js';

/** Room for every status byte: names and their defaulted forms. */
const STATUSES = 32;

/** How many cells of a view have a status; of a defaulted one, for want of what. */
export interface StatusCount {
  readonly view: string;
  readonly status: StatusName;
  readonly cause: StatusName | undefined;
  readonly values: number;
}

/** Counts the cells of features by view and status, a column at a time. */
export class StatusCounts {
  readonly #byView = new Map<string, Float64Array>();

  /** Counts the first `rows` cells of a column. */
  count(view: string, { status }: Column, rows: number): void {
    const counts = this.#of(view);
    let row = 0;
    if (status.byteOffset % 4 === 0) {
      // Present is 0 and by far the most frequent: four rows at a time while they all are.
      const words = new Uint32Array(status.buffer, status.byteOffset, rows >> 2);
      for (const word of words) {
        if (word === 0) counts[0] = (counts[0] as number) + 4;
        else for (let i = row; i < row + 4; i++) add(counts, status[i] as number);
        row += 4;
      }
    }
    for (; row < rows; row++) add(counts, status[row] as number);
  }

  addAll(other: StatusCounts): void {
    for (const [view, values] of other.#byView) {
      const counts = this.#of(view);
      for (let status = 0; status < STATUSES; status++)
        counts[status] = (counts[status] as number) + (values[status] as number);
    }
  }

  /** What was counted, by view; nothing that did not occur. */
  list(): StatusCount[] {
    return [...this.#byView].flatMap(([view, counts]) =>
      [...counts].flatMap((values, status) =>
        values === 0 ? [] : [{ view, status: statusName(status), cause: defaultedCause(status), values }],
      ),
    );
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

function add(counts: Float64Array, status: number): void {
  counts[status] = (counts[status] as number) + 1;
}
