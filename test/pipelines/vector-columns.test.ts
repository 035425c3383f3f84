/** Vectors as columns of tree models. */
import { expect } from 'chai';
import { lightGbmFile } from '../../bench/support/lightgbm-text.js';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { scoresOf, startProject } from '../support/project.js';

/** A model with a stump for each column: above 0.5 it adds a power of ten, below or if unknown it adds 0. */
function model(...columns: readonly string[]): string {
  const trees = columns.map(
    (_, i) =>
      `num_leaves=2\nnum_cat=0\nsplit_feature=${i}\nthreshold=0.5\ndecision_type=10\nleft_child=-1\nright_child=-2\nleaf_value=0 ${10 ** i}`,
  );
  const header = [
    ...['num_class=1', 'num_tree_per_iteration=1', 'label_index=0', 'objective=lambdarank'],
    `max_feature_idx=${columns.length - 1}`,
    `feature_names=${columns.join(' ')}`,
    `feature_infos=${columns.map(() => '[0:1]').join(' ')}`,
  ];
  return lightGbmFile(header, trees);
}

const files = (columns: readonly string[], inputs = ''): Record<string, string> => ({
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, embedding: vector(3), scores: list(float) }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { taste: vector(3) }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { "v__1": float, vec: vector(2) }\n',
  'models/m.txt': model(...columns),
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {}, user: optional(user) }
features: [stats]
define:
  pair: vector(product.scores, 2)
components:
  - use: lightgbm
    as: ltr
    with:
      model: models/m.txt
${inputs}
  - use: score
    with: { value: ltr:score }
`,
});

async function scores(columns: readonly string[], inputs?: string): Promise<Record<string, number>> {
  const project = await startProject(files(columns, inputs));
  try {
    await project.upload(
      'product',
      { product_id: 'a', price: 1, embedding: [1, 0, 1], scores: [0, 1] },
      { product_id: 'b', price: 0, embedding: [0, 0.1, 0], scores: [1, 1, 1] },
      { product_id: 'c', price: 1, embedding: null, scores: [] },
    );
    await project.upload('user', { user_id: 'u', taste: [1, 1, 0] });
    await project.push('stats', { product_id: 'a', v__1: 1, vec: [0, 1] });
    const candidates = ['a', 'b', 'c', 'lost'].map((product_id) => ({ product_id }));
    return scoresOf(await project.rank({ candidates, user: { user_id: 'u' } }));
  } finally {
    await project.close();
  }
}

async function messages(columns: readonly string[], inputs: string): Promise<string[]> {
  const error: unknown = await startProject(files(columns, inputs)).catch((caught: unknown) => caught);
  if (!(error instanceof ProjectInvalidError)) return expect.fail('the project was accepted');
  return error.diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ message, help }) => [message, help].filter((one) => one !== undefined).join(' / '));
}

describe('vectors as columns of a model', () => {
  it('bind by the names of their elements', async () => {
    const columns = ['product__price', 'product__embedding__0', 'product__embedding__2', 'pair__1'];
    expect(await scores(columns)).to.deep.equal({ a: 1111, b: 0, c: 1, lost: 0 });
  });

  it('bind by the names of features, whose own names may end with a number', async () => {
    expect(await scores(['stats__vec__1', 'stats__v__1'])).to.deep.equal({ a: 11, b: 0, c: 0, lost: 0 });
  });

  it('stand for as many entries of a list', async () => {
    const inputs = '      inputs: [product.price, product.embedding, user.taste]';
    const columns = Array.from({ length: 7 }, (_, i) => `Column_${i}`);
    expect(await scores(columns, inputs)).to.deep.equal({ a: 111011, b: 110000, c: 110001, lost: 110000 });
  });

  it('stand for the columns of a name', async () => {
    const inputs = '      inputs: { emb: product.embedding, pair: pair }';
    const columns = ['emb__0', 'emb__1', 'emb__2', 'product__price', 'pair__0', 'pair__1'];
    expect(await scores(columns, inputs)).to.deep.equal({ a: 101101, b: 0, c: 1000, lost: 0 });
  });

  it('report a wrong number of columns', async () => {
    expect(await messages(['emb__0', 'emb__1'], '      inputs: { emb: product.embedding }')).to.deep.equal([
      '`product.embedding` is a vector(3), and the model has 2 columns `emb__0`, `emb__1` …',
    ]);
    expect(await messages(['emb'], '      inputs: { emb: product.embedding }')).to.deep.equal([
      '`product.embedding` is a vector(3), and the model has 0 columns `emb__0`, `emb__1` … / the column `emb` is one number: write `product.embedding[0]`',
    ]);
    expect(await messages(['Column_0', 'Column_1'], '      inputs: [product.embedding]')).to.deep.equal([
      'the model has 2 columns, and `inputs` has 3, of which `product.embedding` gives 3',
    ]);
    expect(await messages(['product__embedding__3'], '')).to.deep.equal([
      "the model's column `product__embedding__3`: `product.embedding` is a vector(3): its elements are 0 to 2 / the last one is `last(product.embedding)`",
    ]);
  });

  it('report a list of numbers, which has no fixed length', async () => {
    expect(await messages(['s'], '      inputs: { s: product.scores }')).to.deep.equal([
      "the model's column `s` needs a number, and `product.scores` is not one / write `vector(product.scores, n)` for n columns, or one element as `product.scores[0]`",
    ]);
  });
});
