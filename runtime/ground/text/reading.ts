import type { Pieces } from '../core/pieces.js';

/** The UTF-16 units that are read before other work may run: at most some milliseconds, for a dictionary of ICU. */
export const PORTION = 1024;

/** Where a text can be cut without cutting a word or an amount. An apostrophe is not such a place, nor the space of 500 ml. */
const CUT = /(?<!\p{N})[\s.,;:!?()\u3001\u3002\uff01\uff0c\uff1f]|\s(?=[\p{N}\s])|[.,;:!?](?=\s)/gu;
const SURROGATE_END = /[\udc00-\udfff]/;

/** What is made of a text: at once, or of a text longer than a portion in pieces. Both give the same. */
export interface Reading<T> {
  readonly of: (text: string) => T;
  readonly inPieces?: (text: string) => Pieces<T>;
}

/**
 * Divides a text before spaces and punctuation, so that the words of the parts are those of the text. Only if there are none
 * for a whole portion, a word may be cut.
 */
export function* portions(text: string, size = PORTION): Generator<string, void> {
  let start = 0;
  while (text.length - start > size) {
    // One character more on each side, for what the expression looks at.
    const near = text.slice(start + size - 1, start + 2 * size + 1);
    CUT.lastIndex = 1;
    const cut = CUT.exec(near)?.index;
    if (cut === undefined && text.length - start <= 2 * size) break;
    let end = cut === undefined ? start + 2 * size : start + size - 1 + cut;
    if (cut === undefined && SURROGATE_END.test(text.charAt(end))) end--;
    yield text.slice(start, end);
    start = end;
  }
  if (start < text.length || text === '') yield text.slice(start);
}

/** Reads a text portion by portion. @param add returns the result so far, with a portion */
export function byPortions<T>(none: () => T, add: (result: T, portion: string) => T): Reading<T> {
  return {
    of: (text) => add(none(), text),
    *inPieces(text) {
      let result = none();
      for (const portion of portions(text)) {
        result = add(result, portion);
        yield;
      }
      return result;
    },
  };
}
