import { expect } from 'chai';
import { lightGbmFile } from '../../bench/support/lightgbm-text.js';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

/** A LightGBM model with a stump for each column: above 0.5 it adds a power of ten, below or if unknown it adds 0. */
function model(...columns: readonly string[]): string {
  const trees = columns.map(
    (_, i) =>
      `num_leaves=2\nnum_cat=0\nsplit_feature=${i}\nthreshold=0.5\ndecision_type=10\nleft_child=-1\nright_child=-2\nleaf_value=0 ${10 ** i}`,
  );
  const header = [
    'num_class=1',
    'num_tree_per_iteration=1',
    'label_index=0',
    `max_feature_idx=${columns.length - 1}`,
    'objective=lambdarank',
    `feature_names=${columns.join(' ')}`,
    `feature_infos=${columns.map(() => '[0:1]').join(' ')}`,
  ];
  return lightGbmFile(header, trees);
}

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, title: string, brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { rank: float, price: float }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
  'models/named.txt': model('product__price', 'stats__ctr', 'half', 'first__score', 'product__brand__rank'),
  'models/first.txt': model('product__price'),
  'models/swapped.txt': model('product__price', 'stats__ctr'),
  'models/plain.txt': model('price', 'margin'),
  'models/unnamed.txt': model('Column_0', 'Column_1'),
};

const pipeline = (components: string): Record<string, string> => ({
  ...FILES,
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: {}
features: [stats]
define:
  half: stats:ctr / 2
components:
${components}
  - use: score
    with: { value: ltr:score }
`,
});

async function messageOf(components: string): Promise<string> {
  try {
    const project = await startProject(pipeline(components));
    await project.close();
  } catch (error) {
    if (error instanceof ProjectInvalidError)
      return renderDiagnostics(error.diagnostics, { color: false, width: 1000 });
    throw error;
  }
  return expect.fail('the project was accepted');
}

describe('models in a pipeline', () => {
  let project: TestProject;

  before(async () => {
    project = await startProject(
      pipeline(`  - use: lightgbm
    as: first
    with: { model: models/first.txt }
  - use: lightgbm
    as: ltr
    with: { model: models/named.txt }
`),
    );
    await project.upload('brand', { brand_id: 'b', rank: 1 });
    await project.upload(
      'product',
      { product_id: 'all', price: 1, brand: 'b' },
      { product_id: 'price', price: 1 },
      { product_id: 'none' },
    );
    await project.push('stats', { product_id: 'all', ctr: 2 });
  });

  after(() => project.close());

  it('bind columns by name: attributes, features, definitions, outputs of earlier steps, paths', async () => {
    const candidates = ['all', 'price', 'none', 'unknown'].map((product_id) => ({ product_id }));
    const ranked = await project.rank({ request_id: 'r', candidates });
    expect(scoresOf(ranked)).to.deep.equal({ all: 11111, price: 1001, none: 0, unknown: 0 });
  });

  it('warn about a file without an end marker, and name the file', async () => {
    const old = model('product__price')
      .replace('num_class=1', 'version=v2\nnum_class=1')
      .replace('end of trees\n', '\nfeature importances:\nproduct__price=1\n')
      .replace('\npandas_categorical:null\n', '');
    const files = {
      ...pipeline('  - use: lightgbm\n    as: ltr\n    with: { model: models/old.txt }'),
      'models/old.txt': old,
    };
    const aged = await startProject(files);
    const [warning, ...others] = aged.app.warnings.filter(({ code }) => code === 'component_warning');
    await aged.close();
    expect(others).to.deep.equal([]);
    expect(warning?.message).to.include('`lightgbm`: `models/old.txt` was written by LightGBM 2.0 or 2.1');
    expect(warning?.help).to.include('save it again');
  });

  it('score with an XGBoost dump and the data in the options', async () => {
    const leaf = (nodeid: number, value: number): object => ({ nodeid, leaf: value });
    const root = {
      nodeid: 0,
      depth: 0,
      split: 'product__price',
      split_condition: 5,
      yes: 1,
      no: 2,
      missing: 2,
    };
    const options = 'predict: objective, objective: "binary:logistic", base_score: 0.5';
    const dumped = await startProject({
      ...pipeline(`  - use: xgboost\n    as: ltr\n    with: { model: models/dump.json, ${options} }`),
      'models/dump.json': JSON.stringify([{ ...root, children: [leaf(1, 0), leaf(2, 1)] }]),
    });
    await dumped.upload('product', { product_id: 'low', price: 1 }, { product_id: 'high', price: 9 });
    const candidates = [{ product_id: 'low' }, { product_id: 'high' }];
    const ranked = await dumped.rank({ request_id: 'r', candidates });
    await dumped.close();
    expect(scoresOf(ranked)).to.deep.equal({ high: Math.fround(1 / (1 + Math.exp(-1))), low: 0.5 });
  });

  it('report a column that is bound to the wrong input, with its place', async () => {
    const mistakes: readonly (readonly [components: string, message: string])[] = [
      ['{ model: models/unnamed.txt }', 'the columns of the model have no names'],
      [
        '{ model: models/unnamed.txt, inputs: [product.price] }',
        'the model has 2 columns, and `inputs` has 1',
      ],
      ['{ model: models/first.txt, inputs: { price: product.price } }', 'the model has no column `price`'],
      [
        '{ model: models/first.txt, inputs: { product__price: product.title } }',
        "the model's column `product__price` needs a number, and `product.title` is not one",
      ],
      ['{ model: models/first.txt, inputs: { product__price: product.prise } }', 'product.prise'],
      ['{ model: models/named.txt }', '`first'],
      ['{ model: models/none.txt }', 'does not exist'],
      [
        '{ model: models/swapped.txt, inputs: [stats:ctr, product.price] }',
        'expected column 1 of the model, `product__price`; found `stats:ctr`, which names its column 2, `stats__ctr`; 1 more is out of order',
      ],
      [
        '{ model: models/plain.txt, inputs: [half, product.price] }',
        'found `product.price`, which names its column 1, `price`',
      ],
    ];
    for (const [options, message] of mistakes) {
      expect(await messageOf(`  - use: lightgbm\n    as: ltr\n    with: ${options}\n`)).to.include(message);
    }
  });

  it('accept a list that does not contradict the column names, and any list if the model has no names', async () => {
    for (const options of [
      '{ model: models/swapped.txt, inputs: [product.price, stats:ctr] }',
      '{ model: models/swapped.txt, inputs: [log1p(stats:ctr), product.price * 2] }',
      '{ model: models/plain.txt, inputs: [product.price, half] }',
      '{ model: models/plain.txt, inputs: [stats:ctr, half] }',
      '{ model: models/plain.txt, inputs: [product.price, product.brand.price] }',
      '{ model: models/unnamed.txt, inputs: [stats:ctr, product.price] }',
    ]) {
      const started = await startProject(pipeline(`  - use: lightgbm\n    as: ltr\n    with: ${options}\n`));
      await started.close();
    }
  });
});
