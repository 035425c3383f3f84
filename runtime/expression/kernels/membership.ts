import { isKnown } from '../../api/status.js';
import type { Frame } from '../../frame/frame.js';
import type { BuildKernel } from '../operand.js';
import { hideEmpty } from './elementwise.js';
import { causeAt, hideUnknown, mapLists, rowsOf, settle } from './rows.js';

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
      mapLists(frame, result, list, args, (_row, at, start, n) =>
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
      mapLists(frame, result, list, args, (_row, at, start, n) => {
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

/** `x in list`. */
export const inNumberList: BuildKernel = (out, args) => {
  const [slot = -1, listSlot = -1] = args;
  return (frame) => {
    const result = frame.number(out);
    const x = frame.number(slot);
    const list = frame.numbers(listSlot);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) {
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
    }
    settle(frame, result, args);
  };
};

export const inTextList: BuildKernel = (out, args) => {
  const [slot = -1, listSlot = -1] = args;
  return (frame) => {
    const result = frame.number(out);
    const x = frame.text(slot);
    const list = frame.texts(listSlot);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) {
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
    }
    settle(frame, result, args);
  };
};
