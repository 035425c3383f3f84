import type { TextColumn } from '../../../ground/api/columns.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import { PORTION, type Reading } from '../../../ground/text/index.js';

/** How long a kernel works before the rest of its work waits, in milliseconds. An expression may have many kernels. */
const BUDGET_MS = 2;
/** The UTF-16 units between two looks at the clock. */
const CHUNK = 2 * PORTION;

interface Known<T> {
  readonly value: T;
}

/** The long texts that a run of a kernel remembers: those that it met last. */
const REMEMBERED = 256;

/**
 * Reads texts for one run of a kernel, each long one once: a text of the request meets every candidate, and candidates that
 * refer to one entity share its texts. It does not rely on what the reading remembers, since other requests run meanwhile.
 */
export class TextReader<T> {
  readonly reading: Reading<T>;
  readonly #known = new Map<string, Known<T>>();
  /** Candidates next to one another often have the same text, which takes no time to compare. */
  #last: { readonly text: string; readonly known: Known<T> } | undefined;

  constructor(reading: Reading<T>) {
    this.reading = reading;
  }

  readonly of = (text: string): T =>
    text.length <= PORTION
      ? this.reading.of(text)
      : this.#keep(text, this.#knownOf(text) ?? { value: this.reading.of(text) });

  /** Reads the texts of a column that are read at once. Only long ones are remembered. */
  over(texts: TextColumn, rows: number): (text: string) => T {
    // With pieces, no long text is read at once.
    if (this.reading.inPieces === undefined)
      for (let row = 0; row < rows; row++) if (textAt(texts, row).length > PORTION) return this.of;
    return this.reading.of;
  }

  /** The same, in pieces if the text is long. */
  *inPieces(text: string): Pieces<T> {
    const { inPieces } = this.reading;
    if (inPieces === undefined || text.length <= PORTION) return this.of(text);
    return this.#keep(text, this.#knownOf(text) ?? { value: yield* inPieces(text) });
  }

  #knownOf(text: string): Known<T> | undefined {
    return this.#last?.text === text ? this.#last.known : this.#known.get(text);
  }

  /** Keeps a text as the one that was met last. */
  #keep(text: string, known: Known<T>): T {
    if (this.#last?.known === known) return known.value;
    this.#last = { text, known };
    const all = this.#known;
    all.delete(text);
    if (all.size === REMEMBERED) all.delete(all.keys().next().value as string);
    all.set(text, known);
    return known.value;
  }
}

/** What is computed of shorter texts is not remembered: to compute it again costs less. */
const SHORT = 64;

/** What one run of a kernel computed of pairs of texts. Candidates may share both. */
export class Pairs<R extends number | boolean> {
  readonly #known = new Map<string, Map<string, R>>();
  #last: { readonly a: string; readonly b: string; readonly value: R } | undefined;

  get(a: string, b: string): R | undefined {
    if (a.length <= SHORT || b.length <= SHORT) return undefined;
    const last = this.#last;
    // The same text takes no time to compare. One that is only equal does.
    return last !== undefined && last.a === a && last.b === b ? last.value : this.#known.get(a)?.get(b);
  }

  keep(a: string, b: string, value: R): R {
    if (a.length <= SHORT || b.length <= SHORT) return value;
    const known = this.#known;
    const own = known.get(a) ?? new Map<string, R>();
    if (known.size === REMEMBERED) known.clear();
    if (own.size === REMEMBERED) own.clear();
    known.set(a, own.set(b, value));
    this.#last = { a, b, value };
    return value;
  }
}

/** Tells whether texts are equal, in one run of a kernel. Candidates may share two long ones, which are compared once. */
export class Equality {
  /** Made for the first two long texts: most texts are short. */
  #pairs: Pairs<boolean> | undefined;

  of(a: string, b: string): boolean {
    if (a.length !== b.length) return false;
    if (a.length <= SHORT) return a === b;
    const pairs = (this.#pairs ??= new Pairs());
    return pairs.get(a, b) ?? pairs.keep(a, b, a === b);
  }
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
  reader: TextReader<T>,
  work: RowWork<T>,
): Pieces<void> | undefined {
  const rest = computeChunks([texts], rows, reader.reading, work.compute);
  if (rest < rows) return readInPieces(texts, rest, rows, reader, work);
  work.end();
  return undefined;
}

function* readInPieces<T>(
  texts: TextColumn,
  start: number,
  rows: number,
  reader: TextReader<T>,
  { compute, write, end }: RowWork<T>,
): Pieces<void> {
  for (let from = start; from < rows; yield) {
    const to = chunkEnd([texts], from, rows, reader.reading);
    if (to > from) compute(from, to);
    else write(from, yield* reader.inPieces(textAt(texts, from)));
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

/** The rows between two looks at the clock where a row may take some ten microseconds. */
const COSTLY_ROWS = 32;

/** Computes rows of which each may take long, until the time is over. @returns the work that is left */
export function computeCostly(rows: number, compute: (row: number) => void): Pieces<void> | undefined {
  const some = (from: number): number => {
    const until = performance.now() + BUDGET_MS;
    for (let row = from; row < rows; row++) {
      compute(row);
      if (row % COSTLY_ROWS === COSTLY_ROWS - 1 && performance.now() > until) return row + 1;
    }
    return rows;
  };
  const rest = function* (from: number): Pieces<void> {
    for (let row = from; row < rows; yield) row = some(row);
  };
  const next = some(0);
  return next < rows ? rest(next) : undefined;
}

export function isLong(text: string, { inPieces }: Reading<unknown>): boolean {
  return text.length > PORTION && inPieces !== undefined;
}

export function hasLong(texts: TextColumn, rows: number, reading: Reading<unknown>): boolean {
  if (reading.inPieces === undefined) return false;
  for (let row = 0; row < rows; row++) if (textAt(texts, row).length > PORTION) return true;
  return false;
}

export function textAt({ values, stride }: TextColumn, row: number): string {
  return values[row * stride] as string;
}
