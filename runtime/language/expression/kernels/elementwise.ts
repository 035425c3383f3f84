import { MillraceError } from '../../../ground/api/errors.js';
import { rowsOf, hideUnknown, mapLists, settle } from './rows.js';
import { Equality, textAt } from './text-rows.js';
import type { BuildKernel } from '../operand.js';
import { countFar, type NumberLoop, remainder, type UnaryLoop } from './number-loops.js';

/** Which of two arguments is a list. The other argument is one value that is combined with each element. */
export type ListSide = 'none' | 'left' | 'right';

/** An operator on two numbers, or on each number of a list and a number. */
export function onNumbers(loop: NumberLoop, side: ListSide): BuildKernel {
  if (side !== 'none') return onNumberList(loop, side);
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.number(a);
      const y = frame.number(b);
      loop(result.values, 0, x.values, 0, x.stride, y.values, 0, y.stride, rowsOf(frame, result));
      settle(frame, result, args);
    };
  };
}

/** The most elements of lists whose remainder takes long, in one kernel of a request. */
const MOST_FAR = 1 << 15;

function onNumberList(loop: NumberLoop, side: 'left' | 'right'): BuildKernel {
  return (out, args) => {
    const [listSlot, oneSlot] = side === 'left' ? args : [args[1], args[0]];
    return (frame) => {
      const result = frame.numbers(out);
      const list = frame.numbers(listSlot ?? -1);
      const one = frame.number(oneSlot ?? -1);
      let far = 0;
      return mapLists(frame, result, list, args, (row, at, start, n) => {
        const i = row * one.stride;
        if (loop === remainder)
          far +=
            side === 'left'
              ? countFar(list.values, start, 1, one.values, i, 0, n)
              : countFar(one.values, i, 0, list.values, start, 1, n);
        if (far > MOST_FAR)
          throw new MillraceError(
            'invalid_body',
            `\`%\` divides at most ${MOST_FAR.toLocaleString('en')} numbers of lists by numbers more than 2^64 times smaller, for one request; send fewer candidates or shorter lists`,
          );
        if (side === 'left') loop(result.values, at, list.values, start, 1, one.values, i, 0, n);
        else loop(result.values, at, one.values, i, 0, list.values, start, 1, n);
      });
    };
  };
}

/** To find a text in a dictionary costs as much as so many comparisons. */
const LOOK_UP = 4;

/** Whether two texts are equal, or each text of a list and a text; or whether they differ. */
export function onTexts(isEqual: boolean, side: ListSide): BuildKernel {
  if (side !== 'none') return onTextList(isEqual, side);
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(a);
      const y = frame.text(b);
      const equality = new Equality();
      const [one, all] = x.stride === 0 ? [x, y] : [y, x];
      const { codes, dictionary } = all;
      const rows = rowsOf(frame, result);
      const isFound = one.stride === 0 && rows > LOOK_UP;
      const code = isFound ? dictionary?.find(one.values[0] ?? '') : undefined;
      for (let row = 0; row < rows; row++) {
        const own = code === undefined ? -1 : (codes?.[row * all.stride] ?? -1);
        const same = own < 0 ? equality.of(textAt(x, row), textAt(y, row)) : own === code;
        result.values[row] = same === isEqual ? 1 : 0;
      }
      hideUnknown(frame, result, x);
      hideUnknown(frame, result, y);
      settle(frame, result, args);
    };
  };
}

function onTextList(isEqual: boolean, side: 'left' | 'right'): BuildKernel {
  return (out, args) => {
    const [listSlot, oneSlot] = side === 'left' ? args : [args[1], args[0]];
    return (frame) => {
      const result = frame.numbers(out);
      const list = frame.texts(listSlot ?? -1);
      const one = frame.text(oneSlot ?? -1);
      const equality = new Equality();
      return mapLists(frame, result, list, args, (row, at, start, n) => {
        const text = textAt(one, row);
        for (let k = 0; k < n; k++)
          result.values[at + k] = equality.of(list.values[start + k] as string, text) === isEqual ? 1 : 0;
        hideEmpty(result.values, at, list.values, start, n);
      });
    };
  };
}

/** '' in a list means an unknown element. */
export function hideEmpty(
  out: Float64Array,
  at: number,
  texts: readonly string[],
  start: number,
  n: number,
): void {
  for (let k = 0; k < n; k++) if (texts[start + k] === '') out[at + k] = NaN;
}

/** A function of a number, or of each number of a list. */
export function onNumber(loop: UnaryLoop<Float64Array>, isList: boolean): BuildKernel {
  return (out, args) => {
    const [a = -1] = args;
    if (isList) {
      return (frame) => {
        const result = frame.numbers(out);
        const list = frame.numbers(a);
        return mapLists(frame, result, list, args, (_row, at, start, n) =>
          loop(result.values, at, list.values, start, 1, n),
        );
      };
    }
    return (frame) => {
      const result = frame.number(out);
      const x = frame.number(a);
      loop(result.values, 0, x.values, 0, x.stride, rowsOf(frame, result));
      settle(frame, result, args);
    };
  };
}
