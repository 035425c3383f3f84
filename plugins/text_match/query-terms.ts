import type { Analyzer, Token } from './analyzer.js';

/** Tokens of a query that count; the rest of a longer one is left out. */
export const MOST_QUERY_TOKENS = 32;

/**
 * What a query looks for: its distinct tokens as terms, and for every two neighbours the word that they make when
 * written as one (head set, headset). Terms and words are found in texts without making strings.
 */
export class QueryTerms {
  /** Distinct tokens, in order of first appearance. */
  readonly terms: readonly string[];
  /** How often each term occurs in the query. */
  readonly repeats: readonly number[];
  /** Tokens of the query, repeated ones included. */
  readonly length: number;
  /** For each term, the places in the query where it stands: bit i for the i-th token. */
  readonly places: readonly number[];
  readonly #units: Uint16Array[];
  /** Words of two neighbouring tokens: their units, and the terms that they stand for. */
  readonly #compounds: readonly { readonly units: Uint16Array; readonly terms: readonly [number, number] }[];
  /** Bit u & 31 is set where a term or compound starts with unit u: most tokens end their search here. */
  #starts = 0;

  constructor(query: string, analyzer: Analyzer) {
    const tokens = analyzer.tokens(query).slice(0, MOST_QUERY_TOKENS);
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
    this.#compounds = tokens.slice(1).flatMap((token, i) => {
      const word = (tokens[i] ?? '') + token;
      if (seen.has(word)) return [];
      seen.add(word);
      return [{ units: unitsOf(word), terms: [sequence[i] ?? 0, sequence[i + 1] ?? 0] as const }];
    });
    for (const units of [...this.#units, ...this.#compounds.map((compound) => compound.units)]) {
      this.#starts |= 1 << ((units[0] ?? 0) & 31);
    }
  }

  /** Whether a token that starts with this unit can be found at all. */
  mayStart(unit: number): boolean {
    return (this.#starts & (1 << (unit & 31))) !== 0;
  }

  /** The number of the term that the token is, or -1. */
  find(token: Token): number {
    for (let term = 0; term < this.#units.length; term++) {
      const units = this.#units[term];
      if (units !== undefined && units.length === token.length && startsWith(token, units, 0)) return term;
    }
    return -1;
  }

  /** The number of the term that two neighbouring tokens make when written as one, or -1. */
  findJoined(first: Token, second: Token): number {
    const length = first.length + second.length;
    for (let term = 0; term < this.#units.length; term++) {
      const units = this.#units[term];
      if (units?.length !== length) continue;
      if (startsWith(first, units, 0) && startsWith(second, units, first.length)) return term;
    }
    return -1;
  }

  /** The two terms that the token is when they are written as one; undefined if it is none such. */
  findCompound(token: Token): readonly [number, number] | undefined {
    for (const compound of this.#compounds) {
      if (compound.units.length === token.length && startsWith(token, compound.units, 0))
        return compound.terms;
    }
    return undefined;
  }
}

/** Whether `units` from `from` on has the token's units. */
function startsWith(token: Token, units: Uint16Array, from: number): boolean {
  for (let i = 0; i < token.length; i++) if (token.units[i] !== units[from + i]) return false;
  return true;
}

function unitsOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
}
