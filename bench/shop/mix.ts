import { random } from '../support/catalogue.js';
import { ensembleOf } from '../support/items-project.js';
import { lightGbmText } from '../support/lightgbm-text.js';
import { writeFiles } from './write-files.js';

/**
 * A shop as many have it: three texts, brands with a maker of their own, what the user did with a product and its brand,
 * 20 batch features, and 300 trees over all of it.
 */
export const PRODUCTS = 20_000;
const BRANDS = 400;
const USERS = 20;
const EVENTS = 400;
const DAY = 86_400_000;
const STATS = Array.from({ length: 20 }, (_, i) => `s${i}`);

const INPUTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['title', 'about', 'maker'].flatMap((step) =>
      ['bm25', 'overlap', 'phrase'].map((output) => [`${step}_${output}`, `${step}:${output}`]),
    ),
  ),
  ...Object.fromEntries(STATS.map((name) => [name, `product_stats:${name}`])),
  price: 'product.price',
  rating: 'product.rating',
  brand_rating: 'product.brand.rating',
  maker_size: 'product.brand.maker.size',
  at_home: 'product.brand.country == user.country',
  liked: 'product.colour in user.colours',
  shared: 'term_overlap(query.query, product.title)',
  brand_clicks: 'user_brand:clicks_90d',
  clicks: 'itself:clicks',
  seen: 'itself:seen',
  brand_seen: 'by_brand:seen',
};

const FILES: Readonly<Record<string, readonly string[]>> = {
  'millrace.yaml': ['project: mix', 'store: embedded'],
  'schemas/entities/product.yaml': [
    'entity: product',
    'extends: ProductEntity',
    'attributes:',
    '  title: string',
    '  description: string',
    '  brand: ref(brand)',
    '  categories: list(string)',
    '  colour: string',
    '  price: float',
    '  rating: float',
    '  number_in_stock: int',
  ],
  'schemas/entities/brand.yaml': [
    'entity: brand',
    'attributes: { name: string, country: string, rating: float, maker: ref(maker) }',
  ],
  'schemas/entities/maker.yaml': ['entity: maker', 'attributes: { name: string, size: float }'],
  'schemas/entities/user.yaml': [
    'entity: user',
    'attributes: { country: string, colours: list(string), brand: string }',
  ],
  'schemas/features/product_stats.yaml': [
    'view: product_stats',
    'of: [product]',
    'features:',
    ...STATS.map((name) => `  ${name}: float`),
  ],
  'schemas/features/user_brand_stats.yaml': [
    'view: user_brand_stats',
    'of: [user, brand]',
    'features: { clicks_90d: int }',
  ],
  'pipelines/search.yaml': [
    'pipeline: search',
    'rank: product',
    'request: { candidates: {}, query: query, user: user }',
    'limits: { candidates: 10000, time: 10s }',
    'features:',
    '  - product_stats',
    '  - user_brand: user_brand_stats(user, product.brand)',
    'components:',
    '  - use: text_match',
    '    as: title',
    '    with: { query: query.query, field: product.title }',
    '  - use: text_match',
    '    as: about',
    '    with: { query: query.query, fields: { product.description: 1, product.categories: 2 } }',
    '  - use: text_match',
    '    as: maker',
    '    with: { query: query.query, fields: { product.brand.name: 2, product.brand.maker.name: 1 } }',
    '  - use: interaction',
    '    as: itself',
    '    with:',
    '      of: user',
    '      with: product',
    '      outputs: { clicks: { event: click, window: 30d }, seen: { event: impression, window: 7d } }',
    '  - use: interaction',
    '    as: by_brand',
    '    with: { of: user, with: product.brand, outputs: { seen: { event: impression, window: 7d } } }',
    '  - use: lightgbm',
    '    as: ltr',
    '    with:',
    '      model: models/ltr.txt',
    '      inputs:',
    ...Object.entries(INPUTS).map(([name, value]) => `        ${name}: "${value}"`),
    '  - use: score',
    '    with: { value: "ltr:score" }',
    '  - use: boost',
    '    with: { where: product.brand == user.brand, add: 0.1 }',
    '  - use: bury',
    '    with: { where: product.number_in_stock <= 0 }',
    'page: { size: 24, max_size: 100 }',
  ],
};

/** The same with a first phase: the title and the rating choose 50 candidates for the model. */
function inPhases(): readonly string[] {
  const lines = FILES['pipelines/search.yaml'] ?? [];
  const title = lines.indexOf('  - use: text_match');
  const interactions = lines.indexOf('  - use: interaction');
  return [
    ...lines.slice(0, title + 3),
    '  - use: score',
    '    with: { value: "title:bm25 + product.rating" }',
    ...lines
      .slice(interactions)
      .filter((line) => !/^ {8}(about|maker)_\w+: /.test(line) || line.includes('maker_size'))
      .flatMap((line) => (/^ {4}as: (itself|by_brand|ltr)$/.test(line) ? [line, '    top: 50'] : [line]))
      .map((line) => line.replace('value: "ltr:score"', 'value: "coalesce(ltr:score, score)"')),
  ];
}

