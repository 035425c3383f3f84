import type { Kernel } from '../environment.js';
import type { Column } from '../../../ground/api/columns.js';
import { isKnown, Status } from '../../../ground/api/status.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import { copyCell, writeMissing } from '../../frame/cells.js';
import type { BuildKernel } from '../operand.js';
import { causeAt, listsInSteps, rowsOf, settle } from './rows.js';

/** `if(c, a, b)` for numbers, bools and times. */
export const ifNumber: BuildKernel = (out, [condition = -1, then = -1, otherwise = -1]) => {
  const forThen = [condition, then];
  const forElse = [condition, otherwise];
  return (frame) => {
    const result = frame.number(out);
    const c = frame.number(condition);
    const a = frame.number(then);
    const b = frame.number(otherwise);
    const rows = rowsOf(frame, result);
    const { values, status } = result;
    for (let row = 0; row < rows; row++) {
      const which = c.values[row * c.stride] as number;
      values[row] =
        which === 1
          ? (a.values[row * a.stride] as number)
          : which === 0
            ? (b.values[row * b.stride] as number)
            : NaN;
    }
    for (let row = 0; row < rows; row++) {
      const value = values[row] as number;
      const causes = c.values[row * c.stride] === 1 ? forThen : forElse;
      status[row] = value === value ? Status.present : causeAt(frame, causes, row) || Status.absent;
    }
  };
};

/** `if` for texts, lists and vectors. */
export const ifCell: BuildKernel = (out, [condition = -1, then = -1, otherwise = -1]) => {
  return (frame) => {
    const result = frame.columns[out] as Column;
    const c = frame.number(condition);
    return cellByCell(result, rowsOf(frame, result), (row) => {
      const at = row * c.stride;
      const which = c.values[at] as number;
      if (which === 1) takeCell(frame.columns[then] as Column, result, row);
      else if (which === 0) takeCell(frame.columns[otherwise] as Column, result, row);
      else writeMissing(result, row, c.status[at] as number);
    });
  };
};

/** Writes cells in ascending order. Every candidate may get a long list of the request. */
export function cellByCell(
  result: Column,
  rows: number,
  write: (row: number) => void,
): Pieces<void> | undefined {
  if ('offsets' in result) return listsInSteps(rows, result, write, () => undefined);
  for (let row = 0; row < rows; row++) write(row);
  return undefined;
}

/** `coalesce(a, b, …)` for numbers, bools and times. */
export const coalesceNumber: BuildKernel = (out, args) => {
  const [first = -1, ...others] = args;
  return (frame) => {
    const result = frame.number(out);
    const { values } = result;
    const rows = rowsOf(frame, result);
    const a = frame.number(first);
    for (let row = 0; row < rows; row++) values[row] = a.values[row * a.stride] as number;
    for (const slot of others) {
      const b = frame.number(slot);
      for (let row = 0; row < rows; row++) {
        const value = values[row] as number;
        if (value !== value) values[row] = b.values[row * b.stride] as number;
      }
    }
    settle(frame, result, args);
  };
};

/** `coalesce` for texts, lists and vectors. */
export const coalesceCell: BuildKernel = (out, args) => (frame) => {
  const result = frame.columns[out] as Column;
  return cellByCell(result, rowsOf(frame, result), (row) => {
    const slot = args.find((one) => knownAt(frame.columns[one] as Column, row)) ?? args[0] ?? -1;
    takeCell(frame.columns[slot] as Column, result, row);
  });
};

/** `known(x)` for every type. Its own result is always known. */
export const known: BuildKernel =
  (out, [arg = -1]) =>
  (frame) => {
    const result = frame.number(out);
    const column = frame.columns[arg] as Column;
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) result.values[row] = knownAt(column, row) ? 1 : 0;
    result.status.fill(Status.present, 0, rows);
  };

function knownAt(column: Column, row: number): boolean {
  return isKnown(column.status[row * column.stride]);
}

/** Copies a cell. The status of a known value becomes `present`. */
function takeCell(from: Column, to: Column, row: number): void {
  copyCell(from, row * from.stride, to, row);
  if (isKnown(to.status[row])) to.status[row] = Status.present;
}

/** Copies the one cell of the request, with its status, to every candidate's row. */
export function broadcast(out: number, from: number): Kernel {
  return (frame) => {
    const one = frame.columns[from] as Column;
    const all = frame.columns[out] as Column;
    if (one.kind === 'number' && all.kind === 'number') {
      all.values.fill(one.values[0] ?? NaN, 0, frame.count);
      all.status.fill(one.status[0] ?? 0, 0, frame.count);
      return undefined;
    }
    return cellByCell(all, frame.count, (row) => copyCell(one, 0, all, row));
  };
}
