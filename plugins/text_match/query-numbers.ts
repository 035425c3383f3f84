import type { TokenLists } from 'millrace/api';
import type { QueryTerms } from './query-terms.js';

/** What a token of a text is to a query. */
export interface TokenMatch {
  /** The term that it equals, or -1. */
  term: number;
  /** The two terms whose compound it is. */
  compound: readonly [number, number] | undefined;
  /** See `QueryTerms.advanceSynonyms`. */
  fits: number;
}

/** The same with what it can be together with the token before. */
export interface Match extends TokenMatch {
  /** Terms that it is the second part of, each with the number of the first part. */
  readonly joined: { readonly before: number; readonly term: number }[];
}

/** A query as numbers of tokens, for texts that have lists of them. It finds what `QueryTerms` finds by letters. */
export class QueryNumbers {
  /** An open hash table: 1 + the number of a token, or 0; the matches are in the same slots. */
  readonly #slots: Int32Array;
  readonly #matches: Match[] = [];

  constructor({ terms, compounds, alternatives }: QueryTerms, lists: TokenLists) {
    const found = new Map<number, Match>();
    const change = (token: string, to: (match: Match) => void): void => {
      const number = lists.numberOf(token);
      if (number < 0) return;
      const match = found.get(number) ?? { term: -1, compound: undefined, fits: 0, joined: [] };
      found.set(number, match);
      to(match);
    };
    for (const [term, token] of terms.entries()) {
      change(token, (match) => (match.term = term));
      for (let i = 1; i < token.length; i++) {
        const before = lists.numberOf(token.slice(0, i));
        if (before >= 0) change(token.slice(i), ({ joined }) => joined.push({ before, term }));
      }
    }
    for (const { word, terms: two } of compounds) change(word, (match) => (match.compound = two));
    for (const { words, bit } of alternatives)
      for (const [i, word] of words.entries()) change(word, (match) => (match.fits |= 1 << (bit + i)));
    let size = 16;
    while (size < 4 * found.size) size *= 2;
    this.#slots = new Int32Array(size);
    for (const [number, match] of found) {
      let slot = number & (size - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (size - 1);
      this.#slots[slot] = number + 1;
      this.#matches[slot] = match;
    }
  }

  /** Undefined for a token that is not in the query. */
  find(token: number): Match | undefined {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = token & mask; slots[slot] !== 0; slot = (slot + 1) & mask)
      if (slots[slot] === token + 1) return this.#matches[slot];
    return undefined;
  }
}
