import { testMistakes, type Mistake } from '../../../support/mistakes.js';

/** Mistakes in the step `explore`, each with the whole message that a user sees. UPDATE_GOLDEN=1 rewrites the messages. */
const SCHEMAS = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, brand: string }\n',
  'schemas/entities/user.yaml': 'entity: user\n',
};

const explore = (what: string, options: string, more = ''): Mistake => ({
  what,
  components: `  - { use: score, with: { value: product.price } }
  - use: explore
    with: ${options}${more}`,
});

const MISTAKES: readonly Mistake[] = [
  explore('no options', '{}'),
  explore('a misspelt method', '{ method: placket_luce, temperature: 1, top: 10 }'),
  explore('a method without its option', '{ method: swap, top: 10 }'),
  explore('the option of another method', '{ method: swap, probability: 0.2, temperature: 1, top: 10 }'),
  explore('a misspelt option', '{ method: plackett_luce, temprature: 1, top: 10 }'),
  explore('a temperature of 0', '{ method: plackett_luce, temperature: 0, top: 10 }'),
  explore('a share instead of a probability', '{ method: swap, probability: 20%, top: 10 }'),
  explore('a probability that swaps nearly always', '{ method: swap, probability: 1, top: 10 }'),
  explore('an epsilon above 1', '{ method: epsilon_greedy, epsilon: 10, top: 10 }'),
  explore('one place', '{ method: swap, probability: 0.2, top: 1 }'),
  explore('too many places', '{ method: swap, probability: 0.2, top: 1000 }'),
  explore(
    'two steps that explore',
    '{ method: swap, probability: 0.2, top: 10 }',
    '\n  - use: explore\n    as: again\n    with: { method: epsilon_greedy, epsilon: 0.1, top: 10 }',
  ),
  ...[
    '- { use: limit, with: { by: product.brand, most: 1, within: 3 } }',
    '- { use: diversify, with: { by: product.brand } }',
    '- { use: limit, as: few, with: { by: product.brand, most: 1, within: page } }',
  ].map((step) => ({
    what: `a draw over places that a rule arranges: ${step}`,
    components: `  - { use: score, with: { value: product.price } }
  ${step}
  - use: explore
    with: { method: swap, probability: 0.2, top: 30 }`,
  })),
];

describe('mistakes in explore', () => {
  testMistakes(MISTAKES, SCHEMAS, 'test/unit/request/compile/golden/explore-mistakes.txt');
});
