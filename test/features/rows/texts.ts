import type { FeatureRow, Shop } from '../feature-row.js';

/**
 * Metarank takes the analyzer of Lucene for the language `generic`: words by the boundaries of Unicode (UAX 29), in lower
 * case. Intl.Segmenter knows the same boundaries.
 */
const boundaries = new Intl.Segmenter('und', { granularity: 'word' });
const lucene = (text: string): string[] =>
  [...boundaries.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment.toLowerCase()] : [],
  );

/** The words of docs/text.md: runs of letters and digits without accents; an apostrophe joins; each Han or kana sign is a word. */
function ours(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'\u2019]/gu, '')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase();
  return (
    folded.match(
      /[\p{Script=Han}\p{Script=Hiragana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}])[\p{L}\p{N}])+/gu,
    ) ?? []
  );
}

type Words = (text: string) => string[];
type Pair = (query: readonly string[], title: readonly string[]) => number;

/** Runs of three letters. Metarank has none of a shorter word; for Millrace such a word is one run. */
const runs = (words: readonly string[], keepsShort: boolean): string[] =>
  words.flatMap((word) => {
    const letters = Array.from(word);
    if (letters.length < 3) return keepsShort ? [word] : [];
    return letters.slice(2).map((_, at) => letters.slice(at, at + 3).join(''));
  });

/** The size of the intersection by that of the union; NaN if both are empty. */
function overlap(a: readonly string[], b: readonly string[]): number {
  const [left, right] = [new Set(a), new Set(b)];
  return [...left].filter((one) => right.has(one)).length / new Set([...left, ...right]).size;
}

/** A value of the query and the title; undefined if one of the two is missing, or if it is none. */
function matched(words: Words, pair: Pair): FeatureRow['metarank'] {
  return ({ title }, { ranking: { query } }) => {
    if (title === undefined || query === undefined) return undefined;
    const found = pair(words(query), words(title));
    return Number.isNaN(found) ? undefined : found;
  };
}

/**
 * BM25 with k1 = 1.2 and b = 0.75 over the titles of all items.
 * @param factor 1: Lucene leaves out the factor k1 + 1 since its version 8
 */
const bm25 =
  (words: Words, factor: number): FeatureRow['metarank'] =>
  (item, shop) => {
    const { query } = shop.ranking;
    if (item.title === undefined || query === undefined) return undefined;
    const asked = words(query);
    if (asked.length === 0) return undefined;
    const texts = titlesOf(shop).map(words);
    const mean = texts.reduce((sum, text) => sum + text.length, 0) / texts.length;
    const title = words(item.title);
    let sum = 0;
    for (const word of asked) {
      const count = title.filter((one) => one === word).length;
      if (count === 0) continue;
      const having = texts.filter((text) => text.includes(word)).length;
      const rarity = Math.log(1 + (texts.length - having + 0.5) / (having + 0.5));
      sum += (rarity * count * factor) / (count + 1.2 * (1 - 0.75 + (0.75 * title.length) / mean));
    }
    return sum;
  };

const titlesOf = ({ items }: Shop): string[] =>
  items.flatMap(({ title }) => (title === undefined ? [] : [title]));

const row = (
  name: string,
  value: string,
  metarank: FeatureRow['metarank'],
  millrace: FeatureRow['metarank'],
): FeatureRow => ({ name, value, metarank, differs: (_theirs, item, shop) => millrace(item, shop) });

const threes =
  (keepsShort: boolean): Pair =>
  (a, b) =>
    overlap(runs(a, keepsShort), runs(b, keepsShort));

/** Texts of items and of requests. The last of each pair of definitions is that of Millrace. */
export const TEXTS: readonly FeatureRow[] = [
  {
    name: 'word_count',
    value: 'words(product.title)',
    metarank: ({ title }) => (title === undefined ? undefined : lucene(title).length),
    differs: (_theirs, { title }) => (title === undefined ? undefined : ours(title).length),
  },
  row(
    'field_match: term',
    'term_overlap(request.text, product.title)',
    matched(lucene, overlap),
    matched(ours, overlap),
  ),
  row(
    'field_match: ngram',
    'ngram_overlap(request.text, product.title, 3)',
    matched(lucene, threes(false)),
    matched(ours, threes(true)),
  ),
  {
    ...row('field_match: bm25', 'found:bm25', bm25(lucene, 1), bm25(ours, 2.2)),
    steps: `  - use: text_match
    as: found
    with: { query: request.text, field: product.title, statistics: candidates, stemming: none }`,
  },
];
