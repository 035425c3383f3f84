import {
  isKnown,
  type Pieces,
  Status,
  statusAt,
  type Analyzer,
  type TextColumn,
  type TextsColumn,
} from 'millrace/api';
import type { QueryTerms } from './query-terms.js';
import type { TextScan } from './text-scan.js';

/** The texts of the candidates in one field. */
export type SearchedColumn = TextColumn | TextsColumn;

/** The inputs of a step. After the first yield they are copies. */
export interface Texts {
  readonly count: number;
  rows: Int32Array;
  columns: readonly SearchedColumn[];
}

export function scanCell(
  scan: TextScan,
  row: number,
  column: SearchedColumn,
  query: QueryTerms,
  analyzer: Analyzer,
): void {
  const cell = row * column.stride;
  if (column.kind === 'text') {
    scan.scan(row, column.values[cell] ?? '', query, analyzer);
    return;
  }
  const end = column.offsets[cell + 1] ?? 0;
  for (let i = column.offsets[cell] ?? 0; i < end; i++) {
    scan.scan(row, column.values[i] ?? '', query, analyzer);
  }
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
  query: QueryTerms,
  analyzer: Analyzer,
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
const SHORT = 128;

/** Finds rows that have the texts of an earlier one: candidates that refer to one entity share them. */
export class EqualCells {
  readonly #rows = new Map<string, number>();
  #last = -1;

  /** An earlier row with the same texts, of so many characters; undefined if none is known. */
  find(column: SearchedColumn, row: number, length: number): number | undefined {
    if (length <= SHORT) return undefined;
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
  if (column.kind === 'text') return { kind: 'text', stride, status, values: column.values.slice() };
  return { kind: 'texts', stride, status, values: column.values.slice(), offsets: column.offsets.slice() };
}

/** The length of a row's texts, in characters. */
export function lengthOf(column: SearchedColumn, row: number): number {
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
