import { testMistakes, type Mistake } from '../../support/mistakes.js';

/** Mistakes with params, each with the whole message that a user sees. UPDATE_GOLDEN=1 rewrites the messages. */
const SCHEMAS = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes: { title: string, price: float, tags: list(string) }
`,
  'schemas/features/product_stats.yaml': 'view: product_stats\nof: [product]\nfeatures: { ctr: float }\n',
};

const score = (value: string): string => `  - use: score\n    with: { value: "${value}" }`;
const title = (options: string): string =>
  [
    '  - use: text_match',
    '    as: title',
    `    with: { query: query.query, field: product.title, ${options} }`,
    score('title:bm25'),
  ].join('\n');
const linear = (weight: string): string =>
  `  - use: linear\n    with: { weights: { product.price: ${weight} } }\n${score('linear:score')}`;
const fuse = (options: string): string => `  - use: fuse\n    with: { ${options} }\n${score('fuse:score')}`;

const MISTAKES: readonly Mistake[] = [
  { what: 'a misspelt param', params: '{ w_price: 1 }', components: score('w_prise * product.price') },
  { what: 'an attribute of a param', params: '{ w_price: 1 }', components: score('w_price.value') },
  { what: 'a param for a text', params: '{ w: 1 }', components: score('if(product.title == w, 1, 0)') },
  { what: 'a param for a list', params: '{ w: 1 }', components: score('sum(w)') },
  {
    what: 'a param for a condition',
    params: '{ w: 1 }',
    components: '  - use: filter\n    with: { keep: w }',
  },
  { what: 'a param that nothing uses', params: '{ w_price: 1, b: 2 }', components: score('w_price') },
  {
    what: 'a param that only an unused definition uses',
    params: '{ w: 1 }',
    define: '{ double: 2 * w }',
    components: score('product.price'),
  },
  { what: 'a text as a param', params: '{ w: heavy }', components: score('w') },
  { what: 'a quoted number as a param', params: '{ w: "1" }', components: score('w') },
  { what: 'a param without a value', params: '{ w: }', components: score('w') },
  { what: 'infinity as a param', params: '{ w: .inf }', components: score('w') },
  { what: 'half a range', params: '{ w: { value: 1, min: 0 } }', components: score('w') },
  {
    what: 'a misspelt key of a range',
    params: '{ w: { value: 1, min: 0, maxi: 2 } }',
    components: score('w'),
  },
  { what: 'a text in a range', params: '{ w: { value: 1, min: low, max: 2 } }', components: score('w') },
  { what: 'a value above its range', params: '{ w: { value: 5, min: 0, max: 3 } }', components: score('w') },
  { what: 'an empty range', params: '{ w: { value: 1, min: 1, max: 1 } }', components: score('w') },
  { what: 'a list of params', params: '[w]', components: score('1') },
  { what: 'a param with a capital letter', params: '{ W: 1 }', components: score('1') },
  { what: 'a param named as an entity', params: '{ user: 1 }', components: score('user') },
  {
    what: 'a param named as a definition',
    params: '{ dear: 1 }',
    define: '{ dear: product.price > 3 }',
    components: score('if(dear, 1, 0)'),
  },
  {
    what: 'a param named as a view',
    features: '[product_stats]',
    params: '{ product_stats: 1 }',
    components: score('product_stats:ctr + product_stats'),
  },
  {
    what: 'a param named as a step',
    params: '{ title: 1 }',
    components: title('k1: title'),
  },
  { what: 'a param named as a function', params: '{ log: 1 }', components: score('log') },
  { what: 'a param named as a word of the language', params: '{ score: 1 }', components: score('score') },
  { what: 'a misspelt param in an option', params: '{ w_price: 1 }', components: linear('w_prise') },
  { what: 'an undeclared param in an option', components: title('k1: saturation') },
  { what: 'an expression in an option', params: '{ w: 1 }', components: linear('2 * w') },
  { what: 'a param that an option does not take', params: '{ k: -1 }', components: title('k1: k') },
  {
    what: 'a range that an option does not take',
    params: '{ k: { value: 1, min: -1, max: 2 } }',
    components: title('k1: k'),
  },
  { what: 'a fraction for a whole number', params: '{ k: 0.5 }', components: limited('k') },
  {
    what: 'a range for a whole number',
    params: '{ k: { value: 10, min: 1, max: 20 } }',
    components: limited('k'),
  },
  {
    what: 'a misspelt param beside a word',
    params: '{ w_gap: 0 }',
    components: fuse('inputs: { product.price: 1 }, missing: w_gab'),
  },
];

function limited(k: string): string {
  return `  - use: category_index
    with: { of: product.title, categories: [a, b], unknown: ${k} }
${score('category_index:code')}`;
}

describe('mistakes with params', () => {
  testMistakes(MISTAKES, SCHEMAS, 'test/unit/compile/golden/param-mistakes.txt');
});
