import type { FeatureRow, Item } from '../feature-row.js';

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

/**
 * The words that Metarank counts: what stands between white space, as `Pattern.split` of Java gives it. A text that begins with
 * white space has an empty one before it.
 */
function spaced(text: string): string[] {
  if (text === '') return [''];
  const parts = text.split(/[ \t\n\v\f\r]+/u);
  while (parts.at(-1) === '') parts.pop();
  return parts;
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

/**
 * A value of the query and the title.
 * @param none what there is if one of the two is missing or has no word: Metarank has 0
 */
function matched(words: Words, pair: Pair, none?: number): FeatureRow['metarank'] {
  return ({ title }, { ranking: { query } }) => {
    if (title === undefined || query === undefined) return none;
    const [asked, found] = [words(query), words(title)];
    if (none !== undefined && (asked.length === 0 || found.length === 0)) return none;
    const value = pair(asked, found);
    return Number.isNaN(value) ? none : value;
  };
}

const K1 = 1.2;
const B = 0.75;

/** @param texts how many there are @param having how many of them have the word */
const rarity = (texts: number, having: number): number =>
  Math.log(1 + (texts - having + 0.5) / (having + 0.5));

const saturated = (count: number, length: number, mean: number): number =>
  (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / mean));

const meanLength = (texts: readonly (readonly string[])[]): number =>
  texts.reduce((sum, text) => sum + text.length, 0) / texts.length;

const having = (texts: readonly (readonly string[])[], word: string): number =>
  texts.filter((text) => text.includes(word)).length;

/** Metarank takes each word of a text once, but counts all words for the mean length; items without the text count too. */
const theirBm25: FeatureRow['metarank'] = ({ title }, { items, ranking: { query } }) => {
  if (title === undefined || query === undefined) return 0;
  const texts = titlesOf(items).map(lucene);
  const mean = meanLength(texts);
  const words = new Set(lucene(title));
  return [...new Set(lucene(query))]
    .filter((word) => words.has(word))
    .reduce(
      (sum, word) => sum + rarity(items.length, having(texts, word)) * saturated(1, words.size, mean),
      0,
    );
};

/** BM25 over the titles of all items. */
const ourBm25: FeatureRow['metarank'] = ({ title }, { items, ranking: { query } }) => {
  if (title === undefined || query === undefined) return undefined;
  const asked = ours(query);
  if (asked.length === 0) return undefined;
  const texts = titlesOf(items).map(ours);
  const mean = meanLength(texts);
  const words = ours(title);
  return asked.reduce((sum, word) => {
    const count = words.filter((one) => one === word).length;
    if (count === 0) return sum;
    return sum + rarity(texts.length, having(texts, word)) * saturated(count, words.length, mean);
  }, 0);
};

const titlesOf = (items: readonly Item[]): string[] =>
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
    metarank: ({ title }) => (title === undefined ? undefined : spaced(title).length),
    differs: (_theirs, { title }) => (title === undefined ? undefined : ours(title).length),
  },
  row(
    'field_match: term',
    'term_overlap(request.text, product.title)',
    matched(lucene, overlap, 0),
    matched(ours, overlap),
  ),
  row(
    'field_match: ngram',
    'ngram_overlap(request.text, product.title, 3)',
    matched(lucene, threes(false), 0),
    matched(ours, threes(true)),
  ),
  {
    ...row('field_match: bm25', 'found:bm25', theirBm25, ourBm25),
    steps: `  - use: text_match
    as: found
    with: { query: request.text, field: product.title, statistics: candidates, stemming: none }`,
  },
];
