import type { Column } from '../../runtime/ground/api/columns.js';
import { TextCodes } from '../../runtime/request/resident/text-codes.js';

/** Gives a column of texts codes, as resident tables do. @param isCoded the values that get one; by default all */
export function giveCodes(
  column: Column,
  dictionary = new TextCodes({ left: 1e7 }),
  isCoded: (at: number) => boolean = () => true,
): void {
  if (column.kind !== 'text' && column.kind !== 'texts') return;
  const codes = column.values.map((text, at) => (text !== '' && isCoded(at) ? dictionary.retain(text) : -1));
  if (column.kind === 'text') column.codes = Int32Array.from(codes);
  else column.codes = codes;
  column.dictionary = dictionary;
}
