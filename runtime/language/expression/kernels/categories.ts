import { murmur3OfText } from '../../../ground/core/murmur3.js';
import { PORTION } from '../../../ground/text/index.js';
import type { BuildKernel } from '../operand.js';
import { hideUnknown, rowsInSteps, rowsOf, settle } from './rows.js';
import { joining } from './texts.js';

/** The hash of a text, modulo a number of buckets. Neighbours often have the same text. */
export function hashed(buckets: number): BuildKernel {
  return (out, args) => {
    const [slot = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(slot);
      const rows = rowsOf(frame, result);
      /** Hashes rows until there were many characters. @returns the next row */
      const some = (from: number): number => {
        let row = from;
        for (let left = CHUNK; row < rows && left > 0; row++) {
          const text = x.values[row * x.stride] as string;
          const isSame = row > 0 && text === x.values[(row - 1) * x.stride];
          result.values[row] = isSame ? (result.values[row - 1] as number) : murmur3OfText(text) % buckets;
          left -= text.length;
        }
        return row;
      };
      return rowsInSteps(rows, some, () => {
        hideUnknown(frame, result, x);
        settle(frame, result, args);
      });
    };
  };
}

/** Longer texts are escaped unit by unit: a replacement costs much where every unit is replaced. */
const SHORT = 64;
const BAR = 0x7c;
const BACKSLASH = 0x5c;
const units = new Uint16Array(2 * PORTION);

function escaped(text: string): string {
  if (!text.includes('|') && !text.includes('\\')) return text;
  if (text.length <= SHORT) return text.replaceAll(/[|\\]/g, '\\$&');
  let all = '';
  for (let from = 0; from < text.length; from += PORTION) {
    let length = 0;
    for (let at = from; at < text.length && at < from + PORTION; at++) {
      const unit = text.charCodeAt(at);
      if (unit === BAR || unit === BACKSLASH) units[length++] = BACKSLASH;
      units[length++] = unit;
    }
    all += String.fromCharCode(...units.subarray(0, length));
  }
  return all;
}

/** The texts of a row as one category. */
export const crossed = joining('cross', '|', {
  of: escaped,
  *inPieces(text) {
    let all = '';
    for (let from = 0; from < text.length; from += CHUNK) {
      all += escaped(text.slice(from, from + CHUNK));
      yield;
    }
    return all;
  },
});

const CHUNK = 16 * PORTION;

/** The number of limits that are not above x. */
export const bucketOf: BuildKernel = (out, args) => {
  const [slot = -1, ...limits] = args;
  return (frame) => {
    const result = frame.number(out);
    const { values } = result;
    const x = frame.number(slot);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++)
      values[row] = x.values[row * x.stride] === x.values[row * x.stride] ? 0 : NaN;
    for (const one of limits) {
      const limit = frame.number(one);
      for (let row = 0; row < rows; row++) {
        const value = x.values[row * x.stride] as number;
        const least = limit.values[row * limit.stride] as number;
        // An unknown limit makes the result unknown.
        values[row] = (values[row] as number) + (value >= least ? 1 : value < least ? 0 : NaN);
      }
    }
    settle(frame, result, args);
  };
};

/** Linear between the points, constant outside them. Points that do not rise have no result. */
export const piecewiseLinear: BuildKernel = (out, args) => {
  const [slot = -1, ...points] = args;
  return (frame) => {
    const result = frame.number(out);
    const { values } = result;
    const x = frame.number(slot);
    const start = frame.number(points[1] ?? -1);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) {
      const value = x.values[row * x.stride] as number;
      values[row] = value === value ? (start.values[row * start.stride] as number) : NaN;
    }
    for (let i = 0; i + 3 < points.length; i += 2) {
      const left = frame.number(points[i] ?? -1);
      const low = frame.number(points[i + 1] ?? -1);
      const right = frame.number(points[i + 2] ?? -1);
      const high = frame.number(points[i + 3] ?? -1);
      for (let row = 0; row < rows; row++) {
        const from = left.values[row * left.stride] as number;
        const to = right.values[row * right.stride] as number;
        const y = low.values[row * low.stride] as number;
        const end = high.values[row * high.stride] as number;
        const value = x.values[row * x.stride] as number;
        // An unknown point makes the result unknown, wherever x is.
        if (!(to > from) || y !== y || end !== end) values[row] = NaN;
        else if (value > from && values[row] === values[row]) {
          values[row] = value < to ? y + ((value - from) / (to - from)) * (end - y) : end;
        }
      }
    }
    for (let row = 0; row < rows; row++) if (!Number.isFinite(values[row])) values[row] = NaN;
    settle(frame, result, args);
  };
};
