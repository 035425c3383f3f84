import { readFileSync } from 'node:fs';
import { testMistakes, type Mistake } from '../../../support/mistakes.js';
import { pluginFiles } from '../../../support/project.js';
import { repositoryPath } from '../../../support/repository.js';

/**
 * A pipeline can name features in many places. Each feature here is misspelt, has the wrong type or does not exist. Each is
 * an error at load, with its place and the nearest valid name. UPDATE_GOLDEN=1 rewrites the messages.
 */

/** A model with two columns, one of them with the given name. */
const lightgbm = (column: string): string =>
  readFileSync(repositoryPath('plugins/lightgbm/models/example.txt'), 'utf8').replace(
    'product__rating',
    column,
  );
const xgboost = (column: string): string =>
  readFileSync(repositoryPath('plugins/xgboost/models/example.json'), 'utf8').replace(
    'product__rating',
    column,
  );

const FILES = {
  'package.json': '{ "type": "module" }',
  ...pluginFiles('wants_misspelt', 'rule', `build.need('product_stats:clics'); return { apply() {} };`),
  ...pluginFiles('wants_unrequired', 'rule', `build.need('taste:clicks'); return { apply() {} };`),
  ...pluginFiles('wants_output', 'feature', `build.need('text:bm52'); return { outputs: {}, compute() {} };`),
  ...pluginFiles('wants_nobody', 'feature', `build.need('txt:bm25'); return { outputs: {}, compute() {} };`),
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float, brand: ref(brand), sellers: list(ref(brand)) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/entities/user.yaml': 'entity: user\n',
  'schemas/features/product_stats.yaml':
    'view: product_stats\nof: [product]\nfeatures: { ctr: float, clicks: int, label: string, hot: bool, seen: timestamp, words: list(string), taste: vector(4), other: vector(3) }\n',
  'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { ctr: float }\n',
  'schemas/features/taste.yaml': 'view: taste\nof: [user, brand]\nfeatures: { clicks: int }\n',
  'models/lgbm-misspelt.txt': lightgbm('product_stats__clics'),
  'models/lgbm-unrequired.txt': lightgbm('brand_stats__ctr'),
  'models/lgbm-text.txt': lightgbm('product_stats__label'),
  'models/lgbm-nothing.txt': lightgbm('popularity'),
  'models/xgb-misspelt.json': xgboost('product_stats__clics'),
  'models/xgb-list.json': xgboost('product_stats__words'),
  'models/linear.json': '{ "weights": { "product_stats:clics": 1 } }',
};

const STATS = '[product_stats]';
const score = (value: string): string => `  - use: score\n    with:\n      value: ${value}`;
const step = (use: string, options: string): string => `  - use: ${use}\n    with: { ${options} }`;
const text = '  - use: text_match\n    as: text\n    with: { query: query.query, field: product.title }';

