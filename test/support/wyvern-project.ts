import { readFileSync } from 'node:fs';
import { pluginFiles } from './project.js';
import { repositoryPath } from './repository.js';

/** What the tests of docs/from-wyvern.md share: the page, its table, a project, and requests as clients of Wyvern send them. */

export const PAGE = readFileSync(repositoryPath('docs', 'from-wyvern.md'), 'utf8');

/** The cells of the table of differences. */
const TABLE = (PAGE.split('<!-- differences -->')[1] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

/** Its first column. */
export const ROWS = TABLE.map(([request = '']) => request);

/** The rows that a lax project does not have. */
export const GONE_IF_LAX = ROWS.filter((_, row) => TABLE[row]?.[3] === 'gone with `accept: lax`');

/** The rows that do not say what to do. */
export const UNJUDGED = ROWS.filter((_, row) => (TABLE[row]?.[3] ?? '') === '');

const pipeline = (name: string, components: string): string => `pipeline: ${name}
rank: product
request: { candidates: {}, query: optional(query) }
features: [product_stats, brand_stats: brand_stats(product.brand)]
page: { size: 24, max_size: 100 }
components:
${components}`;

const SCORE = '  - { use: score, with: { value: "product.price" } }\n';
export const PROJECT = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, label: string, on_sale: bool, brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, fame: float }\n',
  'schemas/features/product_stats.yaml':
    'view: product_stats\nof: [product]\nfeatures: { heat: float, tags: list(string), note: string }\n',
  'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { heat: float }\n',
  ...pluginFiles(
    'no_model',
    'model',
    `return { outputs: { score: 'number' }, compute() { throw new Error('no model today'); } };`,
  ),
  'pipelines/ranking.yaml': pipeline(
    'ranking',
    `${SCORE}  - use: boost
    with: { add: "0 * coalesce(product_stats:heat, brand_stats:heat, 0) + 0 * if(known(product.label) and known(product.on_sale) and known(product.brand.fame) and known(product.brand.name) and known(product_stats:note) and count(product_stats:tags) >= 0, 1, 0)" }
`,
  ),
  'pipelines/by_features.yaml': pipeline(
    'by_features',
    '  - { use: score, with: { value: "product_stats:heat - brand_stats:heat" } }\n',
  ),
  'pipelines/by_label.yaml': pipeline(
    'by_label',
    `  - { use: score, with: { value: 'if(product.label == "", 1, 0) + if(product.on_sale, 10, 0) + coalesce(product.price, 100)' } }\n`,
  ),
  'pipelines/by_brand.yaml': pipeline(
    'by_brand',
    `  - { use: score, with: { value: 'if(product.brand.name == "sent", 1, 0) + product.brand.fame' } }\n`,
  ),
  'pipelines/pinned.yaml': pipeline('pinned', `${SCORE}  - { use: pin, with: { positions: { 1: p2 } } }\n`),
  'pipelines/raised.yaml': pipeline(
    'raised',
    `${SCORE}  - { use: boost, with: { where: 'product.label == "x"', multiply: 2 } }\n`,
  ),
  'pipelines/modelled.yaml': pipeline(
    'modelled',
    `${SCORE}  - { use: no_model, as: deep, on_error: skip }\n  - { use: score, with: { value: "deep:score" } }\n`,
  ),
};

/** A request as clients of Wyvern send it. */
export const request = (candidates: readonly object[], more: object = {}): object => ({
  request_id: 'r1',
  query: { query: 'candle' },
  candidates,
  user_page_size: Math.max(1, Math.min(candidates.length, 100)),
  user_page: 0,
  candidate_page_size: candidates.length,
  candidate_page: 0,
  ...more,
});

export const products = (count: number): readonly { product_id: string; price: number }[] =>
  Array.from({ length: count }, (_, i) => ({ product_id: `p${i + 1}`, price: -i }));
