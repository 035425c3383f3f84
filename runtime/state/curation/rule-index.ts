import type { QueryMatch } from '../../project/config/model/curation.js';
import { normalizeQuery } from '../../ground/core/normalize-query.js';

/** What a rule says of the query; see `QueryMatch`. */
export interface QueryKey {
  /** Normalised. */
  readonly query: string;
  readonly match: QueryMatch;
}

/**
 * Finds the rules for a query among many. A look-up costs as much as the query is long, however many rules there are:
 * one look-up for the query, one for each length of a prefix, and one for each run of words.
 */
export class RuleIndex<R extends { readonly order: number }> {
  readonly #equal = new Map<string, R[]>();
  readonly #prefixes = new Map<string, R[]>();
  readonly #prefixLengths = new Set<number>();
  readonly #parts = new Map<string, R[]>();
  readonly #wordCounts = new Set<number>();

  add({ query, match }: QueryKey, rule: R): void {
    switch (match) {
      case 'equals':
        put(this.#equal, query, rule);
        break;
      case 'prefix':
        put(this.#prefixes, query, rule);
        this.#prefixLengths.add(query.length);
        break;
      case 'contains':
        put(this.#parts, query, rule);
        this.#wordCounts.add(query.split(' ').length);
    }
  }

  get isEmpty(): boolean {
    return this.#equal.size + this.#prefixes.size + this.#parts.size === 0;
  }

  /** The rules for a query of a request, in no order, each once. */
  find(text: string): R[] {
    const query = normalizeQuery(text);
    if (query === '') return [];
    const found = [...(this.#equal.get(query) ?? [])];
    for (const length of this.#prefixLengths)
      if (length <= query.length) found.push(...(this.#prefixes.get(query.slice(0, length)) ?? []));
    if (this.#wordCounts.size > 0) found.push(...this.#containing(query.split(' ')));
    return found;
  }

  #containing(words: readonly string[]): Set<R> {
    const found = new Set<R>();
    for (const count of this.#wordCounts)
      for (let first = 0; first + count <= words.length; first++)
        for (const rule of this.#parts.get(words.slice(first, first + count).join(' ')) ?? [])
          found.add(rule);
    return found;
  }
}

export function put<K, R>(map: Map<K, R[]>, key: K, rule: R): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [rule]);
  else known.push(rule);
}
