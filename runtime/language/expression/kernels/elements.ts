/** Single elements and reductions of vectors and lists. */
import type { NumbersColumn, VectorColumn } from '../../../ground/api/columns.js';
import { isKnown, Status } from '../../../ground/api/status.js';
import { MAX_FLOAT32 } from '../../../ground/core/value-fit.js';
import { widenVectors } from '../../frame/frame.js';
import type { BuildKernel } from '../operand.js';
import type { Reduction } from './lists.js';
import { causeAt, rowsOf, settle } from './rows.js';

/** Element `index` of each vector. The elements of an unknown vector are NaN. */
export function vectorElement(index: number): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const { values, size, stride } = frame.vector(slot);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) result.values[row] = values[row * stride * size + index] as number;
      settle(frame, result, args);
    };
  };
}

/** Element `index` of each list of numbers, bools or times. */
export function numberElement(index: number): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const { values, offsets, stride } = frame.numbers(slot);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const at = (offsets[row * stride] as number) + index;
        result.values[row] = at < (offsets[row * stride + 1] as number) ? (values[at] as number) : NaN;
      }
      settle(frame, result, args);
    };
  };
}

/** Element `index` of each list of texts; '' is an unknown element. */
export function textElement(index: number): BuildKernel {
  return textAt((start, end) => (start + index < end ? start + index : -1));
}

/** The last element of each list of texts. */
export const lastText: BuildKernel = textAt((start, end) => (start < end ? end - 1 : -1));

/** @param find the position of the element among the values, or -1 */
function textAt(find: (start: number, end: number) => number): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.text(out);
      const { values, offsets, stride } = frame.texts(slot);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const cause = causeAt(frame, args, row);
        const at = find(offsets[row * stride] as number, offsets[row * stride + 1] as number);
        const text = cause === Status.present && at >= 0 ? (values[at] as string) : '';
        result.values[row] = text;
        result.status[row] = cause === Status.present && text === '' ? Status.absent : cause;
      }
    };
  };
}

/** The first element; NaN if there is none. */
export const first: Reduction = (values, start, end) => (start < end ? (values[start] as number) : NaN);

/** The last element; NaN if there is none. */
export const last: Reduction = (values, start, end) => (start < end ? (values[end - 1] as number) : NaN);

/** The square root of the sum of squares of the known elements; 0 if there is none. */
export const norm: Reduction = (values, start, end) => {
  let total = 0;
  for (let i = start; i < end; i++) {
    const value = values[i] as number;
    if (value === value) total += value * value;
  }
  return Number.isFinite(total) ? Math.sqrt(total) : NaN;
};

/** Reduces the vector of each row to one number. All elements of a known vector are numbers. */
export function reducingVector(reduce: Reduction): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const { values, size, status, stride } = frame.vector(slot);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const at = row * stride;
        result.values[row] = isKnown(status[at]) ? reduce(values, at * size, (at + 1) * size) : NaN;
      }
      settle(frame, result, args);
    };
  };
}

/**
 * The vectors of lists of numbers. A list that does not have exactly `size` known elements has no vector: the result is
 * absent.
 */
export function listToVector(size: number): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.vector(out);
      const list = frame.numbers(slot);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const cause = causeAt(frame, args, row);
        const isWritten = cause === Status.present && writeVector(result, row, list, size);
        result.status[row] = isWritten ? Status.present : cause || Status.absent;
        if (!isWritten) result.values.fill(NaN, row * size, (row + 1) * size);
      }
    };
  };
}

/**
 * Writes a vector without rounding. False if the list has another length, or an element that is not known or beyond
 * float32.
 */
function writeVector(to: VectorColumn, row: number, list: NumbersColumn, size: number): boolean {
  const start = list.offsets[row * list.stride] as number;
  if ((list.offsets[row * list.stride + 1] as number) - start !== size) return false;
  let { values } = to;
  for (let i = 0; i < size; i++) {
    const element = list.values[start + i] as number;
    if (!(Math.abs(element) <= MAX_FLOAT32)) return false;
    if (values instanceof Float32Array && Math.fround(element) !== element) values = widenVectors(to);
    values[row * size + i] = element;
  }
  return true;
}
