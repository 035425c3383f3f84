import type { Analyzer, Pieces, Synonyms } from 'millrace/api';
import type { Compounds } from './compounds.js';
import type { WordIndex } from './word-index.js';

/** The words of a query that count, and the characters in which they stand; the rest is ignored. */
const MOST_QUERY_WORDS = 16;
const LONGEST_QUERY = 1024;
/** A shorter beginning of a word finds too many. */
const SHORTEST_PREFIX = 2;
const MOST_OF_PREFIX = 64;

/** How much an occurrence counts, compared with one of the word itself. */
const WEIGHTS = { word: 1, synonym: 1, joined: 1, compound: 0.8, parts: 0.8, prefix: 0.5, start: 0.3 };

/** Words that an entity must have together to count for a word of the query. */
export interface Alternative {
  readonly words: readonly string[];
  readonly weight: number;
}

/** By distinct word of the query: what finds it, always in the same order. */
export type QueryWords = readonly (readonly Alternative[])[];

export interface QueryTools {
  readonly index: WordIndex;
  readonly analyzer: Analyzer;
  /** Makes words as the analyzer does, without stems and with stop words. */
  readonly bare: Analyzer;
  readonly synonyms: Synonyms | undefined;
  /** Undefined if compounds are whole words. */
  readonly compounds: Compounds | undefined;
}

/** What finds each word of a query in the catalogue as it is now. A short word is a part of thousands of compounds. */
export function* queryWords(text: string, tools: QueryTools): Pieces<QueryWords> {
  const { index, analyzer, bare, synonyms, compounds } = tools;
  const words = bare
    .tokens(text.slice(0, LONGEST_QUERY))
    .flatMap((word) => analyzer.tokens(word).map((token) => ({ word, token })))
    .slice(0, MOST_QUERY_WORDS);
  const tokens = words.map(({ token }) => token);
  const found = new Map<string, Map<string, Alternative>>(tokens.map((token) => [token, new Map()]));
  const add = (token: string, weight: number, ...parts: string[]): void => {
    const of = found.get(token);
    const key = parts.join(' ');
    if (of?.has(key) === false) of.set(key, { words: parts, weight });
  };
  for (const token of tokens) add(token, WEIGHTS.word, token);
  for (const use of synonyms?.of(tokens) ?? [])
    for (const token of tokens.slice(use.start, use.start + use.length))
      add(token, WEIGHTS.synonym, ...use.words);
  words.slice(1).forEach(({ word, token }, i) => {
    const before = words[i] ?? { word: '', token: '' };
    const joined = analyzer.compound(before.word, word);
    if (joined === undefined) return;
    add(before.token, WEIGHTS.joined, joined);
    add(token, WEIGHTS.joined, joined);
  });
  if (compounds !== undefined)
    for (const { word, token } of words) {
      for (const one of sorted(yield* compounds.endingWith(token))) add(token, WEIGHTS.compound, one);
      for (const pair of compounds.partsOf(token)) add(token, WEIGHTS.parts, ...pair);
      for (const one of sorted(yield* compounds.startingWith([word, token]))) add(token, WEIGHTS.start, one);
    }
  const last = words.at(-1);
  const isFound = [...(found.get(last?.token ?? '')?.values() ?? [])].some(({ words: parts }) =>
    parts.every((part) => isUsed(index, part)),
  );
  if (last !== undefined && !isFound && last.word.length >= SHORTEST_PREFIX)
    for (const one of wordsOfPrefix(index, last.word)) add(last.token, WEIGHTS.prefix, one);
  return [...found.values()].map((of) => [...of.values()]);
}

/** The shortest words that begin with a text. */
function wordsOfPrefix(index: WordIndex, prefix: string): string[] {
  const order = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);
  const shortest: string[] = [];
  let longest = Infinity;
  for (const number of index.vocabulary.startingWith(prefix)) {
    const word = index.vocabulary.words[number] ?? '';
    if (word.length > longest || !index.isUsed(number)) continue;
    if (shortest.push(word) < 4 * MOST_OF_PREFIX) continue;
    shortest.sort(order).length = MOST_OF_PREFIX;
    longest = shortest.at(-1)?.length ?? Infinity;
  }
  return shortest.sort(order).slice(0, MOST_OF_PREFIX);
}

function isUsed(index: WordIndex, word: string): boolean {
  const number = index.vocabulary.numberOf(word);
  return number >= 0 && index.isUsed(number);
}

/** In an order that does not depend on which word came first. */
function sorted(words: readonly string[]): string[] {
  return [...words].sort();
}
