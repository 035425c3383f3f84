import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { scoresOf, startProject, writeProject, type TestProject } from '../support/project.js';

/** Failed parts of keys, nested lists, a stalled store. */

const SCHEMAS = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, brand: ref(brand), similar: list(ref(product)) }\n',
  'schemas/features/liking.yaml':
    'view: liking\nof: [brand, user]\nfeatures: { clicks: { type: int, default: 5 } }\n',
};
const pipeline = (value: string, more = ''): string =>
  `pipeline: ranking\nrank: product\nrequest: { user: optional(user) }\n${more}components:\n  - use: score\n    with: { value: '${value}' }\n`;

describe('edge cases of hydration', () => {
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  it('a failed part of a composite key makes the feature failed for any status of the other parts', async () => {
    project = await startProject({
      ...SCHEMAS,
      'pipelines/ranking.yaml': pipeline(
        'coalesce(by:clicks, -1)',
        'features:\n  - by: liking(product.brand, user)\n',
      ),
    });
    // Indexed by a version of the project in which `brand` was a number, not an id.
    const { entities } = project.app;
    const type = project.app.config.entities.get('product');
    if (type === undefined) throw new Error('the project has no type product');
    const older = await startProject({
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { brand: float }\n',
      'pipelines/ranking.yaml': pipeline('1'),
    });
    await older.upload('product', { product_id: 'p', brand: 7.5 });
    const records = await older.app.store.read(['millrace:entity:product:p']);
    await older.close();
    await project.app.store.write([
      { key: 'millrace:entity:product:p', value: records[0] ?? Buffer.alloc(0) },
    ]);
    expect((await entities.get({ entity_type: 'product', entity_ids: ['p'] })).entities.p).to.deep.equal({
      product_id: 'p',
      brand: 7.5,
    });
    // A default never replaces a failed read.
    const candidates = [{ product_id: 'p' }];
    expect(scoresOf(await project.rank({ candidates, user: { user_id: 'u' } }))).to.deep.equal({ p: -1 });
    expect(scoresOf(await project.rank({ candidates }))).to.deep.equal({ p: -1 });
  });

  it('inline objects below lists of lists are assigned to their own elements', async () => {
    project = await startProject({
      ...SCHEMAS,
      'pipelines/ranking.yaml': pipeline('sum(product.similar.similar.price)'),
    });
    await project.upload(
      'product',
      { product_id: 'b', similar: ['e', 'f'] },
      { product_id: 'e', price: 1 },
      { product_id: 'f', price: 10 },
      { product_id: 'd', price: 100 },
    );
    const inline = { product_id: 'c', similar: [{ product_id: 'd', price: 1000 }] };
    const ranked = await project.rank({ candidates: [{ product_id: 'a', similar: ['b', inline] }] });
    expect(scoresOf(ranked)).to.deep.equal({ a: 1011 });
  });

  it('a layout read that gets no reply ends at the deadline', async () => {
    const root = await writeProject({
      ...SCHEMAS,
      'pipelines/ranking.yaml': pipeline('product.price', 'limits: { time: 50ms }\n'),
    });
    const store = new MemoryStore();
    store.records.set('millrace:entity:product:p', Buffer.from('0123456789abcdef0123456789abcdef', 'hex'));
    const read = store.read.bind(store);
    let release = (): void => undefined;
    const stalled = new Promise<(Buffer | null)[]>(
      (resolve) =>
        (release = () => {
          resolve([null]);
        }),
    );
    store.read = (keys) => (keys.some((key) => key.startsWith('millrace:schema:')) ? stalled : read(keys));
    const app = await createApp(loadSettings({ LOG_LEVEL: 'silent' }, { project: root }), { store });
    const [first] = app.pipelines;
    const error: unknown = await Promise.race([
      first?.run({ candidates: [{ product_id: 'p' }] }, { requestId: 'r' }).then(
        () => 'answered',
        (caught: unknown) => caught,
      ),
      new Promise((resolve) => setTimeout(resolve, 1000, 'still waiting')),
    ]);
    release();
    await app.close();
    await rm(root, { recursive: true, force: true });
    expect(error instanceof MillraceError ? error.code : error).to.equal('deadline_exceeded');
  });
});
