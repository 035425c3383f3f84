import { testMistakes, type Mistake } from '../../../support/mistakes.js';

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
  mistake('a misspelt param', '{ w_price: 1 }', score('w_prise * product.price')),
  mistake('an attribute of a param', '{ w_price: 1 }', score('w_price.value')),
  mistake('a param for a text', '{ w: 1 }', score('if(product.title == w, 1, 0)')),
  mistake('a param for a list', '{ w: 1 }', score('sum(w)')),
  mistake('a param for a condition', '{ w: 1 }', '  - use: filter\n    with: { keep: w }'),
  mistake('a param that nothing uses', '{ w_price: 1, b: 2 }', score('w_price')),
  mistake('a param that only an unused definition uses', '{ w: 1 }', score('product.price'), {
    define: '{ double: 2 * w }',
  }),
  mistake('a text as a param', '{ w: heavy }', score('w')),
  mistake('a quoted number as a param', '{ w: "1" }', score('w')),
  mistake('a param without a value', '{ w: }', score('w')),
  mistake('infinity as a param', '{ w: .inf }', score('w')),
  mistake('half a range', '{ w: { value: 1, min: 0 } }', score('w')),
  mistake('a misspelt key of a range', '{ w: { value: 1, min: 0, maxi: 2 } }', score('w')),
  mistake('a text in a range', '{ w: { value: 1, min: low, max: 2 } }', score('w')),
  mistake('a value above its range', '{ w: { value: 5, min: 0, max: 3 } }', score('w')),
  mistake('an empty range', '{ w: { value: 1, min: 1, max: 1 } }', score('w')),
  mistake('a list of params', '[w]', score('1')),
  mistake('a param with a capital letter', '{ W: 1 }', score('1')),
  mistake('a param named as an entity', '{ user: 1 }', score('user')),
  mistake('a param named as a definition', '{ dear: 1 }', score('if(dear, 1, 0)'), {
    define: '{ dear: product.price > 3 }',
  }),
  mistake('a param named as a view', '{ product_stats: 1 }', score('product_stats:ctr + product_stats'), {
    features: '[product_stats]',
  }),
  mistake('a param named as a step', '{ title: 1 }', title('k1: title')),
  mistake('a param named as a word of the language', '{ score: 1 }', score('score')),
  mistake('a misspelt param in an option', '{ w_price: 1 }', linear('w_prise')),
  { what: 'an undeclared param in an option', components: title('k1: saturation') },
  mistake('an expression in an option', '{ w: 1 }', linear('2 * w')),
  mistake('a param that an option does not take', '{ k: -1 }', title('k1: k')),
  mistake('a range that an option does not take', '{ k: { value: 1, min: -1, max: 2 } }', title('k1: k')),
  mistake('a fraction for a whole number', '{ k: 0.5 }', limited('k')),
  mistake('a range for a whole number', '{ k: { value: 10, min: 1, max: 20 } }', limited('k')),
  mistake(
    'a misspelt param beside a word',
    '{ w_gap: 0 }',
    fuse('inputs: { product.price: 1 }, missing: w_gab'),
  ),
];

function mistake(
  what: string,
  params: string,
  components: string,
  more: Pick<Mistake, 'define' | 'features'> = {},
): Mistake {
  return { what, params, components, ...more };
}

function limited(k: string): string {
  return `  - use: category_index
    with: { of: product.title, categories: [a, b], unknown: ${k} }
${score('category_index:code')}`;
}

describe('mistakes with params', () => {
  testMistakes(MISTAKES, SCHEMAS, 'test/unit/request/compile/golden/param-mistakes.txt');
});
