import type { TextColumn, TextDictionary } from '../../../ground/api/columns.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { Status } from '../../../ground/api/status.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import { PORTION, type Reading } from '../../../ground/text/index.js';
import type { BuildKernel } from '../operand.js';
import { causeAt, hideUnknown, rowsOf, settle } from './rows.js';
import {
  chunkEnd,
  computeChunks,
  computeCostly,
  hasLong,
  isLong,
  Pairs,
  readTexts,
  textAt,
  TextReader,
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
      const reader = new TextReader(reading);
      return readTexts(x, rowsOf(frame, result), reader, {
        compute(from, to) {
          for (let row = from; row < to; row++) {
            const cause = causeAt(frame, args, row);
            result.status[row] = cause;
            result.values[row] = cause === Status.present ? reader.of(textAt(x, row)) : '';
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
      return computeCostly(rowsOf(frame, result), (row) => {
        const cause = causeAt(frame, args, row);
        const name = cause === Status.present ? f(textAt(x, row)) : '';
        result.values[row] = name;
        result.status[row] = cause === Status.present && name === '' ? Status.absent : cause;
      });
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
      const reader = new TextReader(reading);
      const rows = rowsOf(frame, result);
      const of = reader.over(x, rows);
      return readTexts(x, rows, reader, {
        compute(from, to) {
          for (let row = from; row < to; row++) result.values[row] = of(textAt(x, row));
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

/** A test of two texts. */
export interface Relation {
  readonly of: (text: string, part: string) => boolean;
  /** For a search in the text: the same in pieces. */
  readonly inPieces?: (text: string, part: string) => Pieces<boolean>;
}

/** The most units of texts that a request searches again, for another candidate. Each text may be searched once. */
const MOST_SEARCHED = 1 << 23;

/** Tests two texts. @param name of the function, for the error */
export function relating(name: string, { of, inPieces }: Relation): BuildKernel {
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(a);
      const y = frame.text(b);
      const rows = rowsOf(frame, result);
      const pairs = new Pairs<boolean>();
      const searched = inPieces === undefined ? () => undefined : searchCounter(name);
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
          let isSo = pairs.get(text, part);
          if (isSo === undefined) {
            units += text.length;
            if (inPieces !== undefined && units > TESTED && part.length > PORTION) break;
            searched(text);
            isSo = pairs.keep(text, part, of(text, part));
          }
          result.values[row] = isSo ? 1 : 0;
        }
        return row;
      };
      const rest = function* (from: number): Pieces<void> {
        for (let row = from; row < rows; yield) {
          const next = some(row);
          if (next === row && inPieces !== undefined) {
            const [text, part] = [textAt(x, row), textAt(y, row)];
            searched(text);
            result.values[row] = pairs.keep(text, part, yield* inPieces(text, part)) ? 1 : 0;
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

/** Counts the units of long texts that are searched again. @throws MillraceError invalid_body if they are too many */
function searchCounter(name: string): (text: string) => void {
  const met = new Set<string>();
  let again = 0;
  return (text) => {
    if (text.length <= PORTION) return;
    if (!met.has(text)) met.add(text);
    else if ((again += text.length) > MOST_SEARCHED)
      throw tooLong(
        name,
        `searches at most ${MOST_SEARCHED.toLocaleString('en')} characters of texts that candidates share`,
      );
  };
}

/** How a text of the request compares with the texts of a dictionary, by their codes. Undefined: by what is read of the text. */
export type ComparesCodes = (
  text: string,
  dictionary: TextDictionary,
) => (code: number) => number | undefined;

/**
 * Computes a number from what is read of two texts; NaN is absent.
 * @param ofCodes the same, if the order of the texts does not matter
 */
export function comparing<T>(
  reading: Reading<T>,
  compare: (a: T, b: T) => number,
  ofCodes?: ComparesCodes,
): BuildKernel {
  return (out, args) => {
    const [a = -1, b = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const x = frame.text(a);
      const y = frame.text(b);
      const rows = rowsOf(frame, result);
      const texts = [x, y].filter(({ stride }) => stride !== 0);
      const reader = new TextReader(reading);
      const pairs = new Pairs<number>();
      const compared = (left: string, right: string): number =>
        pairs.get(left, right) ?? pairs.keep(left, right, compare(reader.of(left), reader.of(right)));
      const isFixedLong = [x, y].some((text) => text.stride === 0 && isLong(textAt(text, 0), reading));
      const [fixed, other] = x.stride === 0 ? [x, y] : [y, x];
      const { codes, dictionary } = other;
      const ofCode =
        fixed.stride === 0 && other.stride !== 0 && dictionary !== undefined && !isFixedLong
          ? ofCodes?.(textAt(fixed, 0), dictionary)
          : undefined;
      const compute = (from: number, to: number): void => {
        for (let row = from; row < to; row++) {
          const known = causeAt(frame, args, row) === Status.present;
          const code = ofCode === undefined ? -1 : (codes?.[row] ?? -1);
          const value = known && code >= 0 ? ofCode?.(code) : undefined;
          result.values[row] = value ?? (known ? compared(textAt(x, row), textAt(y, row)) : NaN);
        }
      };
      const inPieces = function* (start: number): Pieces<void> {
        for (let from = start; from < rows; yield) {
          const to = Math.max(chunkEnd(texts, from, rows, reading), from + 1);
          const [left, right] = [textAt(x, from), textAt(y, from)];
          // Only the first row of a chunk can have a long text.
          if (pairs.get(left, right) === undefined) {
            yield* reader.inPieces(left);
            yield* reader.inPieces(right);
          }
          compute(from, to);
          from = to;
        }
        settle(frame, result, args);
      };
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
    const reader = new TextReader(reading);
    const fixed: (string | undefined)[] = args.map(() => undefined);
    let units = 0;
    const join = (row: number, of: (text: string) => string): void => {
      const cause = causeAt(frame, args, row);
      let joined = '';
      for (let i = 0; cause === Status.present && i < columns.length; i++) {
        const column = columns[i] as TextColumn;
        const part = fixed[i] ?? of(textAt(column, row));
        if (column.stride === 0) fixed[i] = part;
        joined += i === 0 ? part : separator + part;
      }
      result.status[row] = cause;
      result.values[row] = joined;
      units += joined.length;
      if (units > MOST_JOINED)
        throw tooLong(name, `joins at most ${MOST_JOINED.toLocaleString('en')} characters`);
    };
    if (rows > JOINED || columns.some((one) => hasLong(one, rows, reading))) return inPieces();
    const isShort = columns.every((one) => reader.over(one, rows) === reading.of);
    for (let row = 0; row < rows; row++) join(row, isShort ? reading.of : reader.of);
    return undefined;

    function* inPieces(): Pieces<void> {
      for (let row = 0; row < rows; row++) {
        for (const [i, column] of columns.entries())
          if (fixed[i] === undefined) yield* reader.inPieces(textAt(column, row));
        join(row, reader.of);
        if (row % JOINED === JOINED - 1) yield;
      }
    }
  };
}

function tooLong(name: string, bound: string): MillraceError {
  return new MillraceError(
    'invalid_body',
    `\`${name}\` ${bound} for one request; send fewer candidates or shorter texts`,
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
