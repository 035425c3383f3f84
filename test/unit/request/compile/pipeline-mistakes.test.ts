import { lightGbmFile } from '../../../../bench/support/lightgbm-text.js';
import { testMistakes, type Mistake } from '../../../support/mistakes.js';

/** Mistakes in a pipeline, each with the whole message that a user sees. UPDATE_GOLDEN=1 rewrites the messages. */
const SCHEMAS = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  released: timestamp
  brand: ref(brand)
  tags: list(string)
  similar: list(ref(product))
  embedding: vector(4)
  variants: { list: { sku: string, price: float, seller: ref(brand) } }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, owner: ref(brand) }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite: ref(brand), age: int }\n',
  'schemas/features/product_stats.yaml':
    'view: product_stats\nof: [product]\nfeatures: { ctr: float, clicks: int }\n',
  'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { ctr: float }\n',
  'schemas/features/taste.yaml': 'view: taste\nof: [user, brand]\nfeatures: { clicks: int }\n',
};

/** A LightGBM model with a stump for each column. */
const model = (...columns: readonly string[]): string =>
  lightGbmFile(
    [
      'num_class=1',
      'num_tree_per_iteration=1',
      'label_index=0',
      `max_feature_idx=${columns.length - 1}`,
      'objective=lambdarank',
      `feature_names=${columns.join(' ')}`,
      `feature_infos=${columns.map(() => '[0:1]').join(' ')}`,
    ],
    columns.map(
      (_, i) =>
        `num_leaves=2\nnum_cat=0\nsplit_feature=${i}\nthreshold=0.5\ndecision_type=10\nleft_child=-1\nright_child=-2\nleaf_value=0 1`,
    ),
  );

const TEXT = '  - use: text_match\n    as: title\n    with: { query: query.query, field: product.title }';
const LTR = '  - use: lightgbm\n    as: ltr\n    with: { model: models/named.txt }';

const score = (value: string): string => `  - use: score\n    with:\n      value: ${value}`;

