import type { Analyzer, Synonyms, Token } from 'millrace/api';

/** The maximum number of tokens of a query, and the characters in which they stand; the rest is ignored. */
export const MOST_QUERY_TOKENS = 32;
const LONGEST_QUERY = 2048;
/** The maximum number of tokens of all synonyms of a query; further synonyms are ignored. */
const MOST_SYNONYM_TOKENS = 31;

/** Other words for words of the query, in sequence. `bit` is the place of the first of them in `SynonymRun`. */
interface Alternative {
  readonly words: readonly string[];
  readonly units: readonly Uint16Array[];
  readonly bit: number;
  /** The terms of the query that it stands for. */
  readonly terms: readonly number[];
}

/** The word that two neighbouring tokens of the query make, with the terms of both. */
interface Compound {
  readonly word: string;
  readonly units: Uint16Array;
  readonly terms: readonly [number, number];
}

/**
 * The terms of a query: its distinct tokens, and the compounds of every two neighbouring tokens (head set, headset).
 * They are found in texts without allocating strings.
 */
export class QueryTerms {
  /** Distinct tokens, in order of first appearance. */
  readonly terms: readonly string[];
  /** How often each term occurs in the query. */
  readonly repeats: readonly number[];
  /** The number of tokens of the query, including repeated ones. */
  readonly length: number;
  /** By term: its places in the query, with bit i for the i-th token. */
  readonly places: readonly number[];
  readonly #units: Uint16Array[];
  /** Compounds of two neighbouring tokens: their units, and their two terms. */
  readonly compounds: readonly Compound[];
  /**
   * Bit u & 31 is set if a term or compound starts with unit u. Most tokens can be skipped with this test, see
   * `Analyzer.next`.
   */
  readonly starts: number;
  readonly hasSynonyms: boolean;
  readonly alternatives: readonly Alternative[];
  /** The bits of the first words of the alternatives. */
  readonly #firstWords: number;

  constructor(text: string, analyzer: Analyzer, synonyms?: Synonyms) {
    const query = text.slice(0, LONGEST_QUERY);
    const tokens = analyzer.tokens(query).slice(0, MOST_QUERY_TOKENS);
    const words = joinableWords(query, analyzer, tokens);
    const numbers = new Map<string, number>();
    const repeats: number[] = [];
    const places: number[] = [];
    const sequence = tokens.map((token, place) => {
      const term = numbers.get(token) ?? numbers.size;
      numbers.set(token, term);
      repeats[term] = (repeats[term] ?? 0) + 1;
      places[term] = (places[term] ?? 0) | (1 << place);
      return term;
    });
    this.length = tokens.length;
    this.terms = [...numbers.keys()];
    this.repeats = repeats;
    this.places = places;
    this.#units = this.terms.map(unitsOf);
    const seen = new Set(this.terms);
    this.compounds = tokens.slice(1).flatMap((token, i) => {
      const word =
        words === undefined
          ? (tokens[i] ?? '') + token
          : analyzer.compound(words[i] ?? '', words[i + 1] ?? '');
      if (word === undefined || seen.has(word)) return [];
      seen.add(word);
      return [{ word, units: unitsOf(word), terms: [sequence[i] ?? 0, sequence[i + 1] ?? 0] as const }];
    });
    this.alternatives = alternativesOf(tokens, sequence, synonyms);
    this.#firstWords = this.alternatives.reduce((bits, { bit }) => bits | (1 << bit), 0);
    const sought = [
      ...this.#units,
      ...this.compounds.map((compound) => compound.units),
      ...this.alternatives.flatMap(({ units }) => units),
    ];
    this.hasSynonyms = this.alternatives.length > 0;
    this.starts = sought.reduce((bits, units) => bits | (1 << ((units[0] ?? 0) & 31)), 0);
  }

  /**
   * One step of shift-and over the words of all synonyms: bit i is set while the last tokens of the text are the words of
   * an alternative up to its i-th.
   * @param fits what `fitsOf` gives for the token
   */
  advanceSynonyms(run: number, fits: number): number {
    return ((run << 1) | this.#firstWords) & fits;
  }

  /** The words of synonyms that equal the token, by their bits. */
  fitsOf(token: Token): number {
    let fits = 0;
    for (const { units, bit } of this.alternatives) {
      for (let i = 0; i < units.length; i++) {
        const word = units[i];
        if (word !== undefined && word.length === token.length && startsWith(token, word, 0))
          fits |= 1 << (bit + i);
      }
    }
    return fits;
  }

  /** Calls `found` for each term of each alternative that ends at the last token. */
  endedSynonyms(run: number, found: (term: number) => void): void {
    for (const { units, bit, terms } of this.alternatives) {
      if ((run & (1 << (bit + units.length - 1))) !== 0) for (const term of terms) found(term);
    }
  }

  /** The number of the term that equals the token, or -1. */
  find(token: Token): number {
    for (let term = 0; term < this.#units.length; term++) {
      const units = this.#units[term];
      if (units !== undefined && units.length === token.length && startsWith(token, units, 0)) return term;
    }
    return -1;
  }

  /** The number of the term that equals two neighbouring tokens written as one, or -1. */
  findJoined(first: Token, second: Token): number {
    const length = first.length + second.length;
    for (let term = 0; term < this.#units.length; term++) {
      const units = this.#units[term];
      if (units?.length !== length) continue;
      if (startsWith(first, units, 0) && startsWith(second, units, first.length)) return term;
    }
    return -1;
  }

  /** The two terms whose compound equals the token; undefined if there is none. */
  findCompound(token: Token): readonly [number, number] | undefined {
    for (const compound of this.compounds) {
      if (compound.units.length === token.length && startsWith(token, compound.units, 0))
        return compound.terms;
    }
    return undefined;
  }
}

/**
 * The words of a query before stemming, by token; undefined if tokens can be joined as they are. The stem of a compound
 * is not always the stems of its parts.
 */
function joinableWords(query: string, analyzer: Analyzer, tokens: readonly string[]): string[] | undefined {
  if (analyzer.settings.stemming !== 'language' || analyzer.settings.ngrams > 0) return undefined;
  const words = analyzer.words(query).slice(0, tokens.length);
  return words.every(({ token }, i) => token === tokens[i]) ? words.map(({ word }) => word) : undefined;
}

function alternativesOf(
  tokens: readonly string[],
  sequence: readonly number[],
  synonyms: Synonyms | undefined,
): Alternative[] {
  const alternatives: Alternative[] = [];
  let bit = 0;
  for (const { start, length, words } of synonyms?.of(tokens) ?? []) {
    if (bit + words.length > MOST_SYNONYM_TOKENS) break;
    const terms = [...new Set(sequence.slice(start, start + length))];
    alternatives.push({ words, units: words.map(unitsOf), bit, terms });
    bit += words.length;
  }
  return alternatives;
}

/** Whether the token's units are in `units` at `from`. */
function startsWith(token: Token, units: Uint16Array, from: number): boolean {
  for (let i = 0; i < token.length; i++) if (token.units[i] !== units[from + i]) return false;
  return true;
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  return units;
}
