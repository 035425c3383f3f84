import { expect } from 'chai';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

/** Ranks records that were written with different versions of an entity type. */

const project = (attributes: string, value: string): Promise<TestProject> =>
  startProject({
    'schemas/entities/product.yaml': `entity: product\nextends: ProductEntity\nattributes: ${attributes}\n`,
    'pipelines/ranking.yaml': `pipeline: ranking\nrank: product\ncomponents:\n  - use: score\n    with: { value: '${value}' }\n`,
  });

describe('a changed entity type', () => {
  const open: TestProject[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });

  it('ranks records of every version, and marks stored values that do not fit as failed', async () => {
    const older = await project('{ price: string, stock: int, title: string, labels: list(string) }', '1');
    open.push(older);
    await older.upload(
      'product',
      { product_id: 'text', price: '12', stock: 3, title: 'gone', labels: ['a'] },
      { product_id: 'undeclared', stock: 1, weight: 4, labels: [] },
      { product_id: 'misfit', stock: 2, weight: 'heavy' },
    );
    const newer = await project(
      '{ stock: float, price: float, weight: float, labels: list(string), taste: vector(2) }',
      'coalesce(product.price, -1) + 10 * product.stock + 100 * coalesce(product.weight, 0) + 10000 * count(product.labels)',
    );
    open.push(newer);
    const keys = ['text', 'undeclared', 'misfit'].map((id) => `millrace:entity:product:${id}`);
    const records = await older.app.store.read(keys);
    await newer.app.store.write(keys.map((key, i) => ({ key, value: records[i] ?? Buffer.alloc(0) })));
    await newer.upload('product', {
      product_id: 'new',
      price: 5,
      stock: 2.5,
      weight: 1,
      labels: ['a', 'b'],
      taste: [1, 2],
    });
    const candidates = ['new', 'text', 'undeclared', 'misfit', 'new2'].map((product_id) => ({ product_id }));
    expect(scoresOf(await newer.rank({ candidates }))).to.deep.equal({
      new: 20130,
      text: 10029,
      undeclared: 409,
      misfit: 0,
      new2: 0,
    });
  });
});
