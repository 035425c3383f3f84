import type { Analyzer, Pieces } from 'millrace/api';
import type { WordIndex } from './word-index.js';

/** A shorter part of a compound says nothing. */
const SHORTEST_PART = 3;
/** Of an end and a beginning that are so long, the beginning need not be known: there is hardly another reading. */
const LONG_PART = 4;
/** What German puts between two parts: Arbeit-s-schuh, Tag-es-decke. */
const LINKS = ['', 's', 'es', 'n', 'en', 'er', 'e'];

/**
 * The compounds of a catalogue, by its own words: a word is a compound of two parts if its end is a word of the catalogue or
 * of the query, and its beginning is a word of the catalogue, begins another compound, or is long. Nothing is kept, so the
 * answers are those of the moment.
 */
export class Compounds {
  constructor(
    private readonly index: WordIndex,
    private readonly analyzer: Analyzer,
  ) {}

  /** The compounds that end with a word: Regenjacke for Jacke. */
  *endingWith(token: string): Pieces<string[]> {
    if (token.length < SHORTEST_PART) return [];
    const found: string[] = [];
    // A list, because the vocabulary may change between two pieces.
    for (const word of [...this.#words(this.index.vocabulary.endingWith(token))]) {
      const start = word.slice(0, word.length - token.length);
      const isLong = token.length >= LONG_PART && start.length >= LONG_PART;
      if (start.length >= SHORTEST_PART && (isLong || this.#begins(start, word))) found.push(word);
      yield;
    }
    return found;
  }

  /** The compounds that begin with a word: Regenjacke for Regen. @param starts forms of the word */
  *startingWith(starts: readonly string[]): Pieces<string[]> {
    const found = new Set<string>();
    for (const start of starts.filter(({ length }) => length >= SHORTEST_PART))
      for (const word of [...this.#words(this.index.vocabulary.startingWith(start))]) {
        const isPart = (link: string): boolean =>
          word.startsWith(link, start.length) && this.#ends(word, start.length + link.length);
        if (LINKS.some(isPart)) found.add(word);
        yield;
      }
    return [...found];
  }

  /** The two words of the catalogue that a word consists of: Regen and Jacke for Regenjacke; more than one pair, if it can be read so. */
  partsOf(token: string): [string, string][] {
    const pairs: [string, string][] = [];
    for (let at = SHORTEST_PART; at <= token.length - SHORTEST_PART; at++) {
      if (!this.#ends(token, at)) continue;
      const first = this.#asWord(token.slice(0, at));
      if (first !== undefined) pairs.push([first, token.slice(at)]);
    }
    return pairs;
  }

  /** Whether the catalogue has a word. */
  has(word: string): boolean {
    const number = this.index.vocabulary.numberOf(word);
    return number >= 0 && this.index.isUsed(number);
  }

  #ends(word: string, at: number): boolean {
    return word.length - at >= SHORTEST_PART && this.has(word.slice(at));
  }

  /** The word of the catalogue that the beginning of a compound is. */
  #asWord(start: string): string | undefined {
    if (this.has(start)) return start;
    const [token, ...more] = this.analyzer.tokens(start);
    return token !== undefined && more.length === 0 && this.has(token) ? token : undefined;
  }

  #begins(start: string, compound: string): boolean {
    if (this.#asWord(start) !== undefined) return true;
    for (const word of this.#words(this.index.vocabulary.startingWith(start)))
      if (word !== compound && this.#ends(word, start.length)) return true;
    return false;
  }

  *#words(numbers: Iterable<number>): Iterable<string> {
    for (const number of numbers)
      if (this.index.isUsed(number)) yield this.index.vocabulary.words[number] ?? '';
  }
}
