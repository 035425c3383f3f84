import type {
  Column,
  NumberColumn,
  NumbersColumn,
  TextColumn,
  TextsColumn,
} from '../../../ground/api/columns.js';
import { isKnown, Status } from '../../../ground/api/status.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import { MOST_REPEATED, reserveNumbers, type Frame } from '../../frame/frame.js';

/** The number of rows that a kernel must write: all candidates, or the one row of the request. */
export function rowsOf(frame: Frame, out: Column): number {
  return out.stride === 0 ? 1 : frame.count;
}

/** Why a row has no result: the status of the first argument that is unknown; `present` if all are known. */
export function causeAt(frame: Frame, args: readonly number[], row: number): number {
  for (const slot of args) {
    const column = frame.columns[slot] as Column;
    const status = column.status[row * column.stride] as number;
    if (!isKnown(status)) return status;
  }
  return Status.present;
}

/**
 * Sets the status of each row of a number column after its values were written. A row that is NaN gets the status of
 * its first unknown argument. If all arguments are known, the result is not a finite number, and the status is
 * `absent`.
 */
export function settle(frame: Frame, out: NumberColumn, args: readonly number[]): void {
  const { values, status } = out;
  const rows = rowsOf(frame, out);
  for (let row = 0; row < rows; row++) {
    const value = values[row] as number;
    status[row] = value === value ? Status.present : causeAt(frame, args, row) || Status.absent;
  }
}

/** Writes NaN in rows whose text is not known: the '' in such a cell is not a value. */
export function hideUnknown(frame: Frame, out: NumberColumn, text: TextColumn): void {
  const { status, stride } = text;
  if (stride === 0 && isKnown(status[0])) return;
  const rows = rowsOf(frame, out);
  for (let row = 0; row < rows; row++) {
    if (!isKnown(status[row * stride])) out.values[row] = NaN;
  }
}

/**
 * Computes rows in steps of limited work.
 * @param some computes rows from one on; returns the first row that is left
 * @param end called after the last row
 */
export function rowsInSteps(
  rows: number,
  some: (from: number) => number,
  end: () => void,
): Pieces<void> | undefined {
  const next = some(0);
  if (next < rows) return rest(next);
  end();
  return undefined;

  function* rest(from: number): Pieces<void> {
    for (let row = from; row < rows; yield) row = some(row);
    end();
  }
}

/** The elements of lists that are read or copied before other work may run. */
export const READ = 1 << 16;

/**
 * Works on rows one after another, in steps of limited work.
 * @param lists the column whose lists the work reads or writes
 * @param end called after the last row
 */
export function listsInSteps(
  rows: number,
  { offsets, stride }: NumbersColumn | TextsColumn,
  work: (row: number) => void,
  end: () => void,
): Pieces<void> | undefined {
  const some = (from: number): number => {
    let row = from;
    for (let left = READ; row < rows && left > 0; row++) {
      work(row);
      left -= (offsets[row * stride + 1] as number) - (offsets[row * stride] as number);
    }
    return row;
  };
  return rowsInSteps(rows, some, end);
}

/** The elements of lists that are computed before other work may run. */
const ELEMENTS = 1 << 14;

/**
 * Fills a list column from the lists of `list`. `work` writes elements of one row: it reads `length` elements from `start`
 * and writes them from `at`; a long list is divided. A row with an unknown argument gets the status of that argument.
 */
export function mapLists(
  frame: Frame,
  out: NumbersColumn,
  list: NumbersColumn | TextsColumn,
  args: readonly number[],
  work: (row: number, at: number, start: number, length: number) => void,
): Pieces<void> | undefined {
  const rows = rowsOf(frame, out);
  const { offsets, stride } = list;
  let most = 0;
  for (let row = 0; row < rows; row++) {
    most += (offsets[row * stride + 1] as number) - (offsets[row * stride] as number);
  }
  reserveNumbers(out, most, stride < out.stride ? MOST_REPEATED.numbers : undefined);
  out.offsets[0] = 0;
  if (most > ELEMENTS) return mapInPieces(frame, out, list, args, work);
  let at = 0;
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
  return undefined;
}

function* mapInPieces(
  frame: Frame,
  out: NumbersColumn,
  { offsets, stride }: NumbersColumn | TextsColumn,
  args: readonly number[],
  work: (row: number, at: number, start: number, length: number) => void,
): Pieces<void> {
  const rows = rowsOf(frame, out);
  let at = 0;
  let left = ELEMENTS;
  for (let row = 0; row < rows; row++) {
    const cause = causeAt(frame, args, row);
    out.status[row] = cause;
    if (cause === Status.present) {
      const start = offsets[row * stride] as number;
      const end = offsets[row * stride + 1] as number;
      for (let from = start; from < end;) {
        const length = Math.min(end - from, left);
        work(row, at, from, length);
        at += length;
        from += length;
        left -= length;
        if (left > 0) continue;
        left = ELEMENTS;
        yield;
      }
    }
    out.offsets[row + 1] = at;
  }
}
