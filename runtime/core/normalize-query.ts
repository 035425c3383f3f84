/**
 * The form in which queries are compared: Unicode NFKC, without accents, in lower case, with one space between words.
 * Punctuation separates words, except within a word: `dvd+r` keeps its sign. A query without a word becomes empty.
 */
export function normalizeQuery(text: string): string {
  // Most queries are plain words already.
  if (/^[a-z0-9]+(?: [a-z0-9]+)*$/.test(text)) return text;
  return (
    text
      .normalize('NFKD')
      .replace(/[\u0300-\u036f]+/g, '')
      .normalize('NFKC')
      // Lower, upper and lower case again are full case folding: Straße and STRASSE, ışık and IŞIK are one text.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .split(/[\s\p{Z}]+/u)
      .flatMap((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}+#]+$/gu, '') || [])
      .join(' ')
  );
}
