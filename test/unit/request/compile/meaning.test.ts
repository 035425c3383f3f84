import { testMistakes, type Mistake } from '../../../support/mistakes.js';

const FILES = {
  'schemas/entities/product.yaml': `entity: product
attributes: { title: string, price: float, rating: float, stock: int, sold: bool, brand: ref(brand), added: timestamp }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
};

const SCORE = '  - { use: score, with: { value: product.price } }';

/** Parts that can only be a mistake; each is a warning. */
const MISTAKES: readonly Mistake[] = [
  {
    what: 'a threshold that the operand cannot reach',
    components: `${SCORE}\n  - { use: boost, with: { where: hour(now()) > 23, add: 1 } }`,
  },
  {
    what: 'an hour that is written as a fraction',
    components: `${SCORE}\n  - { use: boost, with: { where: product.stock == 0.5, add: 1 } }`,
  },
  {
    what: 'capital letters after lower()',
    components: `${SCORE}\n  - { use: bury, with: { where: lower(product.title) == "TV" } }`,
  },
  {
    what: 'a part with capital letters after lower()',
    components: `${SCORE}\n  - { use: bury, with: { where: 'contains(lower(product.title), "OLED")' } }`,
  },
  {
    what: 'a text that a definition never gives',
    define: '{ size: \'if(product.price > 100, "large", "small")\' }',
    components: `${SCORE}\n  - { use: boost, with: { where: size == "big", add: 1 } }`,
  },
  {
    what: 'two conditions that exclude each other',
    components: `${SCORE}\n  - { use: boost, with: { where: product.price < 5 and product.price > 10, add: 1 } }`,
  },
  {
    what: 'a rule that contradicts an earlier filter',
    components: `  - { use: filter, with: { keep: product.stock > 0 } }\n${SCORE}\n  - { use: bury, with: { where: product.stock <= 0 } }`,
  },
  {
    what: 'a text that an earlier filter has removed',
    components: `  - { use: filter, with: { keep: 'product.brand in ("lumen", "acme")' } }\n${SCORE}\n  - { use: boost, with: { where: product.brand == "zenit", multiply: 2 } }`,
  },
  {
    what: 'a condition that an earlier filter makes true',
    components: `  - { use: filter, with: { keep: product.price > 10, absent: drop } }\n${SCORE}\n  - { use: boost, with: { where: product.price > 5, add: 1 } }`,
  },
  {
    what: 'a default after a filter on known values',
    components: `  - { use: filter, with: { keep: known(product.price) } }\n  - { use: score, with: { value: 'coalesce(product.price, 0)' } }`,
  },
  {
    what: 'a filter that removes everything',
    components: `  - { use: filter, with: { keep: weekday(now()) == 0, absent: drop } }\n${SCORE}`,
  },
  {
    what: 'a filter that is never true where its value is known',
    components: `  - { use: filter, with: { keep: length(product.title) < 0 } }\n${SCORE}`,
  },
  {
    what: 'a step that is switched off',
    components: `${SCORE}\n  - { use: boost, when: false, with: { add: 1 } }`,
  },
  {
    what: 'an output of a step that never runs',
    components: `  - { use: linear, as: model, when: 1 > 2, with: { weights: { product.price: 1 } } }\n  - { use: score, with: { value: 'coalesce(model:score, 0)' } }`,
  },
  {
    what: 'a division by zero',
    components: '  - { use: score, with: { value: product.price / 0 } }',
  },
  {
    what: 'a default of a value that is always known',
    components: `${SCORE}\n  - { use: boost, with: { add: 1, where: 'coalesce(known(product.price), false)' } }`,
  },
  {
    what: 'a factor before the score is set',
    components: `  - { use: boost, with: { where: product.sold, multiply: 2 } }\n${SCORE}`,
  },
  {
    what: 'a score that is read before it is set',
    components: `  - { use: bury, with: { where: score > 0 } }\n${SCORE}`,
  },
  {
    what: 'a threshold above the range of a param',
    params: '{ w: { value: 0.5, min: 0, max: 1 } }',
    components: `${SCORE}\n  - { use: boost, with: { where: w > 2, add: 1 } }`,
  },
  {
    what: 'weights that are all 0',
    components:
      '  - { use: linear, as: model, with: { weights: { product.price: 0, product.rating: 0 } } }\n  - { use: score, with: { value: model:score } }',
  },
  {
    what: 'a pin beyond the page',
    components: `${SCORE}\n  - { use: pin, with: { positions: { 200: p1 } } }`,
  },
];

describe('warnings of parts that can only be a mistake', () => {
  testMistakes(MISTAKES, FILES, 'test/unit/request/compile/golden/meaning.txt');
});
