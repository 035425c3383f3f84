import type { Column, ColumnOf } from '../../ground/api/columns.js';
import { copyCell } from './cells.js';
import { copyColumn } from './copy-column.js';

/** Copies rows of a column to the first rows of another one of the same kind. */
export function takeRows(from: Column, rows: Int32Array, to: Column): void {
  if (to.kind === 'text' || to.kind === 'texts') to.dictionary = undefined;
  for (let i = 0; i < rows.length; i++) copyCell(from, rows[i] as number, to, i);
  if (from.kind !== 'text' || to.kind !== 'text') return;
  const codes = codesFor(from, to, rows.length);
  for (let i = 0; i < rows.length && codes !== undefined; i++)
    codes[i] = from.codes?.[rows[i] as number] ?? -1;
}

/**
 * Copies the first rows of a column to rows of another one of the same kind, which keeps its other rows.
 * @param rows ascending
 * @param count the rows of the other column
 */
export function putRows(from: Column, to: Column, rows: Int32Array, count: number): void {
  if ('offsets' in to) {
    // Lists follow one another, so all are written again.
    const before = copyColumn(to, count, (values) => values);
    if (to.kind === 'texts') to.dictionary = undefined;
    for (let row = 0, i = 0; row < count; row++) {
      if (rows[i] === row) copyCell(from, i++, to, row);
      else copyCell(before, row, to, row);
    }
    return;
  }
  for (let i = 0; i < rows.length; i++) copyCell(from, i, to, rows[i] as number);
  if (from.kind !== 'text' || to.kind !== 'text') return;
  const codes = codesFor(from, to, count);
  for (let i = 0; i < rows.length && codes !== undefined; i++)
    codes[rows[i] as number] = from.codes?.[i] ?? -1;
}

/** The codes of a column that gets texts of another one, if it can have the dictionary of that one. */
function codesFor(
  { dictionary }: ColumnOf<'text'>,
  to: ColumnOf<'text'>,
  count: number,
): Int32Array | undefined {
  if (dictionary === undefined || (to.dictionary !== undefined && to.dictionary !== dictionary))
    return undefined;
  if (to.dictionary === undefined) {
    if ((to.codes?.length ?? 0) < count) to.codes = new Int32Array(to.values.length);
    to.codes?.fill(-1, 0, count);
    to.dictionary = dictionary;
  }
  return to.codes;
}
