/** Characters that are no starters, or do not begin with one when they are decomposed. */
const RUN_OF_MARKS = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu;
const GRAPHEME_JOINER = '\u034f';

/**
 * A normal form of Unicode, in a time that grows with the length of the text alone. The marks of a letter are sorted, which
 * takes the square of their number, so a joiner without a shape divides runs of more than 30 marks: the Stream-Safe Text
 * Format of Unicode UAX 15. No language has such runs. All normalization of texts from outside is done here.
 */
export function normalized(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  const safe = text.length > 30 ? text.replaceAll(RUN_OF_MARKS, `$&${GRAPHEME_JOINER}`) : text;
  return safe.normalize(form);
}
