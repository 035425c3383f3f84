/** Estimated heap sizes of values in V8 without pointer compression, in bytes, rounded up. */

/** A list of codes of texts or of numbers, as a row holds it. */
export type HeldList = readonly number[] | Float64Array;

const STRING_HEADER = 16;
const ARRAY_HEADER = 32;
const TYPED_ARRAY_HEADER = 128;
const WIDE = /[\u0100-\uffff]/;

/** V8 stores one byte for each character, or two if any character needs two. */
export function sizeOfText(text: string): number {
  if (text === '') return 0; // all empty texts share one string
  const bytes = WIDE.test(text) ? 2 * text.length : text.length;
  return STRING_HEADER + 8 * Math.ceil(bytes / 8);
}

export function sizeOfList(list: HeldList): number {
  if (list instanceof Float64Array) return TYPED_ARRAY_HEADER + list.byteLength;
  return list.length === 0 ? 0 : ARRAY_HEADER + 8 * list.length; // empty lists share one array
}