const MISTAKES: readonly Mistake[] = [
  { what: 'a misspelt attribute', components: score('product.pirce') },
  {
    what: 'a misspelt attribute of a referenced entity',
    components: score('if(product.brand.nmae == "x", 1, 0)'),
  },
  { what: 'a misspelt entity', components: score('prodct.price') },
  {
    what: 'the id of a reference by its other spelling',
    components: score('if(product.brand_id == "x", 1, 0)'),
  },
  { what: 'an attribute of a text', components: score('product.title.length') },
  { what: 'a list of records as a value', components: score('count(product.variants)') },
  { what: 'a misspelt field of a record', components: score('max(product.variants.prize)') },
  { what: 'a view that is not required', components: score('product_stats:ctr') },
  { what: 'a misspelt feature', features: '[product_stats]', components: score('product_stats:crt') },
  {
    what: 'a misspelt view in an expression',
    features: '[product_stats]',
    components: score('product_stat:ctr'),
  },
  {
    what: 'a misspelt view in a binding with the name of another view',
    features: '[brand_stats: "brand_statz(product.brand)"]',
    components: score('brand_stats:ctr'),
  },
  { what: 'a misspelt view in features', features: '[product_statz]', components: score('1') },
  { what: 'a misspelt feature in features', features: '["product_stats:ctrr"]', components: score('1') },
  { what: 'a dot for a colon', features: '[product_stats]', components: score('product_stats.ctr') },
  { what: 'a colon for a dot', components: score('product:price') },
  {
    what: 'a view that needs written paths',
    features: '[brand_stats]',
    components: score('brand_stats:ctr'),
  },
  {
    what: 'a binding to the wrong entity',
    features: '[b: "brand_stats(user)"]',
    components: score('b:ctr'),
  },
  {
    what: 'a binding through a list',
    features: '[b: "brand_stats(product.variants.seller)"]',
    components: score('b:ctr'),
  },
  { what: 'a binding with too few paths', features: '[t: "taste(user)"]', components: score('t:clicks') },
  {
    what: 'a misspelt path in a binding',
    features: '[b: "brand_stats(product.brnd)"]',
    components: score('b:ctr'),
  },
  { what: 'a requirement that nothing uses', features: '[product_stats]', components: score('1') },
  { what: 'a definition that nothing uses', define: '{ margin: product.price * 2 }', components: score('1') },
  {
    what: 'definitions that only an unused definition uses',
    define: '{ dear: cost > 2, cost: product.price, kept: "1" }',
    components: score('kept'),
  },
  {
    what: 'a step whose outputs nothing reads',
    components: `  - use: text_match\n    with: { query: query.query, field: product.title }\n${score('1')}`,
  },
  {
    what: 'no step that sets the score',
    define: '{ dear: product.price > 2 }',
    components: `  - use: bury\n    with: { where: dear }\n  - use: boost\n    with: { where: dear, multiply: 2 }\n  - use: pin\n    with: { positions: { 1: p } }`,
  },
  { what: 'no step at all', components: '  []' },
  {
    what: 'an output that no step uses as the score',
    components: '  - use: fuse\n    as: both\n    with: { inputs: { product.price: 1 } }',
  },
  {
    what: 'an output before the step that produces it',
    components: `${score('text:bm25')}\n  - use: text_match\n    as: text\n    with: { query: query.query, field: product.title }`,
  },
  {
    what: 'a misspelt output',
    components: `  - use: text_match\n    as: text\n    with: { query: query.query, field: product.title }\n${score('text:bm52')}`,
  },
  {
    what: 'two steps that produce under one name',
    components: `  - use: text_match\n    with: { query: query.query, field: product.title }\n  - use: text_match\n    with: { query: query.query, field: product.title }`,
  },
  { what: 'a misspelt plugin', components: '  - use: bost\n    with: { add: 1 }' },
  { what: 'a plugin in capital letters', components: '  - use: BOOST\n    with: { add: 1 }' },
  { what: 'a misspelt option', components: '  - use: boost\n    with: { ad: 1 }' },
  { what: 'an option of the wrong type', components: '  - use: bury\n    with: { where: product.price }' },
  {
    what: 'a condition of the request that names a candidate',
    components: `${score('1')}\n    when: product.price > 1`,
  },
  { what: 'definitions in a circle', define: '{ a: b + 1, b: a + 1 }', components: score('a') },
  { what: 'a definition that uses score', define: '{ a: score + 1 }', components: score('a') },
  {
    what: 'a mistake in a definition that nothing uses',
    define: '{ a: product.nothing }',
    components: score('1'),
  },
  {
    what: 'a definition named like a word of the language',
    define: '{ and: product.price }',
    components: score('1'),
  },
  { what: 'a misspelt definition', define: '{ margin: product.price }', components: score('margn') },
  { what: 'yes for true', components: '  - use: filter\n    with: { keep: yes }' },
  {
    what: 'a position that is not a number',
    components: '  - use: pin\n    with: { positions: { first: p1 } }',
  },
  { what: 'a text where a number is expected', components: score('product.title') },
  {
    what: 'a file that does not exist',
    components: '  - use: linear\n    with: { model: models/none.json }',
  },
  { what: 'a misspelt file', components: '  - use: linear\n    with: { model: models/weight.json }' },
  { what: 'a folder as a file', components: '  - use: linear\n    with: { model: models }' },
  { what: 'a file outside the project', components: '  - use: linear\n    with: { model: ../secret.json }' },
  {
    what: 'a weight of a feature that does not exist',
    features: '[product_stats]',
    components: '  - use: linear\n    with: { weights: { product_stats:ctr: 1, product_stats:clix: 2 } }',
  },
  {
    what: 'model columns that match no name',
    features: '[product_stats]',
    components: `${TEXT}\n  - use: lightgbm\n    as: ltr\n    with: { model: models/unbound.txt }\n${score('ltr:score + title:bm25')}`,
  },
  {
    what: 'wrong names for columns of a model',
    components: `  - use: lightgbm\n    as: ltr\n    with: { model: models/named.txt, inputs: { price: product.price, product__price: product.title, cost: 1 } }`,
  },
  {
    what: 'inputs of a model in another order than its columns',
    features: '[product_stats]',
    components: `  - use: lightgbm\n    as: ltr\n    with: { model: models/named.txt, inputs: [product_stats:ctr, product.price] }\n${score('ltr:score')}`,
  },
  {
    what: 'inputs of a model with one that names a column at another position',
    features: '[product_stats]',
    components: `  - use: lightgbm\n    as: ltr\n    with:\n      model: models/plain.txt\n      inputs:\n        - product.price * 2\n        - product.price\n        - product_stats:clicks\n${score('ltr:score')}`,
  },
  {
    what: 'a step with one output as a value',
    features: '[product_stats]',
    components: `${LTR}\n${score('ltr')}`,
  },
  { what: 'a step with several outputs as a value', components: `${TEXT}\n${score('title')}` },
  {
    what: 'a view as a value',
    features: '[product_stats]',
    components: score('product_stats'),
  },
  {
    what: 'a feature of a view with a space after the colon',
    features: '[product_stats: ctr]',
    components: score('1'),
  },
  {
    what: 'a searched field that is not a text',
    components:
      '  - use: text_match\n    as: t\n    with: { query: query.query, fields: { product.price: 2, product.released: 1 } }',
  },
  { what: 'a function of numpy', components: score('np.log(product.price)') },
  { what: 'an attribute without its entity', components: score('price') },
  { what: 'a feature without its view', features: '[product_stats]', components: score('clicks') },
  { what: 'a feature of a view that is not required, without the view', components: score('clicks') },
  {
    what: 'a feature that two views have',
    features: '[product_stats, b: "brand_stats(product.brand)"]',
    components: score('ctr'),
  },
  {
    what: 'several at once',
    features: '[product_stats]',
    components: `${score('product.pirce + product_stats:crt')}\n  - use: bost`,
  },
];

const FILES = {
  ...SCHEMAS,
  'models/weights.json': '{}',
  'models/named.txt': model('product__price', 'product_stats__ctr'),
  'models/plain.txt': model('rating', 'margin', 'price'),
  'models/unbound.txt': model(
    'clicks',
    'title_bm25',
    'product_stats__crt',
    'product__price',
    'Age',
    'price',
    'nothing',
  ),
};

describe('mistakes in a pipeline', () => {
  testMistakes(MISTAKES, FILES, 'test/unit/request/compile/golden/pipeline-mistakes.txt');
});
