import {
  isKnown,
  type Pieces,
  Status,
  statusAt,
  type Analyzer,
  type TextColumn,
  type TextsColumn,
  type TokenLists,
} from 'millrace/api';
import type { QueryNumbers } from './query-numbers.js';
import type { QueryTerms } from './query-terms.js';
import type { TextScan } from './text-scan.js';

/** The texts of the candidates in one field. */
export type SearchedColumn = TextColumn | TextsColumn;

/** What is looked for in texts. */
export interface Sought {
  /** May have no terms, e.g. if the analyzer drops all words of the query. */
  readonly query: QueryTerms;
  readonly analyzer: Analyzer;
}

/** A query, and the tokens of texts that have numbers. */
export interface CodedQuery {
  readonly lists: TokenLists;
  readonly numbers: QueryNumbers;
}

/** How much longer it takes to make a list of a text than to scan it once. */
const READING = 4;

/** The inputs of a step. After the first yield they are copies. */
export interface Texts {
  readonly count: number;
  rows: Int32Array;
  columns: readonly SearchedColumn[];
}

/**
 * Scans the texts of a row.
 * @returns what it cost, in characters to scan; -1: there are more than `most`, and nothing is scanned
 */
export function scanCell(
  scan: TextScan,
  row: number,
  column: SearchedColumn,
  { query, analyzer }: Sought,
  most: number,
): number {
  const cell = row * column.stride;
  if (column.kind === 'text') {
    const text = column.values[cell] ?? '';
    if (text.length > most) return -1;
    scan.scan(row, text, query, analyzer);
    return text.length;
  }
  const length = lengthOf(column, row);
  if (length > most) return -1;
  const end = column.offsets[cell + 1] ?? 0;
  for (let i = column.offsets[cell] ?? 0; i < end; i++) {
    scan.scan(row, column.values[i] ?? '', query, analyzer);
  }
  return length;
}

/** Makes the lists of tokens of a row's texts that have none yet. @returns what it cost, in characters to scan */
export function readLists(row: number, column: SearchedColumn, lists: TokenLists): number {
  const { codes, values } = column;
  const [start, end] = cellsOf(row, column);
  let cost = 1;
  for (let i = start; i < end; i++) {
    const code = codes?.[i] ?? -1;
    if (code < 0 || lists.has(code)) continue;
    cost += READING * (values[i]?.length ?? 0);
    lists.placeOf(code);
  }
  return cost;
}

/**
 * The same for a row whose texts all have lists of tokens.
 * @returns what it cost, in characters to scan; -1: a text has no list, and nothing is scanned
 */
export function scanCoded(
  scan: TextScan,
  row: number,
  column: SearchedColumn,
  query: QueryTerms,
  { lists, numbers }: CodedQuery,
): number {
  const { codes } = column;
  const [start, end] = cellsOf(row, column);
  for (let i = start; i < end; i++) if (!lists.has(codes?.[i] ?? -1)) return -1;
  let cost = 0;
  for (let i = start; i < end; i++) {
    const place = lists.placeOf(codes?.[i] ?? -1);
    scan.scanNumbers(row, lists.numbers, place, query, numbers);
    cost += lists.numbers[place] ?? 0;
  }
  return cost;
}

/** The texts of a row: the first, and the one after the last. */
function cellsOf(row: number, column: SearchedColumn): readonly [start: number, end: number] {
  const cell = row * column.stride;
  return column.kind === 'text'
    ? [cell, cell + 1]
    : [column.offsets[cell] ?? 0, column.offsets[cell + 1] ?? 0];
}

/**
 * The same for long texts.
 * @param columnNow the column, which a pause replaces by its copy
 * @param until see `TextScan.scanInPieces`
 */
export function* scanCellInPieces(
  scan: TextScan,
  row: number,
  columnNow: () => SearchedColumn,
  { query, analyzer }: Sought,
  until: number,
): Pieces<void> {
  const { kind, stride } = columnNow();
  const cell = row * stride;
  if (kind === 'text') {
    yield* scan.scanInPieces(row, columnNow().values[cell] ?? '', query, analyzer, until);
    return;
  }
  const { offsets } = columnNow() as TextsColumn;
  const [start = 0, end = 0] = offsets.subarray(cell, cell + 2);
  for (let i = start; i < end; i++)
    yield* scan.scanInPieces(row, columnNow().values[i] ?? '', query, analyzer, until);
}

/** Shorter texts are scanned again: that costs less than to look for an equal one. */
export const SHORT = 128;

/** Finds rows that have the texts of an earlier one: candidates that refer to one entity share them. */
export class EqualCells {
  readonly #rows = new Map<string, number>();
  #last = -1;

  /** An earlier row with the same texts; undefined if none is known. */
  find(column: SearchedColumn, row: number): number | undefined {
    if (column.kind === 'text') {
      const text = column.values[row * column.stride] ?? '';
      const known = this.#rows.get(text);
      if (known === undefined) this.#rows.set(text, row);
      return known;
    }
    const last = this.#last;
    this.#last = row;
    return last >= 0 && haveEqualLists(column, last, row) ? last : undefined;
  }
}

function haveEqualLists({ values, offsets, stride }: TextsColumn, a: number, b: number): boolean {
  if (stride === 0) return true;
  const start = offsets[b] ?? 0;
  const before = offsets[a] ?? 0;
  const length = (offsets[b + 1] ?? 0) - start;
  if ((offsets[a + 1] ?? 0) - before !== length) return false;
  for (let i = 0; i < length; i++) if (values[before + i] !== values[start + i]) return false;
  return true;
}

export function copyOf(column: SearchedColumn): SearchedColumn {
  const { stride } = column;
  const status = column.status.slice();
  const { kind, dictionary } = column;
  if (kind === 'text') {
    const codes = column.codes?.slice() ?? new Int32Array(0);
    return { kind, stride, status, values: column.values.slice(), codes, dictionary };
  }
  const codes = column.codes?.slice() ?? [];
  const offsets = column.offsets.slice();
  return { kind, stride, status, values: column.values.slice(), offsets, codes, dictionary };
}

/** The length of a row's texts, in characters. */
function lengthOf(column: SearchedColumn, row: number): number {
  const cell = row * column.stride;
  if (column.kind === 'text') return column.values[cell]?.length ?? 0;
  let length = 0;
  const end = column.offsets[cell + 1] ?? 0;
  for (let i = column.offsets[cell] ?? 0; i < end; i++) length += column.values[i]?.length ?? 0;
  return length;
}

/** Present if any of the fields is known, otherwise the status of the first field. */
export function statusOf(columns: readonly SearchedColumn[], row: number): number {
  for (const column of columns) {
    if (isKnown(column.status[row * column.stride])) return Status.present;
  }
  const [first] = columns;
  return first === undefined ? Status.absent : statusAt(first.status, row * first.stride);
}
