import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { MemoryStore } from '../support/memory-store.js';
import { until } from '../support/until.js';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { idsOf, startProject, type TestProject } from '../support/project.js';

const project = (options: string): Record<string, string> => ({
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, tags: list(string), brand: ref(brand), secret: { type: string, private: true }, price: float }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'synonyms.txt': 'tv, television set\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: optional(query) }
limits: { candidates: 5 }
retrieve:
  - { use: words, with: { query: query.query, ${options} } }
components:
  - { use: score, with: { value: words:score } }
`,
});
/** A store whose reads of the entity p1 can be held for ever. */
class HeldStore extends MemoryStore {
  isHeld = false;
  heldReads = 0;

  override read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    if (!this.isHeld || !keys.some((key) => key.endsWith('p1'))) return super.read(keys);
    this.heldReads++;
    return new Promise(() => undefined);
  }
}

let tests = 0;
const FIELDS = 'fields: { product.title: 3, product.tags: 1, product.brand: 1 }, language: english';

for (const engine of ['embedded', 'redis'] as const)
  describeWith(engine === 'redis' ? 'redis-server' : [], `words on the ${engine} store`, () => {
    let running: TestProject | undefined;
    let redis: PrivateRedis | undefined;
    before(async () => {
      if (engine === 'redis') redis = await startRedisServer();
    });
    after(() => redis?.remove());
    let env = {};
    beforeEach(() => {
      // Each test has keys of its own.
      const prefix = `words${(tests += 1)}`;
      if (redis !== undefined)
        env = { MILLRACE_STORE: 'redis', REDIS_URL: redis.url, MILLRACE_PREFIX: prefix };
    });
    afterEach(async () => {
      await running?.close();
      running = undefined;
    });
    const start = async (options = FIELDS): Promise<TestProject> =>
      (running = await startProject(project(options), { env }));
    const find = async (query: string): Promise<string[]> =>
      idsOf((await running?.rank({ query: { query } })) ?? []);

    /** Writes are heard of after a moment. */
    const soon = async (query: string, ids: readonly string[]): Promise<void> => {
      await until(`${query}: ${ids.join()}`, async () => (await find(query)).join() === ids.join(), 8000);
    };

    it('finds entities by words of any field, best first, and hears of each write', async () => {
      const { upload, app } = await start();
      expect(await find('shoe')).to.deep.equal([]);
      await upload(
        'product',
        { product_id: 'p1', title: 'Trail shoe', tags: ['outdoor'] },
        { product_id: 'p2', title: 'Jacket', tags: ['for shoes'], brand: 'lumen' },
        { product_id: 'p3', title: 'Lamp', price: 3 },
      );
      await soon('shoes', ['p1', 'p2']);
      expect(await find('Lumen')).to.deep.equal(['p2']);
      expect(await find('nothing')).to.deep.equal([]);
      expect(await find('')).to.deep.equal([]);
      await upload('product', { product_id: 'p3', title: 'Running shoes, trail shoes', tags: null });
      await soon('trail shoe', ['p1', 'p3', 'p2']);
      await app.entities.update({ entity_type: 'product', entities: [{ product_id: 'p1', title: 'Boots' }] });
      await app.entities.remove({ entity_type: 'product', entity_ids: ['p2'] });
      await soon('shoe', ['p3']);
    });

    it('finds synonyms, and words that begin with an unknown last word', async () => {
      const { upload } = await start(`${FIELDS}, synonyms: synonyms.txt`);
      await upload(
        'product',
        { product_id: 'p1', title: 'Television set' },
        { product_id: 'p2', title: 'Set of pans' },
        { product_id: 'p3', title: 'TV' },
      );
      await soon('tv', ['p3', 'p1']);
      expect(await find('television set')).to.have.members(['p1', 'p2', 'p3']);
      expect(await find('telev')).to.deep.equal(['p1']);
      expect(await find('telev set')).to.have.members(['p1', 'p2']);
    });

    if (engine === 'redis')
      it('hears of the writes of another process', async () => {
        await start();
        const other = await startProject(project(FIELDS), { env });
        try {
          await other.upload('product', { product_id: 'p1', title: 'Trail shoe' });
          await soon('shoe', ['p1']);
          await other.app.entities.remove({ entity_type: 'product', entity_ids: ['p1'] });
          await soon('shoe', []);
          const many = Array.from({ length: 700 }, (_, i) => ({ product_id: `p${i}`, title: `Lamp ${i}` }));
          await other.upload('product', ...many);
          // A service that starts has read all entities.
          await running?.close();
          await start();
          expect((await find('lamp 699'))[0]).to.equal('p699');
        } finally {
          await other.close();
        }
      });

    if (engine === 'redis')
      it('says that it may lack writes while Redis is away', async () => {
        const { upload, run } = await start();
        await upload('product', { product_id: 'p1', title: 'Trail shoe' });
        await soon('shoe', ['p1']);
        const degraded = async (): Promise<readonly object[]> =>
          (await run({ query: { query: 'shoe' } })).report.degraded;
        expect(await degraded()).to.deep.equal([]);
        await redis?.stop();
        const away = { cause: 'retrieve', value: 'words' };
        await until(
          'the loss',
          async () => JSON.stringify(await degraded()).includes(JSON.stringify(away)),
          8000,
        );
        const { report, ranked } = await run({ query: { query: 'shoe' } });
        expect(idsOf(ranked)).to.deep.equal(['p1']);
        expect(report.retrieval?.retrievers[0]).to.include({ outcome: 'partial' });
        expect(report.retrieval?.retrievers[0]?.reason).to.match(/^writes since .+ may be missing$/u);
        await redis?.start();
        // The server is empty when it starts again.
        await until('the new server', async () => (await find('shoe')).length === 0, 8000);
        await until('an answer without a gap', async () => (await degraded()).length === 0, 8000);
      });

    if (engine === 'embedded')
      it('is built again by a reload, which ends if the service is closed meanwhile', async () => {
        const store = new HeldStore();
        const { app, root, upload } = (running = await startProject(project(FIELDS), { env, store }));
        await upload('product', { product_id: 'p1', title: 'Trail shoe', tags: ['outdoor'] });
        await soon('outdoor', ['p1']);
        const change = (fields: string): Promise<void> =>
          writeFile(join(root, 'pipelines/search.yaml'), project(fields)['pipelines/search.yaml'] ?? '');
        await change('fields: { product.title: 1 }');
        expect((await app.reload()).outcome).to.equal('succeeded');
        expect([await find('shoe'), await find('outdoor')]).to.deep.equal([['p1'], []]);
        store.isHeld = true;
        await change(FIELDS);
        const reload = app.reload();
        await until('the reload to read', () => store.heldReads > 0, 8000);
        await app.close();
        await reload;
      });

    const faults = {
      'product.titel: 1': '`product.titel` is not an attribute of `product`',
      'product.price: 1': '`product.price` is of the type float',
      'product.brand.name: 1': 'is not an attribute of `product` itself',
      'product.secret: 1': '`product.secret` is private',
      'query.query: 1': 'is not an attribute of `product` itself',
      'product: 1': 'is not an attribute of `product` itself',
    };
    for (const [field, message] of Object.entries(faults))
      it(`refuses the field ${field}`, async () => {
        const failed = await startProject(project(`fields: { ${field} }`)).then(
          () => undefined,
          (error: unknown) => error as Error,
        );
        expect(failed?.message).to.include(message);
        expect(failed?.message).to.include('pipelines/search.yaml:6:');
      });
  });
