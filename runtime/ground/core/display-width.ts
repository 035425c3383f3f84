/** How text is displayed in a terminal: what a person sees as one character, and how many columns it takes. */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

const WIDE =
  /^(?:\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f)/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** Characters that would move the cursor, colour the terminal or change the text direction. */
const UNSAFE = /\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

const TAB_WIDTH = 4;

export interface Cell {
  readonly text: string;
  /** Columns of the terminal: 0, 1, 2, or the width of a tab. */
  readonly width: number;
  /** Offset in the original text. */
  readonly offset: number;
}

export function cellsOf(text: string): Cell[] {
  return Array.from(graphemes.segment(text), ({ segment, index }) => {
    if (segment === '\t') return { text: ' '.repeat(TAB_WIDTH), width: TAB_WIDTH, offset: index };
    const shown = printable(segment);
    const width = ZERO.test(shown) ? 0 : WIDE.test(shown) ? 2 : 1;
    return { text: shown, width, offset: index };
  });
}

/** Returns the text with every control character and direction mark replaced. */
export function printable(text: string): string {
  return text.replace(UNSAFE, '\ufffd');
}
