import type { Analyzer, Token } from './analyzer.js';

/** The maximum number of tokens of a query; the rest is ignored. */
export const MOST_QUERY_TOKENS = 32;

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
  readonly #compounds: readonly { readonly units: Uint16Array; readonly terms: readonly [number, number] }[];
  /** Bit u & 31 is set if a term or compound starts with unit u. Most tokens can be skipped with this test. */
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

  /** Whether a term or compound may start with this unit. */
  mayStart(unit: number): boolean {
    return (this.#starts & (1 << (unit & 31))) !== 0;
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
    for (const compound of this.#compounds) {
      if (compound.units.length === token.length && startsWith(token, compound.units, 0))
        return compound.terms;
    }
    return undefined;
  }
}

/** Whether the token's units are in `units` at `from`. */
function startsWith(token: Token, units: Uint16Array, from: number): boolean {
  for (let i = 0; i < token.length; i++) if (token.units[i] !== units[from + i]) return false;
  return true;
}

function unitsOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
}