export async function writeMix(folder: string, isPhased = false): Promise<void> {
  const names = Object.keys(INPUTS).filter((name) => !isPhased || !/^(about|maker)_[bop]/.test(name));
  const ensemble = ensembleOf({ features: names, trees: 300, time: '10s' });
  const pipeline = isPhased ? { 'pipelines/search.yaml': inPhases() } : {};
  await writeFiles(folder, { ...FILES, ...pipeline, 'models/ltr.txt': [lightGbmText(ensemble, names)] });
}

const WORDS =
  'light strong warm small large soft dry quick quiet steel cotton leather glass wooden folding travel garden kitchen ' +
  'winter summer summit river stone cloud lamp chair table shoe jacket bottle kettle speaker cable battery sensor ' +
  'compact backlit ergonomic wireless mechanical brass outdoor washable padded insulated rechargeable adjustable';
const COLOURS = 'black white silver forest crimson navy sand olive plum ivory'.split(' ');
const COUNTRIES = ['de', 'fr', 'it', 'nl', 'se', 'us'];

/** What is uploaded, as paths of the service with their bodies. */
export function* mixUploads(): Generator<readonly [path: string, body: object]> {
  const next = random(3);
  const words = WORDS.split(' ');
  const one = (list: readonly string[]): string => list[Math.floor(next() * list.length)] ?? '';
  const text = (count: number): string => Array.from({ length: count }, () => one(words)).join(' ');
  const entities = (entity_type: string, list: object[]) =>
    ['/api/v1/entities/upload', { entity_type, entities: list }] as const;
  const makers = Array.from({ length: 40 }, (_, i) => ({
    maker_id: `m${i}`,
    name: text(2),
    size: next() * 4 - 2,
  }));
  yield entities('maker', makers);
  const brands = Array.from({ length: BRANDS }, (_, i) => ({
    brand_id: `b${i}`,
    name: `${text(1)} & ${text(1)}`,
    country: one(COUNTRIES),
    rating: next() * 4 - 2,
    maker: `m${i % 40}`,
  }));
  yield entities('brand', brands);
  const users = Array.from({ length: USERS }, (_, i) => ({
    user_id: `u${i}`,
    country: one(COUNTRIES),
    colours: [one(COLOURS), one(COLOURS)],
    brand: `b${i}`,
  }));
  yield entities('user', users);
  for (let from = 0; from < PRODUCTS; from += 1000) {
    const ids = Array.from({ length: 1000 }, (_, i) => `p${from + i}`);
    const products = ids.map((product_id) => ({
      product_id,
      title: `${text(4)}, ${one(COLOURS)}`,
      description: `A ${text(3)} made for ${text(4)}, and good for a ${text(2)} too. It comes with a ${text(5)}.`,
      brand: `b${Math.floor(next() * BRANDS)}`,
      categories: [one(words), text(2)],
      colour: one(COLOURS),
      price: next() * 4 - 2,
      rating: next() * 4 - 2,
      number_in_stock: Math.floor(next() * 20),
    }));
    yield entities('product', products);
    const rows = ids.map((product_id) => ({
      product_id,
      ...Object.fromEntries(STATS.map((name) => [name, next() * 4 - 2])),
    }));
    yield ['/api/v1/features/push', { view: 'product_stats', rows }];
  }
  for (const { user_id } of users) {
    const rows = brands.map(({ brand_id }) => ({ user_id, brand_id, clicks_90d: Math.floor(next() * 4) }));
    yield ['/api/v1/features/push', { view: 'user_brand_stats', rows }];
    const events = Array.from({ length: EVENTS }, (_, i) => ({
      type: i % 4 === 0 ? 'click' : 'impression',
      product: { product_id: `p${Math.floor(next() * PRODUCTS)}` },
      time: Date.now() - next() * DAY,
    }));
    for (let from = 0; from < EVENTS; from += 100)
      yield [
        '/api/v1/feedback',
        { request_id: 'bench', user: { user_id }, events: events.slice(from, from + 100) },
      ];
  }
}

/** The queries: some words of the texts. */
export function mixQueries(): string[] {
  const words = WORDS.split(' ');
  return Array.from({ length: 16 }, (_, i) =>
    [words[i % words.length], words[(i * 7 + 3) % words.length], words[(i * 11 + 5) % words.length]]
      .slice(0, 1 + (i % 3))
      .join(' '),
  );
}
