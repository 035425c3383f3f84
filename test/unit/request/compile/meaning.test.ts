import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { compileProject } from '../../../../runtime/serve/app/project/compile-project.js';
import { writeProject } from '../../../support/project.js';
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
    what: 'a score of a model that can be absent and negative',
    components:
      '  - { use: linear, as: model, with: { weights: { product.price: 1 } } }\n  - { use: score, with: { value: model:score } }',
  },
  {
    what: 'a model that is absent for some, added to the score so far',
    components: `${SCORE}\n  - { use: linear, as: model, with: { weights: { product.rating: 1 } } }\n  - { use: score, as: sum, with: { value: score + model:score } }`,
  },
  {
    what: 'a step that does not set the score, and says what happens without one',
    components: `${SCORE}\n  - { use: boost, unscored: last, with: { add: 1 } }`,
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
      '  - { use: linear, as: model, with: { weights: { product.price: 0, product.rating: 0 } } }\n  - { use: score, unscored: keep, with: { value: model:score } }',
  },
  {
    what: 'a pin beyond the page',
    components: `${SCORE}\n  - { use: pin, with: { positions: { 200: p1 } } }`,
  },
];

describe('warnings of parts that can only be a mistake', () => {
  testMistakes(MISTAKES, FILES, 'test/unit/request/compile/golden/meaning.txt');
});

describe('`unscored`', () => {
  it('is not advised for a value that falls back to the score so far, which is what `keep` keeps', async () => {
    const steps = `${SCORE}\n  - { use: linear, as: deep, top: 9, with: { weights: { product.rating: 1 } } }\n  - { use: score, as: second, top: 9, with: { value: 'coalesce(deep:score, score)' } }\n`;
    expect(await diagnose(`rank: product\ncomponents:\n${steps}`)).to.equal('');
  });

  it('is refused in a pipeline that orders nothing', async () => {
    const steps = '  - { use: score, unscored: last, with: { value: product.price } }\n';
    expect(await diagnose(`score: product\ncomponents:\n${steps}`)).to.equal(
      `pipelines/ranking.yaml:4:29: error[unknown_key]: \`ranking\` scores rows and
    orders nothing, so \`unscored\` does nothing
 4 |   - { use: score, unscored: last, with: { value: product.price } }
   |                             ^^^^
   help: remove it

1 error`,
    );
  });

  async function diagnose(pipeline: string): Promise<string> {
    const root = await writeProject({ ...FILES, 'pipelines/ranking.yaml': `pipeline: ranking\n${pipeline}` });
    try {
      const { diagnostics } = await compileProject(root);
      return renderDiagnostics(diagnostics, { color: false, width: 80 });
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  }
});
