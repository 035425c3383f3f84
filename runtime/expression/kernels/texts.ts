import { Status } from '../../api/status.js';
import type { Pieces } from '../../core/pieces.js';
import type { Reading } from '../../text/index.js';
import type { BuildKernel } from '../operand.js';
import { causeAt, hideUnknown, rowsOf, settle } from './rows.js';
import { chunkEnd, computeChunks, isLong, readAt, readTexts, textAt, type Known } from './text-rows.js';

/** Computes a text from a text. */
export function changing(reading: Reading<string>): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.text(out);
      const x = frame.text(slot);
      return readTexts(x, rowsOf(frame, result), reading, {
        compute(from, to) {
          for (let row = from; row < to; row++) {
            const cause = causeAt(frame, args, row);
            result.status[row] = cause;
            result.values[row] = cause === Status.present ? reading.of(textAt(x, row)) : '';
          }
        },
        write(row, value) {
          const cause = causeAt(frame, args, row);
          result.status[row] = cause;
          result.values[row] = cause === Status.present ? value : '';
        },
        end: () => undefined,
      });
    };
  };
}

/** Names what a text is; '' means that it is not known, and the result is absent. */
export function namingText(f: (text: string) => string): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.text(out);
      const x = frame.text(slot);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const cause = causeAt(frame, args, row);
        const name = cause === Status.present ? f(x.values[row * x.stride] as string) : '';
        result.values[row] = name;
        result.status[row] = cause === Status.present && name === '' ? Status.absent : cause;
      }
    };
  };
}

/** Computes a number from a text. */
export function measuring(reading: Reading<number>): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(slot);
      return readTexts(x, rowsOf(frame, result), reading, {
        compute(from, to) {
          for (let row = from; row < to; row++) result.values[row] = reading.of(textAt(x, row));
        },
        write(row, value) {
          result.values[row] = value;
        },
        end() {
          hideUnknown(frame, result, x);
          settle(frame, result, args);
        },
      });
    };
  };
}

/** Tests two texts. */
export function relating(f: (text: string, part: string) => boolean): BuildKernel {
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(a);
      const y = frame.text(b);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const isSo = f(x.values[row * x.stride] as string, y.values[row * y.stride] as string);
        result.values[row] = isSo ? 1 : 0;
      }
      hideUnknown(frame, result, x);
      hideUnknown(frame, result, y);
      settle(frame, result, args);
    };
  };
}

/** Computes a number from what is read of two texts; NaN is absent. */
export function comparing<T>(reading: Reading<T>, compare: (a: T, b: T) => number): BuildKernel {
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(a);
      const y = frame.text(b);
      const rows = rowsOf(frame, result);
      const texts = [x, y].filter(({ stride }) => stride !== 0);
      const compute = (from: number, to: number, left?: Known<T>, right?: Known<T>): void => {
        for (let row = from; row < to; row++) {
          const known = causeAt(frame, args, row) === Status.present;
          result.values[row] = known
            ? compare(
                left === undefined ? reading.of(textAt(x, row)) : left.value,
                right === undefined ? reading.of(textAt(y, row)) : right.value,
              )
            : NaN;
        }
      };
      const inPieces = function* (start: number): Pieces<void> {
        // Other requests run meanwhile and change what the reading remembers, so a text of the request is read once here.
        const left = x.stride === 0 ? yield* readAt(x, 0, reading) : undefined;
        const right = y.stride === 0 ? yield* readAt(y, 0, reading) : undefined;
        for (let from = start; from < rows; yield) {
          const to = chunkEnd(texts, from, rows, reading);
          if (to > from) compute(from, to, left, right);
          else
            compute(
              from,
              from + 1,
              left ?? (yield* readAt(x, from, reading)),
              right ?? (yield* readAt(y, from, reading)),
            );
          from = Math.max(to, from + 1);
        }
        settle(frame, result, args);
      };
      const isFixedLong = [x, y].some((text) => text.stride === 0 && isLong(textAt(text, 0), reading));
      const rest = isFixedLong ? 0 : computeChunks(texts, rows, reading, compute);
      if (rest < rows) return inPieces(rest);
      settle(frame, result, args);
      return undefined;
    };
  };
}

/** Computes a text from several texts. */
export function joining(join: (texts: readonly string[]) => string): BuildKernel {
  return (out, args) => {
    const texts: string[] = [];
    return (frame) => {
      const result = frame.text(out);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const cause = causeAt(frame, args, row);
        result.status[row] = cause;
        if (cause === Status.present) {
          for (let i = 0; i < args.length; i++) {
            const { values, stride } = frame.text(args[i] as number);
            texts[i] = values[row * stride] as string;
          }
        }
        result.values[row] = cause === Status.present ? join(texts) : '';
      }
    };
  };
}

/** The number of Unicode characters, not of UTF-16 units. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if (isHigh(text.charCodeAt(i)) && isLow(text.charCodeAt(i + 1))) count--;
  }
  return count;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
