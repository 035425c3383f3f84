import { normalized } from './unicode-form.js';

/** The characters of a query that are compared. An id is shorter. */
export const LONGEST_QUERY = 2048;

/**
 * The form in which queries are compared: Unicode NFKC, without accents, in lower case, with one space between words.
 * Punctuation separates words, except within a word: `dvd+r` keeps its sign. A query without a word becomes empty.
 */
export function normalizeQuery(query: string): string {
  const text = query.length > LONGEST_QUERY ? query.slice(0, LONGEST_QUERY) : query;
  // Most queries are plain words already.
  if (/^[a-z0-9]+(?: [a-z0-9]+)*$/.test(text)) return text;
  return (
    normalized(normalized(text, 'NFKD').replace(/[\u0300-\u036f]+/g, ''), 'NFKC')
      // Lower, upper and lower case again are full case folding: Straße and STRASSE, ışık and IŞIK are one text.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .split(/[\s\p{Z}]+/u)
      .flatMap((word) => /[\p{L}\p{N}](?:.*[\p{L}\p{N}+#])?/su.exec(word)?.[0] ?? [])
      .join(' ')
  );
}
