import type { NumberColumn, NumbersColumn, TextsColumn } from '../../../ground/api/columns.js';
import { isKnown } from '../../../ground/api/status.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import type { Frame } from '../../frame/frame.js';
import type { BuildKernel } from '../operand.js';
import { hideEmpty } from './elementwise.js';
import { causeAt, hideUnknown, listsInSteps, mapLists, rowsOf, settle } from './rows.js';

/** `x in (1, 2, 3)`. The set of choices is made when the expression is compiled. */
export function inNumbers(choices: ReadonlySet<number>, isList: boolean): BuildKernel {
  const test = (
    out: Float64Array,
    o: number,
    x: Float64Array,
    i: number,
    stride: number,
    n: number,
  ): void => {
    for (let k = 0; k < n; k++) {
      const value = x[i + k * stride] as number;
      out[o + k] = choices.has(value) ? 1 : value === value ? 0 : NaN;
    }
  };
  return (out, args) => {
    const [slot = -1] = args;
    if (!isList) {
      return (frame) => {
        const result = frame.number(out);
        const x = frame.number(slot);
        test(result.values, 0, x.values, 0, x.stride, rowsOf(frame, result));
        settle(frame, result, args);
      };
    }
    return (frame) => {
      const result = frame.numbers(out);
      const list = frame.numbers(slot);
      return mapLists(frame, result, list, args, (_row, at, start, n) =>
        test(result.values, at, list.values, start, 1, n),
      );
    };
  };
}

/** `x in ("a", "b")`. */
export function inTexts(choices: ReadonlySet<string>, isList: boolean): BuildKernel {
  const test = (
    out: Float64Array,
    o: number,
    x: readonly string[],
    i: number,
    stride: number,
    n: number,
  ): void => {
    for (let k = 0; k < n; k++) out[o + k] = choices.has(x[i + k * stride] as string) ? 1 : 0;
  };
  return (out, args) => {
    const [slot = -1] = args;
    if (!isList) {
      return (frame) => {
        const result = frame.number(out);
        const x = frame.text(slot);
        test(result.values, 0, x.values, 0, x.stride, rowsOf(frame, result));
        hideUnknown(frame, result, x);
        settle(frame, result, args);
      };
    }
    return (frame) => {
      const result = frame.numbers(out);
      const list = frame.texts(slot);
      return mapLists(frame, result, list, args, (_row, at, start, n) => {
        test(result.values, at, list.values, start, 1, n);
        hideEmpty(result.values, at, list.values, start, n);
      });
    };
  };
}

/**
 * `x in (a, b)` with computed choices: true if x equals a choice; otherwise unknown if a choice is unknown; otherwise
 * false.
 */
export const inNumberColumns: BuildKernel = (out, args) => {
  const [slot = -1, ...choices] = args;
  return (frame) => {
    const result = frame.number(out);
    const { values } = result;
    const x = frame.number(slot);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) {
      const value = x.values[row * x.stride] as number;
      values[row] = value === value ? 0 : NaN;
    }
    for (const choice of choices) {
      const c = frame.number(choice);
      for (let row = 0; row < rows; row++) {
        const value = c.values[row * c.stride] as number;
        if (value === x.values[row * x.stride]) values[row] = 1;
        else if (value !== value && values[row] !== 1) values[row] = NaN;
      }
    }
    settle(frame, result, args);
  };
};

export const inTextColumns: BuildKernel = (out, args) => {
  const [slot = -1, ...choices] = args;
  return (frame) => {
    const result = frame.number(out);
    const x = frame.text(slot);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) {
      const at = row * x.stride;
      const isSo = isKnown(x.status[at]);
      result.values[row] = isSo ? textAmong(frame, x.values[at] as string, choices, row) : NaN;
    }
    settle(frame, result, args);
  };
};

function textAmong(frame: Frame, text: string, choices: readonly number[], row: number): number {
  let result = 0;
  for (const choice of choices) {
    const column = frame.text(choice);
    const at = row * column.stride;
    if (!isKnown(column.status[at])) result = NaN;
    else if (column.values[at] === text) return 1;
  }
  return result;
}

