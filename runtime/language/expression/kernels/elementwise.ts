import { MillraceError } from '../../../ground/api/errors.js';
import { rowsOf, hideUnknown, mapLists, settle } from './rows.js';
import type { BuildKernel } from '../operand.js';
import { type BinaryLoop, countFar, type NumberLoop, remainder, type UnaryLoop } from './number-loops.js';

/** Which of two arguments is a list. The other argument is one value that is combined with each element. */
export type ListSide = 'none' | 'left' | 'right';

/** Compares n texts of one list or column with n texts of another. */
export type TextLoop = BinaryLoop<readonly string[]>;

export const sameText: TextLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) out[o + k] = a[ai + k * sa] === b[bi + k * sb] ? 1 : 0;
};

export const otherText: TextLoop = (out, o, a, ai, sa, b, bi, sb, n) => {
  for (let k = 0; k < n; k++) out[o + k] = a[ai + k * sa] === b[bi + k * sb] ? 0 : 1;
};

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

/** An operator on two texts, or on each text of a list and a text. */
export function onTexts(loop: TextLoop, side: ListSide): BuildKernel {
  if (side !== 'none') return onTextList(loop, side);
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(a);
      const y = frame.text(b);
      loop(result.values, 0, x.values, 0, x.stride, y.values, 0, y.stride, rowsOf(frame, result));
      hideUnknown(frame, result, x);
      hideUnknown(frame, result, y);
      settle(frame, result, args);
    };
  };
}

function onTextList(loop: TextLoop, side: 'left' | 'right'): BuildKernel {
  return (out, args) => {
    const [listSlot, oneSlot] = side === 'left' ? args : [args[1], args[0]];
    return (frame) => {
      const result = frame.numbers(out);
      const list = frame.texts(listSlot ?? -1);
      const one = frame.text(oneSlot ?? -1);
      return mapLists(frame, result, list, args, (row, at, start, n) => {
        loop(result.values, at, list.values, start, 1, one.values, row * one.stride, 0, n);
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
