import { expect } from 'chai';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { failuresOf, runAt } from '../support/ranking-tests.js';
import { repositoryPath } from '../support/repository.js';

/** A change of a file that makes the ranking worse: what, the text that is replaced, and what replaces it. */
type Change = readonly [what: string, file: string, right: string, wrong: string];

const RANKING = 'pipelines/ranking.yaml';
const BRANDS = 'pipelines/brands.yaml';

const CHANGES: readonly Change[] = [
  ['the weight of the match negated', RANKING, ' match: 1', ' match: -1'],
  ['the weight of the overlap negated', RANKING, 'text:overlap: 0.5', 'text:overlap: -0.5'],
  ['the weight of the phrase negated', RANKING, 'text:phrase: 0.3', 'text:phrase: -0.3'],
  ['the weight of the phrase removed', RANKING, '        text:phrase: 0.3\n', ''],
  ['the score of the search engine ignored', RANKING, '3 * log1p(max(product.search_score, 0))', 'text:bm25'],
  ['no match without a search engine', RANKING, ', text:bm25)', ', 0)'],
  [
    'no logarithm of the search engine',
    RANKING,
    '3 * log1p(max(product.search_score, 0))',
    'product.search_score',
  ],
  ['the weight of the popularity negated', RANKING, 'popularity: 0.1', 'popularity: -0.1'],
  ['the weight of the popularity ten times as large', RANKING, 'popularity: 0.1', 'popularity: 1'],
  ['the weight of the clicks negated', RANKING, 'product_stats:ctr_30d: 1', 'product_stats:ctr_30d: -1'],
  ['the weight of the stars negated', RANKING, 'stars: 0.1', 'stars: -0.1'],
  ['the weight of the stars removed', RANKING, '        stars: 0.1\n', ''],
  ['the sign of the stars flipped', RANKING, 'product.rating - 3', '3 - product.rating'],
  ['another middle of the stars', RANKING, 'product.rating - 3', 'product.rating - 2'],
  ['no logarithm of the orders', RANKING, 'log1p(product_stats:orders_30d)', 'product_stats:orders_30d'],
  ['another default of missing values', RANKING, 'missing: 0', 'missing: absent'],
  ['a default of 1 for missing values', RANKING, 'missing: 0', 'missing: 1'],
  ['the score of another value', RANKING, 'with: { value: relevance:score }', 'with: { value: text:bm25 }'],
  [
    'the step that sets the score removed',
    RANKING,
    '  - use: score\n    with: { value: relevance:score }\n',
    '',
  ],
  ['the title as one word among others', RANKING, 'product.title: 3', 'product.title: 0.1'],
  ['no words of the title', RANKING, '        product.title: 3\n', ''],
  ['no words of the description', RANKING, '        product.description: 1\n', ''],
  ['no words of the short description', RANKING, '        product.short_description: 1\n', ''],
  ['no words of the name of the brand', RANKING, '        product.brand.name: 1\n', ''],
  ['no words of the id of the category', RANKING, '        product.category: 1\n', ''],
  ['no words of the name of the category', RANKING, '        product.category.name: 1\n', ''],
  ['no words of the categories', RANKING, '        product.categories: 1\n', ''],
  [
    'the boost of the loved brand removed',
    RANKING,
    '  - use: boost\n    with: { where: product.brand == user.favourite_brand, multiply: 1.2 }\n',
    '',
  ],
  ['the boost of the loved brand below 1', RANKING, 'multiply: 1.2', 'multiply: 0.8'],
  [
    'the boost of all other brands',
    RANKING,
    'product.brand == user.favourite_brand',
    'product.brand != user.favourite_brand',
  ],
  ['the sign of the boost of clicked brands flipped', RANKING, 'add: 0.1 * log1p', 'add: -0.1 * log1p'],
  [
    'the boost of clicked brands removed',
    RANKING,
    '  - use: boost\n    with: { add: 0.1 * log1p(user_brand:clicks_90d) }\n',
    '',
  ],
  ['the boost of the category below 1', RANKING, 'multiply: 1.1', 'multiply: 0.9'],
  [
    'the boost of another attribute of the category',
    RANKING,
    'product.category == query.category',
    'product.category == user.favourite_category',
  ],
  ['what is in stock is buried', RANKING, 'number_in_stock <= 0', 'number_in_stock > 0'],
  ['only negative stocks are buried', RANKING, 'number_in_stock <= 0', 'number_in_stock < 0'],
  ['the last one is buried too', RANKING, 'number_in_stock <= 0', 'number_in_stock <= 1'],
  ['nothing is buried', RANKING, '  - use: bury\n    with: { where: product.number_in_stock <= 0 }\n', ''],
  [
    'what is sold out is removed',
    RANKING,
    '  - use: bury\n    with: { where: product.number_in_stock <= 0 }',
    '  - use: filter\n    with: { keep: product.number_in_stock > 0, absent: keep }',
  ],
  [
    'a pin is added',
    RANKING,
    '  - use: bury',
    '  - use: pin\n    with: { positions: { 2: other } }\n  - use: bury',
  ],
  ['a smaller page', RANKING, 'size: 24', 'size: 20'],
  ['a larger page', RANKING, 'size: 24', 'size: 48'],
  ['another ttl of the statistics', 'schemas/features/product_stats.yaml', 'ttl: 30d', 'ttl: 300d'],
  ['another default of the clicks', 'schemas/features/user_brand_stats.yaml', 'default: 0', 'default: 5'],
  ['the name of a brand counts against it', BRANDS, 'name:bm25: 2', 'name:bm25: -2'],
  [
    'the orders of a brand count against it',
    BRANDS,
    'log1p(brand_stats:orders_30d): 0.2',
    'log1p(brand_stats:orders_30d): -0.2',
  ],
  [
    'the clicks on a brand count against it',
    BRANDS,
    'log1p(user_brand_stats:clicks_90d): 0.5',
    'log1p(user_brand_stats:clicks_90d): -0.5',
  ],
  ['the loved brand is lowered', BRANDS, 'add: 1 ', 'add: -1 '],
  ['all other brands are raised', BRANDS, 'brand == user.favourite_brand', 'brand != user.favourite_brand'],
  ['missing values leave a brand without a score', BRANDS, 'missing: 0', 'missing: absent'],
  ['a smaller page of brands', BRANDS, 'page: { size: 10', 'page: { size: 5'],
];

