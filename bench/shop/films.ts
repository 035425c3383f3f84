import { random } from '../support/catalogue.js';
import { ensembleOf } from '../support/items-project.js';
import { lightGbmText } from '../support/lightgbm-text.js';
import { writeFiles } from './write-files.js';

/**
 * The features of Metarank's example for films (17 features, 50 trees), as `millrace init --metarank` carries them over:
 * numbers of the film, its genres, the words of the query in its title, rates of clicks, and what the user clicked.
 */
export const FILMS = 10_000;
const GENRES =
  'action adventure animation comedy crime documentary drama family fantasy history horror music mystery romance science'.split(
    ' ',
  );
const NUMBERS = ['popularity', 'vote_avg', 'vote_cnt', 'budget', 'runtime'];
const LIKED = {
  liked_genre: 'genres',
  liked_actors: 'actors',
  liked_tags: 'tags',
  liked_director: 'director',
};
const USERS = 16;
const EVENTS = 60;
/** Counters of earlier checkouts refuse older events. */
const RECENT_MS = 300_000;

const INPUTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NUMBERS.map((name) => [name, `product.${name}`])),
  release_age: 'age_days(product.released) * 86400',
  title_length: 'words(product.title)',
  ...Object.fromEntries(GENRES.map((name) => [`genre_${name}`, `genre:${name}`])),
  title_match: 'title_match:bm25',
  ctr_7: 'product_live:ctr_7d',
  ctr_30: 'product_live:ctr_30d',
  ...Object.fromEntries(Object.keys(LIKED).map((name) => [name, `${name}:clicks`])),
  visitor_clicks: 'visitor:clicks',
  film_clicks: 'product_live:clicks_30d',
  day_film_clicks: 'product_live:clicks_1d',
};

const FILES: Readonly<Record<string, readonly string[]>> = {
  'millrace.yaml': ['project: films', 'store: embedded'],
  'schemas/entities/product.yaml': [
    'entity: product',
    'extends: ProductEntity',
    'attributes:',
    '  title: string',
    ...NUMBERS.map((name) => `  ${name}: float`),
    '  released: timestamp',
    '  genres: list(string)',
    '  actors: list(string)',
    '  tags: list(string)',
    '  director: string',
  ],
  'schemas/counters/film_counters.yaml': [
    'counter: film_counters',
    'of: [product]',
    'features:',
    '  ctr_7d: { event: click, over: impression, window: 7d }',
    '  ctr_30d: { event: click, over: impression, window: 30d }',
    '  clicks_30d: { event: click, window: 30d }',
    '  clicks_1d: { event: click, window: 1d }',
  ],
  'pipelines/search.yaml': [
    'pipeline: search',
    'rank: product',
    'request: { candidates: {}, query: query, user: user }',
    'limits: { candidates: 10000, time: 10s }',
    'features:',
    '  - product_live: film_counters(product)',
    'components:',
    '  - use: one_hot',
    '    as: genre',
    `    with: { of: product.genres, categories: { ${GENRES.map((name) => `${name}: ${name}`).join(', ')} } }`,
    '  - use: text_match',
    '    as: title_match',
    '    with: { query: query.query, field: product.title }',
    ...Object.entries(LIKED).flatMap(([name, attribute]) => [
      '  - use: interaction',
      `    as: ${name}`,
      `    with: { of: user, with: product.${attribute}, lists: sum, outputs: { clicks: { event: click, window: 1d } } }`,
    ]),
    '  - use: interaction',
    '    as: visitor',
    '    with: { of: user, outputs: { clicks: { event: click, window: 30d } } }',
    '  - use: lightgbm',
    '    as: ltr',
    '    with:',
    '      model: models/ltr.txt',
    '      inputs:',
    ...Object.entries(INPUTS).map(([name, value]) => `        ${name}: "${value}"`),
    '  - use: score',
    '    with: { value: "ltr:score" }',
    'page: { size: 24, max_size: 100 }',
  ],
};

export async function writeFilms(folder: string): Promise<void> {
  const names = Object.keys(INPUTS);
  const model = lightGbmText(ensembleOf({ features: names, trees: 50, time: '10s' }), names);
  await writeFiles(folder, { ...FILES, 'models/ltr.txt': [model] });
}

const WORDS =
  'night last star man city love house dead world american king girl time dark blue river road first war summer'.split(
    ' ',
  );

/** What is uploaded, as paths of the service with their bodies. */
export function* filmUploads(): Generator<readonly [path: string, body: object]> {
  const next = random(5);
  const below = (count: number): number => Math.floor(next() * count);
  const some = (count: number, name: (i: number) => string, of: number): string[] =>
    Array.from({ length: count }, () => name(below(of)));
  yield [
    '/api/v1/entities/upload',
    { entity_type: 'user', entities: Array.from({ length: USERS }, (_, i) => ({ user_id: `u${i}` })) },
  ];
  for (let from = 0; from < FILMS; from += 1000) {
    const entities = Array.from({ length: 1000 }, (_, i) => ({
      product_id: `p${from + i}`,
      title: some(3, (word) => WORDS[word] ?? '', WORDS.length).join(' '),
      ...Object.fromEntries(NUMBERS.map((name) => [name, next() * 4 - 2])),
      released: new Date(Date.UTC(1960 + below(60), below(12), 1)).toISOString(),
      genres: some(3, (genre) => GENRES[genre] ?? '', GENRES.length),
      actors: some(10, (actor) => `actor ${actor}`, 3000),
      tags: some(10, (tag) => `tag ${tag}`, 500),
      director: `director ${below(900)}`,
    }));
    yield ['/api/v1/entities/upload', { entity_type: 'product', entities }];
  }
  for (let user = 0; user < USERS; user++) {
    const events = Array.from({ length: EVENTS }, (_, i) => ({
      type: i % 4 === 0 ? 'click' : 'impression',
      product: { product_id: `p${below(FILMS)}` },
      time: Date.now() - next() * RECENT_MS,
    }));
    yield ['/api/v1/feedback', { request_id: 'bench', user: { user_id: `u${user}` }, events }];
  }
}

/** The queries: some words of the titles. */
export function filmQueries(): string[] {
  return Array.from({ length: 16 }, (_, i) => `${WORDS[i] ?? ''} ${WORDS[(i * 7 + 3) % WORDS.length] ?? ''}`);
}
