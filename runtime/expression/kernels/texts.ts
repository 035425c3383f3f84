import { Status } from '../../api/status.js';
import type { BuildKernel } from '../operand.js';
import { causeAt, hideUnknown, rowsOf, settle } from './rows.js';

/** Computes a text from a text. */
export function changing(f: (text: string) => string): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.text(out);
      const x = frame.text(slot);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const cause = causeAt(frame, args, row);
        result.status[row] = cause;
        result.values[row] = cause === Status.present ? f(x.values[row * x.stride] as string) : '';
      }
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
export function measuring(f: (text: string) => number): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(slot);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) result.values[row] = f(x.values[row * x.stride] as string);
      hideUnknown(frame, result, x);
      settle(frame, result, args);
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

/** Computes a number from two texts; NaN is absent. */
export function comparing(f: (a: string, b: string) => number): BuildKernel {
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(a);
      const y = frame.text(b);
      const rows = rowsOf(frame, result);
      for (let row = 0; row < rows; row++) {
        const known = causeAt(frame, args, row) === Status.present;
        const value = known ? f(x.values[row * x.stride] as string, y.values[row * y.stride] as string) : NaN;
        result.values[row] = value;
      }
      settle(frame, result, args);
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