/** The failed cases; or the places of the tests that name something that no longer exists. */
async function caughtBy(root: string): Promise<readonly string[]> {
  try {
    return Object.keys(failuresOf(await runAt(root, { runs: 2 })));
  } catch (error) {
    if (!(error instanceof ProjectInvalidError)) throw error;
    const places = error.diagnostics.map(({ at }) => at.file.path);
    // A change that makes the pipeline itself invalid would show nothing about the tests.
    expect(places.filter((path) => !path.startsWith('tests/'))).to.deep.equal([]);
    return places;
  }
}

describe('the tests of the shipped project', () => {
  let root: string;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'millrace-shipped-'));
    for (const folder of ['pipelines', 'schemas', 'tests'])
      cpSync(repositoryPath(folder), join(root, folder), { recursive: true });
  });
  after(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('pass, and fire every step and rule', async () => {
    const run = await runAt(root, { covers: true });
    expect(failuresOf(run)).to.deep.equal({});
    expect(
      run.coverage.parts.filter(({ fired }) => fired === 0).map(({ what, as }) => `${as} ${what}`),
    ).to.deep.equal([]);
  });

  for (const [what, file, right, wrong] of CHANGES)
    it(`catch a change: ${what}`, async () => {
      const path = join(root, file);
      const sound = readFileSync(path, 'utf8');
      try {
        expect(sound.split(right), 'the text occurs once').to.have.length(2);
        writeFileSync(
          path,
          sound.replace(right, () => wrong),
        );
        expect(await caughtBy(root)).to.not.deep.equal([]);
      } finally {
        writeFileSync(path, sound);
      }
    });
});
