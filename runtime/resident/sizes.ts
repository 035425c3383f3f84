/** What values cost in the heap of V8 without pointer compression, in bytes; estimates, rounded up. */

/** A list of texts or of numbers as a row keeps it. */
export type HeldList = readonly string[] | Float64Array;

const STRING_HEADER = 16;
const ARRAY_HEADER = 32;
const TYPED_ARRAY_HEADER = 128;
const WIDE = /[\u0100-\uffff]/;

/** A text has one byte a character, or two if any of them needs it. */
export function sizeOfText(text: string): number {
  if (text === '') return 0; // the empty text is there once
  const bytes = WIDE.test(text) ? 2 * text.length : text.length;
  return STRING_HEADER + 8 * Math.ceil(bytes / 8);
}

export function sizeOfList(list: HeldList): number {
  if (list instanceof Float64Array) return TYPED_ARRAY_HEADER + list.byteLength;
  let bytes = ARRAY_HEADER + 8 * list.length;
  for (const text of list) bytes += sizeOfText(text);
  return bytes;
}
