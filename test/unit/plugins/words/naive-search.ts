import type { Analyzer } from '../../../../runtime/ground/text/index.js';

/** What `search` must give, computed from the texts of all entities for each query. */
export class NaiveSearch {
  readonly #analyzer: Analyzer;
  readonly #entities = new Map<string, string[][]>();

  constructor(
    analyzer: Analyzer,
    private readonly weights: readonly number[],
    private readonly hasCompounds: boolean,
  ) {
    this.#analyzer = analyzer;
  }

  put(id: string, texts: readonly (string | undefined)[]): void {
    this.#entities.set(
      id,
      texts.map((text) => this.#analyzer.tokens(text ?? '')),
    );
  }

  remove(id: string): void {
    this.#entities.delete(id);
  }

  /** @param query plain words: it has no synonyms, and its words are their own stems */
  search(query: string, most: number): { id: string; score: number }[] {
    const tokens = this.#analyzer.tokens(query);
    const vocabulary = new Set([...this.#entities.values()].flat(2));
    const scores = new Map<string, number>();
    for (const alternatives of this.#alternatives(tokens, vocabulary)) {
      const frequencies = new Map<string, number>();
      for (const [id, fields] of this.#entities) {
        let frequency = 0;
        for (const [words, weight] of alternatives)
          frequency += Math.min(...words.map((word) => weight * this.#frequency(fields, word)));
        if (frequency > 0) frequencies.set(id, frequency);
      }
      const [all, having] = [this.#entities.size, frequencies.size];
      const rarity = Math.log(1 + (all - having + 0.5) / (having + 0.5));
      for (const [id, frequency] of frequencies)
        scores.set(id, (scores.get(id) ?? 0) + (rarity * frequency * 2.2) / (frequency + 1.2));
    }
    return [...scores]
      .map(([id, score]) => ({ id, score }))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
      .slice(0, most);
  }

  #frequency(fields: readonly (readonly string[])[], word: string): number {
    return this.weights.reduce((sum, weight, field) => {
      const words = fields[field] ?? [];
      const having = [...this.#entities.values()]
        .map((all) => all[field] ?? [])
        .filter((all) => all.length > 0);
      const mean = having.reduce((total, all) => total + all.length, 0) / having.length;
      const found = words.filter((one) => one === word).length;
      return found === 0 ? sum : sum + (weight * found) / (1 - 0.75 + (0.75 * words.length) / mean);
    }, 0);
  }

  #alternatives(tokens: readonly string[], vocabulary: ReadonlySet<string>): [string[], number][][] {
    const found = new Map<string, Map<string, [string[], number]>>();
    const add = (token: string, words: string[], weight: number): void => {
      const of = found.get(token) ?? new Map<string, [string[], number]>();
      found.set(token, of);
      if (!of.has(words.join(' '))) of.set(words.join(' '), [words, weight]);
    };
    for (const token of tokens) add(token, [token], 1);
    tokens.slice(1).forEach((token, i) => {
      add(tokens[i] ?? '', [(tokens[i] ?? '') + token], 1);
      add(token, [(tokens[i] ?? '') + token], 1);
    });
    const all = [...vocabulary];
    const isCompound = (word: string, at: number): boolean =>
      at >= 3 &&
      word.length - at >= 3 &&
      ((at >= 4 && word.length - at >= 4) ||
        vocabulary.has(word.slice(0, at)) ||
        all.some((other) => other !== word && other.startsWith(word.slice(0, at)) && isEnd(other, at)));
    const isEnd = (word: string, at: number): boolean =>
      word.length - at >= 3 && vocabulary.has(word.slice(at));
    for (const token of this.hasCompounds ? tokens : []) {
      for (const word of all)
        if (
          word !== token &&
          word.endsWith(token) &&
          token.length >= 3 &&
          isCompound(word, word.length - token.length)
        )
          add(token, [word], 0.8);
      for (let at = 3; at <= token.length - 3; at++)
        if (isEnd(token, at) && vocabulary.has(token.slice(0, at)))
          add(token, [token.slice(0, at), token.slice(at)], 0.8);
      for (const word of all)
        if (
          token.length >= 3 &&
          word.startsWith(token) &&
          ['', 's', 'es', 'n', 'en', 'er', 'e'].some(
            (link) => word.startsWith(link, token.length) && isEnd(word, token.length + link.length),
          )
        )
          add(token, [word], 0.3);
    }
    const last = tokens.at(-1);
    const isKnown = [...(found.get(last ?? '')?.values() ?? [])].some(([words]) =>
      words.every((word) => vocabulary.has(word)),
    );
    if (last !== undefined && !isKnown && last.length >= 2)
      for (const word of all
        .filter((one) => one.startsWith(last))
        .sort()
        .sort((a, b) => a.length - b.length)
        .slice(0, 64))
        add(last, [word], 0.5);
    return [...found.values()].map((of) => [...of.values()]);
  }
}
