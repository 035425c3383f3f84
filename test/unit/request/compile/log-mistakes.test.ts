import { testMistakes, type Mistake } from '../../../support/mistakes.js';

/** Mistakes under `log:`, each with the whole message that a user sees. UPDATE_GOLDEN=1 rewrites the messages. */
const SCHEMAS = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes: { title: string, price: float, cost: { type: float, private: true } }
`,
  'schemas/entities/user.yaml': 'entity: user\nattributes: { country: string }\n',
  'schemas/features/product_stats.yaml': 'view: product_stats\nof: [product]\nfeatures: { ctr: float }\n',
};

const components = `  - use: text_match
    as: title
    with: { query: query.query, field: product.title }
  - use: score
    with: { value: title:bm25 }`;

const log = (what: string, text: string, more: Partial<Mistake> = {}): Mistake => ({
  what,
  components,
  log: text,
  ...more,
});

const MISTAKES: readonly Mistake[] = [
  log('a word instead of a mapping', 'all'),
  log('nothing', ''),
  log('a misspelt key', '{ feature: all }'),
  log('a share that is a number', '{ share: 0.2 }'),
  log('a share above 100%', '{ share: 120% }'),
  log('a share that is a word', '{ share: half }'),
  log('a misspelt unit', '{ unit: usr }'),
  log('a unit that is no entity of the request', '{ unit: brand }'),
  log('a unit that is what is ranked', '{ unit: product }'),
  log('other candidates', '{ candidates: best }'),
  log('a sample of all', '{ candidates: all, sample: 5 }'),
  log('a negative sample', '{ sample: -1 }'),
  log('a word for features', '{ features: model }'),
  log('a misspelt word for features', '{ features: modles }'),
  log('a misspelt word in a list of features', '{ features: [modles] }'),
  log('a misspelt attribute', '{ features: [product.prise] }'),
  log('a misspelt definition', '{ features: [margn] }', { define: '{ margin: product.price / 2 }' }),
  log('a misspelt output', '{ features: [title:bm52] }'),
  log('a view that is not required', '{ features: [product_stats:ctr] }'),
  log('a misspelt feature', '{ features: [product_stats:crt] }', { features: '[product_stats]' }),
  log('an unknown name', '{ features: [popularity] }'),
  log('an expression', '{ features: [product.price * 2] }'),
  log('the score', '{ features: [score] }'),
  log('a param', '{ features: [w] }', {
    params: '{ w: 1 }',
    components: '  - { use: score, with: { value: w * product.price } }',
  }),
  log('a private value', '{ features: [product.cost] }'),
  log('a number as a name', '{ features: [[1]] }'),
  log('a misspelt type', '{ hash: [usr] }'),
  log('the request as a type', '{ hash: [request] }'),
  log('a word for types', '{ hash: user }'),
];

describe('mistakes under log', () => {
  testMistakes(MISTAKES, SCHEMAS, 'test/unit/request/compile/golden/log-mistakes.txt');
});
