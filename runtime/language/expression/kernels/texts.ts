import type { TextColumn } from '../../../ground/api/columns.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { Status } from '../../../ground/api/status.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import { PORTION, type Reading } from '../../../ground/text/index.js';
import type { BuildKernel } from '../operand.js';
import { causeAt, hideUnknown, rowsOf, settle } from './rows.js';
import {
  chunkEnd,
  computeChunks,
  hasLong,
  isLong,
  readAt,
  readTexts,
  textAt,
  type Known,
} from './text-rows.js';

/** The units of texts that are tested for parts before other work may run. */
const TESTED = 1 << 16;

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

/** A test of two texts: at once, or of long texts in pieces. Both give the same. */
export interface Relation {
  readonly of: (text: string, part: string) => boolean;
  readonly inPieces?: (text: string, part: string) => Pieces<boolean>;
}

/** Tests two texts. */
export function relating({ of, inPieces }: Relation): BuildKernel {
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(a);
      const y = frame.text(b);
      const rows = rowsOf(frame, result);
      const end = (): void => {
        hideUnknown(frame, result, x);
        hideUnknown(frame, result, y);
        settle(frame, result, args);
      };
      /** Tests rows up to a text that is read in pieces, or as many as fit into one piece. @returns the next row */
      const some = (from: number): number => {
        let row = from;
        for (let units = 0; row < rows && units < TESTED; row++) {
          const [text, part] = [textAt(x, row), textAt(y, row)];
          units += text.length;
          if (inPieces !== undefined && units > TESTED && part.length > PORTION) break;
          result.values[row] = of(text, part) ? 1 : 0;
        }
        return row;
      };
      const rest = function* (from: number): Pieces<void> {
        for (let row = from; row < rows; yield) {
          const next = some(row);
          if (next === row && inPieces !== undefined) {
            result.values[row] = (yield* inPieces(textAt(x, row), textAt(y, row))) ? 1 : 0;
            row++;
          } else row = next;
        }
        end();
      };
      const next = some(0);
      if (next < rows) return rest(next);
      end();
      return undefined;
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

/** The most characters that one kernel joins for a request: every candidate may repeat a long text of the request. */
const MOST_JOINED = 1 << 25;
/** The rows that are joined before other work may run. */
const JOINED = 1024;

/**
 * Joins the texts of each row.
 * @param name of the function, for the error
 * @param reading what is made of each text before; a text of the request is read once
 */
export function joining(name: string, separator: string, reading: Reading<string>): BuildKernel {
  return (out, args) => (frame) => {
    const result = frame.text(out);
    const rows = rowsOf(frame, result);
    const columns = args.map((slot) => frame.text(slot));
    const fixed: (string | undefined)[] = args.map(() => undefined);
    let units = 0;
    const join = (row: number, parts: readonly (string | undefined)[]): void => {
      const cause = causeAt(frame, args, row);
      let joined = '';
      for (let i = 0; cause === Status.present && i < columns.length; i++) {
        const column = columns[i] as TextColumn;
        let part = parts[i];
        if (part === undefined) {
          part = reading.of(textAt(column, row));
          if (column.stride === 0) fixed[i] = part;
        }
        joined += i === 0 ? part : separator + part;
      }
      result.status[row] = cause;
      result.values[row] = joined;
      units += joined.length;
      if (units > MOST_JOINED) throw tooLong(name);
    };
    if (rows > JOINED || columns.some((one) => hasLong(one, rows, reading))) return inPieces();
    for (let row = 0; row < rows; row++) join(row, fixed);
    return undefined;

    function* inPieces(): Pieces<void> {
      for (let row = 0; row < rows; row++) {
        const parts = [...fixed];
        for (const [i, column] of columns.entries())
          if (parts[i] === undefined && isLong(textAt(column, row), reading)) {
            parts[i] = (yield* readAt(column, row, reading)).value;
            if (column.stride === 0) fixed[i] = parts[i];
          }
        join(row, parts);
        if (row % JOINED === JOINED - 1) yield;
      }
    }
  };
}

function tooLong(name: string): MillraceError {
  const most = MOST_JOINED.toLocaleString('en');
  return new MillraceError(
    'invalid_body',
    `\`${name}\` joins at most ${most} characters for one request; send fewer candidates or shorter texts`,
  );
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
