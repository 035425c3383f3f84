import type { Sent } from './turns.js';

/** A body with much text, for a pipeline that reads texts in one way. */
export interface TextCase {
  readonly reader: string;
  readonly what: string;
  readonly sent: () => Sent;
}

/** By pipeline: the step that reads texts, if one does, and the score. */
const READERS: Readonly<Record<string, readonly [step: string, value: string]>> = {
  normalize: ['', 'if(normalize(product.title, "german") == page.text, 1, 0)'],
  words: ['', 'words(product.title, "japanese")'],
  term_overlap: ['', 'term_overlap(page.text, product.title, "german")'],
  ngram_overlap: ['', 'ngram_overlap(product.title, page.text)'],
  edit_distance: ['', 'edit_distance(lower(page.text), upper(product.title), 100)'],
  quantity: ['', 'quantity(product.title, "ml") + length(product.title)'],
  'text_match, plain': ['field: product.title', 'match:bm25'],
  'text_match, German': ['field: product.title, language: german', 'match:bm25'],
  'text_match, Japanese': ['field: product.title, language: japanese, units: true', 'match:bm25'],
  'text_match, n-grams': ['field: product.title, ngrams: 3', 'match:bm25'],
};
const names = Object.keys(READERS);

/** The files of the pipelines, for a project with the shipped schemas. */
export const TEXT_FILES: Readonly<Record<string, string>> = {
  'schemas/entities/page.yaml': 'entity: page\nattributes: { text: string }\n',
  ...Object.fromEntries(
    Object.values(READERS).map(([fields, value], i) => [
      `pipelines/texts_${i}.yaml`,
      `pipeline: texts_${i}
rank: product
request: { page: page }
components:
${fields === '' ? '' : `  - { use: text_match, as: match, with: { query: page.text, ${fields} } }\n`}  - { use: score, with: { value: 'coalesce(${value}, 0)' } }
limits: { candidates: 10000, time: 30s }
`,
    ]),
  ),
};

const MAX_BYTES = 1.8 * 1024 * 1024;
const LONG_BYTES = 900 * 1024;

/** Texts of about so many bytes of UTF-8. */
const KINDS: Readonly<Record<string, (bytes: number, seed: number) => string>> = {
  words: (bytes, seed) => written(bytes, seed, (n) => `kabelloser Kopfhörer ${n}, `),
  'new words': (bytes, seed) =>
    written(bytes, seed, (n) => `wort${(n * 7919) % 1_000_003}${'abcdefgh'[n % 8] ?? ''} `),
  Japanese: (bytes, seed) => written(bytes, seed, (n) => `美しい靴とスニーカー${n}。`),
  'Japanese without marks': (bytes, seed) => written(bytes, seed, () => '新しい靴を買うために東京へ行く'),
  amounts: (bytes, seed) => written(bytes, seed, (n) => `${n}.000,5 ml `),
  signs: (bytes) => '-,'.repeat(bytes / 2),
  'one word': (bytes) => 'x'.repeat(bytes),
  emoji: (bytes) => '👍'.repeat(bytes / 4),
};

function written(bytes: number, seed: number, part: (n: number) => string): string {
  const parts: string[] = [];
  for (let size = 0, n = seed; size < bytes; n++) {
    const one = part(n);
    size += Buffer.byteLength(one);
    parts.push(one);
  }
  return parts.join('');
}

/** Where the text is. The query of a page is read for each candidate, if its reader does not prepare it. */
const PLACES: Readonly<Record<string, (kind: (bytes: number, seed: number) => string) => object>> = {
  'in each of 10,000 candidates': (kind) => bodyOf('red shoe', spread(kind, 10_000)),
  'in each of 1,000 candidates': (kind) => bodyOf(kind(1000, 5), spread(kind, 1000)),
  'in each of 50 candidates': (kind) => bodyOf(kind(20_000, 5), spread(kind, 50)),
  'in one candidate': (kind) => bodyOf('red shoe', [kind(LONG_BYTES, 0), 'red shoe']),
  'in one candidate and the request': (kind) => bodyOf(kind(LONG_BYTES, 3), [kind(LONG_BYTES, 0), 'red']),
  'in the request': (kind) => bodyOf(kind(LONG_BYTES, 0), spread(kind, 1000, 300_000)),
};

function spread(
  kind: (bytes: number, seed: number) => string,
  count: number,
  bytes = MAX_BYTES,
): readonly string[] {
  const each = Math.max(1, bytes / count - 40);
  return Array.from({ length: count }, (_, i) => kind(each, i * 17));
}

function bodyOf(text: string, titles: readonly string[]): object {
  const candidates = titles.map((title, i) => ({ product_id: `p${i}`, title }));
  return { page: { page_id: 'a', text }, candidates };
}

/** Yields every kind of text at every place, for every reader. */
export function* textCases(): Generator<TextCase> {
  for (const [i, reader] of names.entries())
    for (const [kind, textOf] of Object.entries(KINDS))
      for (const [place, body] of Object.entries(PLACES))
        yield {
          reader,
          what: `${kind}, ${place}`,
          sent: () => ({
            path: `/api/v1/texts_${i}`,
            bytes: Buffer.from(JSON.stringify(body(textOf))),
          }),
        };
}
