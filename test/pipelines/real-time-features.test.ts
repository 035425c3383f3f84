import { expect } from 'chai';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes:\n  price: float\n  kind: string\n  brand: ref(brand)\n  tags: list(string)\n  embedding: vector(3)\n  thumbnail: vector(2)\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { embedding: vector(3), tags: list(string) }\n',
  'schemas/features/item_vectors.yaml': 'view: item_vectors\nof: [product]\nfeatures: { taste: vector(3) }\n',
  'models/brands.csv': 'category,code\nlumen,4\n007,9\n',
};

const pipeline = (components: string): Record<string, string> => ({
  ...FILES,
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {}, user: user }
features: [item_vectors]
components:
${components}
`,
});

/** A step, followed by a score from its outputs. */
const scored = (step: string, value: string): Record<string, string> =>
  pipeline(`${step}\n  - use: score\n    with: { value: "${value}" }`);

const VECTORS =
  '  - use: similarity\n    as: taste\n    with: { vectors: [product.embedding, user.embedding] }';

describe('real-time features in a pipeline', () => {
  let project: TestProject | undefined;

  async function start(files: Record<string, string>): Promise<TestProject> {
    project = await startProject(files);
    await project.upload(
      'product',
      { product_id: 'a', price: 10, kind: 'Lamps', brand: 'lumen', tags: ['x', 'y'], embedding: [1, 0, 0] },
      { product_id: 'b', price: 30, kind: 'Sofas', brand: '007', tags: ['z'], embedding: [0, 2, 0] },
      { product_id: 'c', price: 20, kind: 'Toys', brand: 'other', embedding: [0, 0, 0] },
    );
    await project.upload('user', { user_id: 'u', embedding: [3, 4, 0], tags: ['y', 'z'] });
    await project.push('item_vectors', { product_id: 'a', taste: [2, 2, 1] });
    return project;
  }

  const scores = async (files: Record<string, string>): Promise<Record<string, number>> => {
    const { rank } = await start(files);
    const candidates = ['a', 'b', 'c', 'lost'].map((product_id) => ({ product_id }));
    return scoresOf(await rank({ candidates, user: { user_id: 'u' } }));
  };

  async function mistakes(files: Record<string, string>): Promise<string[]> {
    const error: unknown = await startProject(files).catch((caught: unknown) => caught);
    if (!(error instanceof ProjectInvalidError)) throw new Error('the project has no mistake');
    return error.diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ at, message }) => `${at.file.text.slice(at.start, at.end)}: ${message}`);
  }

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  it('similarity of a candidate and the user, hydrated', async () => {
    const value = 'coalesce(taste:cosine, -1)';
    expect(await scores(scored(VECTORS, value))).to.deep.equal({ a: 0.6, b: 0.8, c: -1, lost: -1 });
  });

  it('similarity of an attribute and a feature', async () => {
    const step = '  - use: similarity\n    with: { vectors: [item_vectors:taste, product.embedding] }';
    const value = 'coalesce(similarity:dot, -1)';
    expect(await scores(scored(step, value))).to.deep.equal({ a: 2, b: -1, c: -1, lost: -1 });
  });

  it('similarity of lists', async () => {
    const step = '  - use: similarity\n    with: { texts: [user.tags, product.tags] }';
    const value = 'coalesce(similarity:jaccard, -1)';
    expect(await scores(scored(step, value))).to.deep.equal({ a: 1 / 3, b: 1 / 2, c: -1, lost: -1 });
  });

  it('rank_within the candidates that a filter keeps', async () => {
    const steps = `  - use: filter
    with: { keep: product.price != 30 }
  - use: rank_within
    as: price
    with: { value: product.price }`;
    const value = 'coalesce(price:rank, 9)';
    expect(await scores(scored(steps, value))).to.deep.equal({ a: 2, c: 1, lost: 9 });
  });

  it('category_index of a reference, from a file, by ids as written', async () => {
    const step =
      '  - use: category_index\n    with: { of: product.brand, file: models/brands.csv, unknown: -1 }';
    const value = 'coalesce(category_index:code, -2)';
    expect(await scores(scored(step, value))).to.deep.equal({ a: 4, b: 9, c: -1, lost: -2 });
    await project?.close();
    const list = '  - use: category_index\n    with: { of: product.brand, categories: [lumen, 007] }';
    expect(await scores(scored(list, value))).to.deep.equal({ a: 0, b: 1, c: -2, lost: -2 });
  });

  it('one_hot with outputs as conditions', async () => {
    const step =
      '  - use: one_hot\n    as: kind\n    with: { of: product.kind, categories: { lamps: Lamps, sofas: Sofas } }';
    const value = 'if(kind:lamps, 1, if(kind:sofas or kind:other, 2, 3))';
    expect(await scores(scored(step, value))).to.deep.equal({ a: 1, b: 2, c: 2, lost: 0 });
  });

  const wrong: readonly [string, string, string][] = [
    [
      'vectors of different sizes',
      '  - use: similarity\n    with: { vectors: [product.thumbnail, user.embedding] }',
      'user.embedding: `user.embedding` is a vector(3), `product.thumbnail` a vector(2)',
    ],
    [
      'an input that is not a vector',
      '  - use: similarity\n    with: { vectors: [product.price, user.embedding] }',
      'product.price: expected a vector, but `product.price` is a number',
    ],
    [
      'an undeclared vector',
      '  - use: similarity\n    with: { vectors: [product.embeding, user.embedding] }',
      'embeding: entity type `product` has no attribute `embeding`',
    ],
    [
      'a single vector',
      '  - use: similarity\n    with: { vectors: [user.embedding] }',
      '[user.embedding]: `vectors`: must have at least 2 items',
    ],
    [
      'a rank of texts',
      '  - use: rank_within\n    with: { value: product.kind }',
      'product.kind: expected a number, but `product.kind` is a text',
    ],
    [
      'a category that is not a valid name',
      '  - use: one_hot\n    with: { of: product.kind, categories: { Lamps: Lamps } }',
      'Lamps: `Lamps` is not a valid name',
    ],
    [
      'an output of an unknown category',
      '  - use: one_hot\n    with: { of: product.kind, categories: { lamps: Lamps } }\n  - use: score\n    with: { value: "if(one_hot:lamp, 1, 0)" }',
      'one_hot:lamp: `one_hot` has no output `lamp`',
    ],
  ];
  for (const [what, components, message] of wrong) {
    it(`rejects ${what}, with its place`, async () => {
      expect(await mistakes(pipeline(components))).to.include(message);
    });
  }
});
