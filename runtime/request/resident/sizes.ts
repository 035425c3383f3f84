/** Estimated heap sizes of values in V8 without pointer compression, in bytes, rounded up. */

const STRING_HEADER = 16;
const TYPED_ARRAY_HEADER = 128;
const WIDE = /[\u0100-\uffff]/;

/** V8 stores one byte for each character, or two if any character needs two. */
export function sizeOfText(text: string): number {
  if (text === '') return 0; // all empty texts share one string
  const bytes = WIDE.test(text) ? 2 * text.length : text.length;
  return STRING_HEADER + 8 * Math.ceil(bytes / 8);
}

/** Empty lists share one array. */
export function sizeOfNumbers({ byteLength }: Float64Array): number {
  return byteLength === 0 ? 0 : TYPED_ARRAY_HEADER + byteLength;
}
