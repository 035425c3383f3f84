import type { Column, NumberColumn, NumbersColumn, TextColumn, TextsColumn } from '../../api/columns.js';
import { isKnown, Status } from '../../api/status.js';
import { reserveNumbers, type Frame } from '../../frame/frame.js';

/** Rows that a kernel has to write: every candidate's, or the one of the request. */
export function rowsOf(frame: Frame, out: Column): number {
  return out.stride === 0 ? 1 : frame.count;
}

/** Why a row has no result: the status of the first argument that is not known; `present` if all are known. */
export function causeAt(frame: Frame, args: readonly number[], row: number): number {
  for (const slot of args) {
    const column = frame.columns[slot] as Column;
    const status = column.status[row * column.stride] as number;
    if (!isKnown(status)) return status;
  }
  return Status.present;
}

/**
 * Gives each row of a number column its status after its values were written: NaN takes the cause that the
 * arguments give, or `absent` where all of them are known and the result is not a finite number.
 */
export function settle(frame: Frame, out: NumberColumn, args: readonly number[]): void {
  const { values, status } = out;
  const rows = rowsOf(frame, out);
  for (let row = 0; row < rows; row++) {
    const value = values[row] as number;
    status[row] = value === value ? Status.present : causeAt(frame, args, row) || Status.absent;
  }
}

/** Puts NaN where a text that the row's result depends on is not known: its '' is no value. */
export function hideUnknown(frame: Frame, out: NumberColumn, text: TextColumn): void {
  const { status, stride } = text;
  const rows = rowsOf(frame, out);
  for (let row = 0; row < rows; row++) {
    if (!isKnown(status[row * stride])) out.values[row] = NaN;
  }
}

/**
 * Fills a list column element by element from `list`: `work` writes the `length` elements of a row, which begin at
 * `start` of the list's values, from `at` of the result's. Rows with an argument that is not known get its status.
 */
export function mapLists(
  frame: Frame,
  out: NumbersColumn,
  list: NumbersColumn | TextsColumn,
  args: readonly number[],
  work: (row: number, at: number, start: number, length: number) => void,
): void {
  const rows = rowsOf(frame, out);
  const { offsets, stride } = list;
  let most = 0;
  for (let row = 0; row < rows; row++) {
    most += (offsets[row * stride + 1] as number) - (offsets[row * stride] as number);
  }
  reserveNumbers(out, most);
  let at = 0;
  out.offsets[0] = 0;
  for (let row = 0; row < rows; row++) {
    const cause = causeAt(frame, args, row);
    out.status[row] = cause;
    if (cause === Status.present) {
      const start = offsets[row * stride] as number;
      const length = (offsets[row * stride + 1] as number) - start;
      work(row, at, start, length);
      at += length;
    }
    out.offsets[row + 1] = at;
  }
}
