import type { TextColumn } from '../../../ground/api/columns.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import { PORTION, type Reading } from '../../../ground/text/index.js';

/** How long a kernel works before the rest of its work waits, in milliseconds. An expression may have many kernels. */
const BUDGET_MS = 2;
/** The UTF-16 units between two looks at the clock. */
const CHUNK = 2 * PORTION;

/** What is read of a text that is known. */
export interface Known<T> {
  readonly value: T;
}

interface RowWork<T> {
  /** Computes rows whose texts are not long. */
  readonly compute: (from: number, to: number) => void;
  /** Takes what was read of a long text. */
  readonly write: (row: number, value: T) => void;
  /** Called after the last row. */
  readonly end: () => void;
}

/** Reads the text of each row. Long texts, and what takes long, are read in pieces. */
export function readTexts<T>(
  texts: TextColumn,
  rows: number,
  reading: Reading<T>,
  work: RowWork<T>,
): Pieces<void> | undefined {
  const rest = computeChunks([texts], rows, reading, work.compute);
  if (rest < rows) return readInPieces(texts, rest, rows, reading, work);
  work.end();
  return undefined;
}

function* readInPieces<T>(
  texts: TextColumn,
  start: number,
  rows: number,
  reading: Reading<T>,
  { compute, write, end }: RowWork<T>,
): Pieces<void> {
  for (let from = start; from < rows; yield) {
    const to = chunkEnd([texts], from, rows, reading);
    if (to > from) compute(from, to);
    else write(from, (yield* readAt(texts, from, reading)).value);
    from = Math.max(to, from + 1);
  }
  end();
}

/** Computes rows up to a long text, or until the time is over. @returns the first row that is left */
export function computeChunks(
  texts: readonly TextColumn[],
  rows: number,
  reading: Reading<unknown>,
  compute: (from: number, to: number) => void,
): number {
  let until = Infinity;
  for (let from = 0; from < rows;) {
    const to = chunkEnd(texts, from, rows, reading);
    if (to === from) return from;
    compute(from, to);
    from = to;
    if (from === rows) break;
    const now = performance.now();
    if (now > until) return from;
    if (until === Infinity) until = now + BUDGET_MS;
  }
  return rows;
}

/** The row after a chunk: that which a long text is in, or before which there are enough characters. */
export function chunkEnd(
  texts: readonly TextColumn[],
  from: number,
  rows: number,
  { inPieces }: Reading<unknown>,
): number {
  const longest = inPieces === undefined ? Infinity : PORTION;
  const [x, y] = texts;
  if (x === undefined) return rows;
  let units = 0;
  for (let row = from; row < rows; row++) {
    const left = textAt(x, row).length;
    const right = y === undefined ? 0 : textAt(y, row).length;
    if (left > longest || right > longest) return row;
    units += left + right;
    if (units >= CHUNK) return row + 1;
  }
  return rows;
}

export function* readAt<T>(texts: TextColumn, row: number, { of, inPieces }: Reading<T>): Pieces<Known<T>> {
  const text = textAt(texts, row);
  return { value: inPieces !== undefined && text.length > PORTION ? yield* inPieces(text) : of(text) };
}

export function isLong(text: string, { inPieces }: Reading<unknown>): boolean {
  return text.length > PORTION && inPieces !== undefined;
}

/**
 * Computes rows in steps of limited work.
 * @param some computes rows from one on; returns the first row that is left
 * @param end called after the last row
 */
export function rowsInSteps(
  rows: number,
  some: (from: number) => number,
  end: () => void,
): Pieces<void> | undefined {
  const next = some(0);
  if (next < rows) return rest(next);
  end();
  return undefined;

  function* rest(from: number): Pieces<void> {
    for (let row = from; row < rows; yield) row = some(row);
    end();
  }
}

export function hasLong(texts: TextColumn, rows: number, reading: Reading<unknown>): boolean {
  if (reading.inPieces === undefined) return false;
  for (let row = 0; row < rows; row++) if (textAt(texts, row).length > PORTION) return true;
  return false;
}

export function textAt({ values, stride }: TextColumn, row: number): string {
  return values[row * stride] as string;
}