/** A list of the request is searched once for all candidates, if a search for each of them costs more. */
function isSearchedOnce(rows: number, list: NumbersColumn | TextsColumn): boolean {
  const length = lengthOf(list);
  return list.stride === 0 && rows * length > 64 * (rows + length);
}

function lengthOf({ offsets }: NumbersColumn | TextsColumn): number {
  return (offsets[1] as number) - (offsets[0] as number);
}

/** The elements that are looked for before other work may run. */
const PORTION = 1 << 13;

/** Which values are in the list of the request. It takes as long as both are, not their product. */
function* search<V>(
  wanted: ReadonlySet<V>,
  list: ArrayLike<V>,
  length: number,
  isUnknown: (element: V) => boolean,
): Pieces<{ readonly found: ReadonlySet<V>; readonly hasUnknown: boolean }> {
  const found = new Set<V>();
  let hasUnknown = false;
  for (let i = 0; i < length && found.size < wanted.size; i++) {
    const element = list[i] as V;
    if (isUnknown(element)) hasUnknown = true;
    else if (wanted.has(element)) found.add(element);
    if (i % PORTION === PORTION - 1) yield;
  }
  return { found, hasUnknown };
}

/** `x in list`. */
export const inNumberList: BuildKernel = (out, args) => {
  const [slot = -1, listSlot = -1] = args;
  return (frame) => {
    const result = frame.number(out);
    const x = frame.number(slot);
    const list = frame.numbers(listSlot);
    const rows = rowsOf(frame, result);
    if (isSearchedOnce(rows, list)) {
      const { values } = x;
      const wanted = new Set<number>();
      for (let row = 0; row < rows; row++) if (values[row] === values[row]) wanted.add(values[row] as number);
      const isUnknown = (element: number): boolean => element !== element;
      return among(frame, result, args, values, search(wanted, list.values, lengthOf(list), isUnknown));
    }
    const work = (row: number): void => {
      const value = x.values[row * x.stride] as number;
      const end = list.offsets[row * list.stride + 1] as number;
      let found = causeAt(frame, args, row) === 0 ? 0 : NaN;
      for (let i = list.offsets[row * list.stride] as number; i < end; i++) {
        const element = list.values[i] as number;
        if (element === value) {
          found = 1;
          break;
        }
        if (element !== element) found = NaN;
      }
      result.values[row] = found;
    };
    return listsInSteps(rows, list, work, () => settle(frame, result, args));
  };
};

export const inTextList: BuildKernel = (out, args) => {
  const [slot = -1, listSlot = -1] = args;
  return (frame) => {
    const result = frame.number(out);
    const x = frame.text(slot);
    const list = frame.texts(listSlot);
    const rows = rowsOf(frame, result);
    if (isSearchedOnce(rows, list)) {
      const wanted = new Set<string>();
      for (let row = 0; row < rows; row++) if (isKnown(x.status[row])) wanted.add(x.values[row] as string);
      const isUnknown = (element: string): boolean => element === '';
      return among(frame, result, args, x.values, search(wanted, list.values, lengthOf(list), isUnknown));
    }
    const work = (row: number): void => {
      const value = x.values[row * x.stride];
      const end = list.offsets[row * list.stride + 1] as number;
      let found = 0;
      for (let i = list.offsets[row * list.stride] as number; i < end; i++) {
        const element = list.values[i];
        if (element === '') found = NaN;
        else if (element === value) {
          found = 1;
          break;
        }
      }
      result.values[row] = causeAt(frame, args, row) === 0 ? found : NaN;
    };
    return listsInSteps(rows, list, work, () => settle(frame, result, args));
  };
};

/** Writes whether the value of each candidate was found. */
function* among<V>(
  frame: Frame,
  result: NumberColumn,
  args: readonly number[],
  values: ArrayLike<V>,
  searching: ReturnType<typeof search<V>>,
): Pieces<void> {
  const { found, hasUnknown } = yield* searching;
  for (let row = 0; row < frame.count; row++) {
    const isFound = found.has(values[row] as V) ? 1 : hasUnknown ? NaN : 0;
    result.values[row] = causeAt(frame, args, row) === 0 ? isFound : NaN;
  }
  settle(frame, result, args);
}