const MISTAKES: readonly Mistake[] = [
  // features:
  { what: 'features: a misspelt view', features: '[product_statz]', components: score('1') },
  { what: 'features: a misspelt feature', features: '["product_stats:ctrr"]', components: score('1') },
  {
    what: 'features: a misspelt path',
    features: '[b: "brand_stats(product.brnd)"]',
    components: score('b:ctr'),
  },
  {
    what: 'features: a path to another type',
    features: '[b: "brand_stats(user)"]',
    components: score('b:ctr'),
  },
  {
    what: 'features: a path to a list',
    features: '[b: "brand_stats(product.sellers)"]',
    components: score('b:ctr'),
  },
  { what: 'features: too few paths', features: '[t: "taste(user)"]', components: score('t:clicks') },
  {
    what: 'features: a view that needs paths',
    features: '[brand_stats]',
    components: score('brand_stats:ctr'),
  },
  // expressions
  { what: 'expression: a misspelt feature', features: STATS, components: score('product_stats:crt') },
  { what: 'expression: a misspelt view', features: STATS, components: score('product_stat:ctr') },
  { what: 'expression: a view that is not required', components: score('product_stats:ctr') },
  {
    what: 'expression: a feature that is not required',
    features: '["product_stats:ctr"]',
    components: score('product_stats:ctr + product_stats:clicks'),
  },
  { what: 'expression: a dot for a colon', features: STATS, components: score('product_stats.ctr') },
  {
    what: 'expression: a colon for a dot',
    features: STATS,
    components: score('product_stats:ctr + product:price'),
  },
  {
    what: 'expression: a text feature as a number',
    features: STATS,
    components: score('product_stats:label'),
  },
  {
    what: 'expression: a list feature in arithmetic',
    features: STATS,
    components: score('product_stats:words + 1'),
  },
  {
    what: 'expression: a vector feature in arithmetic',
    features: STATS,
    components: score('product_stats:taste * 2'),
  },
  {
    what: 'expression: a bool feature in a function of numbers',
    features: STATS,
    components: score('log1p(product_stats:hot)'),
  },
  {
    what: 'expression: a text feature against a number',
    features: STATS,
    components: score('if(product_stats:label > 3, 1, 0)'),
  },
  {
    what: 'define: a misspelt feature',
    features: STATS,
    define: '{ pop: product_stats:clics }',
    components: score('pop'),
  },
  {
    what: 'define: a misspelt feature that nothing uses',
    features: STATS,
    define: '{ pop: product_stats:clics }',
    components: score('product_stats:ctr'),
  },
  {
    what: 'when: a feature of each candidate',
    features: STATS,
    components: `${score('1')}\n    when: product_stats:ctr > 0.1`,
  },
  {
    what: 'when: a misspelt feature',
    features: STATS,
    components: `${score('product_stats:ctr')}\n    when: product_stats:crt > 0.1`,
  },
  // rules
  {
    what: 'rule: a misspelt feature in where',
    features: STATS,
    components: step('boost', 'where: product_stats:hott, add: 1'),
  },
  {
    what: 'rule: a number as where',
    features: STATS,
    components: step('boost', 'where: product_stats:ctr, add: 1'),
  },
  {
    what: 'rule: a misspelt feature as an amount',
    features: STATS,
    components: step('boost', 'add: product_stats:click'),
  },
  {
    what: 'rule: a text as an amount',
    features: STATS,
    components: step('boost', 'add: product_stats:label'),
  },
  {
    what: 'rule: a misspelt feature in a filter',
    features: STATS,
    components: step('filter', 'keep: product_stats:click > 0'),
  },
  {
    what: 'rule: a text as a condition',
    features: STATS,
    components: step('bury', 'where: product_stats:label'),
  },
  // outputs of steps
  { what: 'output: a misspelt output', components: `${text}\n${score('text:bm52')}` },
  { what: 'output: an output of a misspelt step', components: `${text}\n${score('txt:bm25')}` },
  {
    what: 'output: an output before the step that produces it',
    components: `${score('text:bm25')}\n${text}`,
  },
  {
    what: 'output: steps in a circle',
    components: `${step('linear', 'weights: { "two:score": 1 }').replace('linear', 'linear\n    as: one')}\n${step('linear', 'weights: { "one:score": 1 }').replace('linear', 'linear\n    as: two')}`,
  },
  // models
  {
    what: 'model: a misspelt feature among the weights',
    features: STATS,
    components: step('linear', 'weights: { product_stats:clics: 2 }'),
  },
  {
    what: 'model: a misspelt feature in a file of weights',
    features: STATS,
    components: step('linear', 'model: models/linear.json'),
  },
  {
    what: 'model: a column of LightGBM that is misspelt',
    features: STATS,
    components: step('lightgbm', 'model: models/lgbm-misspelt.txt'),
  },
  {
    what: 'model: a column of LightGBM whose view is not required',
    features: STATS,
    components: step('lightgbm', 'model: models/lgbm-unrequired.txt'),
  },
  {
    what: 'model: a column of LightGBM that nothing produces',
    features: STATS,
    components: step('lightgbm', 'model: models/lgbm-nothing.txt'),
  },
  {
    what: 'model: a column of LightGBM that is a text',
    features: STATS,
    components: step('lightgbm', 'model: models/lgbm-text.txt'),
  },
  {
    what: 'model: a misspelt feature in inputs',
    features: STATS,
    components: step(
      'lightgbm',
      'model: models/lgbm-nothing.txt, inputs: { popularity: product_stats:clics }',
    ),
  },
  {
    what: 'model: inputs for a column that the model does not have',
    features: STATS,
    components: step(
      'lightgbm',
      'model: models/lgbm-nothing.txt, inputs: { popularty: product_stats:clicks }',
    ),
  },
  {
    what: 'model: a text in inputs',
    features: STATS,
    components: step(
      'lightgbm',
      'model: models/lgbm-nothing.txt, inputs: { popularity: product_stats:label }',
    ),
  },
  {
    what: 'model: a column of XGBoost that is misspelt',
    features: STATS,
    components: step('xgboost', 'model: models/xgb-misspelt.json'),
  },
  {
    what: 'model: a column of XGBoost that is a list',
    features: STATS,
    components: step('xgboost', 'model: models/xgb-list.json'),
  },
  // plugins
  { what: 'plugin: needs a misspelt feature', features: STATS, components: '  - use: wants_misspelt' },
  { what: 'plugin: needs a view that is not required', components: '  - use: wants_unrequired' },
  { what: 'plugin: needs a misspelt output', components: `${text}\n  - use: wants_output` },
  { what: 'plugin: needs an output of a misspelt step', components: `${text}\n  - use: wants_nobody` },
  {
    what: 'plugin: an option of another type',
    features: STATS,
    components: step('rank_within', 'value: product_stats:label'),
  },
  {
    what: 'plugin: a misspelt feature in an option',
    features: STATS,
    components: step('similarity', 'vectors: [product_stats:tast, product_stats:taste]'),
  },
  {
    what: 'plugin: vectors of different sizes',
    features: STATS,
    components: step('similarity', 'vectors: [product_stats:taste, product_stats:other]'),
  },
];

describe('mistakes with features', () => {
  testMistakes(MISTAKES, FILES, 'test/unit/request/compile/golden/feature-mistakes.txt');
});
