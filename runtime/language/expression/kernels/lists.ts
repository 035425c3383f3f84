import { isKnown, Status } from '../../../ground/api/status.js';
import type { BuildKernel } from '../operand.js';
import { causeAt, listsInSteps, READ, rowsInSteps, rowsOf, settle } from './rows.js';

/**
 * Reduces the elements from `start` up to, not including, `end`. NaN means no result, and a NaN element is not known.
 */
export type Reduction = (values: Float64Array | Float32Array, start: number, end: number) => number;

export const sum: Reduction = (values, start, end) => {
  let total = 0;
  for (let i = start; i < end; i++) {
    const value = values[i] as number;
    if (value === value) total += value;
  }
  return Number.isFinite(total) ? total : NaN;
};

export const mean: Reduction = (values, start, end) => {
  const of = countNumbers(values, start, end);
  return of === 0 ? NaN : sum(values, start, end) / of;
};

export const minimum: Reduction = (values, start, end) => {
  let found = NaN;
  for (let i = start; i < end; i++) {
    const value = values[i] as number;
    if (value === value) found = found === found ? Math.min(found, value) : value;
  }
  return found;
};

export const maximum: Reduction = (values, start, end) => {
  let found = NaN;
  for (let i = start; i < end; i++) {
    const value = values[i] as number;
    if (value === value) found = found === found ? Math.max(found, value) : value;
  }
  return found;
};

export const countNumbers: Reduction = (values, start, end) => {
  let count = 0;
  for (let i = start; i < end; i++) if (values[i] === values[i]) count++;
  return count;
};

export const countTrue: Reduction = (values, start, end) => {
  let count = 0;
  for (let i = start; i < end; i++) if (values[i] === 1) count++;
  return count;
};

/**
 * Three-valued (Kleene) or: true if an element is true; otherwise unknown if an element is unknown; otherwise false.
 * False for an empty list.
 */
export const any: Reduction = (values, start, end) => {
  let result = 0;
  for (let i = start; i < end; i++) {
    if (values[i] === 1) return 1;
    if (values[i] !== 0) result = NaN;
  }
  return result;
};

/**
 * Three-valued (Kleene) and: false if an element is false; otherwise unknown if an element is unknown; otherwise true.
 * True for an empty list.
 */
export const all: Reduction = (values, start, end) => {
  let result = 1;
  for (let i = start; i < end; i++) {
    if (values[i] === 0) return 0;
    if (values[i] !== 1) result = NaN;
  }
  return result;
};

/** Reduces the list of numbers, bools or times of each row to one number. */
export function reducing(reduce: Reduction): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const { values, offsets, status, stride } = frame.numbers(slot);
      const rows = rowsOf(frame, result);
      // As `listsInSteps`, without a call for each row. Of a list of the request there is one row.
      const some = (from: number): number => {
        const stop = (offsets[from * stride] as number) + READ;
        let to = rows;
        if ((offsets[rows * stride] as number) > stop)
          for (to = from + 1; to < rows && (offsets[to * stride] as number) < stop;) to++;
        for (let row = from; row < to; row++) {
          const at = row * stride;
          result.values[row] = isKnown(status[at])
            ? reduce(values, offsets[at] as number, offsets[at + 1] as number)
            : NaN;
        }
        return to;
      };
      return rowsInSteps(rows, some, () => settle(frame, result, args));
    };
  };
}

/** `count` for lists of texts. */
export const countTexts: BuildKernel = (out, args) => {
  const [slot = -1] = args;
  return (frame) => {
    const result = frame.number(out);
    const list = frame.texts(slot);
    const { values, offsets, stride } = list;
    const count = (row: number): void => {
      const end = offsets[row * stride + 1] as number;
      let count = 0;
      for (let i = offsets[row * stride] as number; i < end; i++) if (values[i] !== '') count++;
      result.values[row] = causeAt(frame, args, row) === Status.present ? count : NaN;
    };
    return listsInSteps(rowsOf(frame, result), list, count, () => settle(frame, result, args));
  };
};
