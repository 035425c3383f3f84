import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { describeWith } from '../support/needs.js';
import { idsOf, startProject, type TestProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const project = (options: string): Record<string, string> => ({
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { embedding: vector(3), other: vector(2), numbers: list(float), secret: { type: vector(3), private: true }, brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { embedding: vector(3) }\n',
  'schemas/entities/user.yaml': 'entity: user\nextends: MillraceEntity\nattributes: { taste: vector(3) }\n',
  'pipelines/near.yaml': `pipeline: near
rank: product
request: { candidates: {}, sent: optional(vector(3)), list: optional(list(float)), user: optional(user) }
limits: { candidates: 5 }
on_store_error: unranked
retrieve:
  - { use: vectors, as: near, with: { ${options} } }
components:
  - { use: score, with: { value: near:score } }
`,
});
const SENT = 'of: product.embedding, to: request.sent';
const PRODUCTS = [
  { product_id: 'same', embedding: [1, 0, 0] },
  { product_id: 'long', embedding: [3, 4, 0] },
  { product_id: 'against', embedding: [-1, 0, 0] },
  { product_id: 'zeros', embedding: [0, 0, 0] },
  { product_id: 'none' },
];
let tests = 0;

for (const engine of ['embedded', 'redis'] as const)
  describeWith(engine === 'redis' ? 'redis-server' : [], `vectors on the ${engine} store`, () => {
    let running: TestProject | undefined;
    let redis: PrivateRedis | undefined;
    before(async () => {
      if (engine === 'redis') redis = await startRedisServer();
    });
    after(() => redis?.remove());
    afterEach(async () => {
      await running?.close();
      running = undefined;
    });
    const start = async (options = SENT): Promise<TestProject> => {
      const prefix = `vectors${(tests += 1)}`;
      const env =
        redis === undefined ? {} : { MILLRACE_STORE: 'redis', REDIS_URL: redis.url, MILLRACE_PREFIX: prefix };
      running = await startProject(project(options), { env });
      await running.upload('product', ...PRODUCTS);
      return running;
    };
    const find = async (body: object): Promise<string[]> => idsOf((await running?.rank(body)) ?? []);
    const soon = async (body: object, ids: readonly string[]): Promise<void> => {
      await until(ids.join(), async () => (await find(body)).join() === ids.join(), 8000);
    };

    it('finds the nearest by the cosine, with their scores, and hears of each write', async () => {
      const { rank, upload, app } = await start();
      await soon({ sent: [2, 0, 0] }, ['same', 'long', 'against']);
      const scores = (await rank({ sent: [2, 0, 0] })).map(({ ranked_score }) => Math.fround(ranked_score));
      expect(scores).to.deep.equal([1, Math.fround(0.6), -1]);
      await upload('product', { product_id: 'none', embedding: [0, 1, 0] });
      await upload('product', { product_id: 'same', embedding: null });
      await app.entities.remove({ entity_type: 'product', entity_ids: ['against'] });
      await soon({ sent: [2, 0, 0] }, ['long', 'none']);
    });

    it('finds the nearest by the dot product, at most as many as are wanted', async () => {
      await start(`${SENT}, by: dot, most: 2`);
      await soon({ sent: [2, 0, 0] }, ['long', 'same']);
    });

    it('reads the vector of an entity of the request, and makes one of a list', async () => {
      const { upload } = await start('of: product.embedding, to: user.taste');
      await upload('user', { user_id: 'u1', taste: [-1, 0, 0] }, { user_id: 'u2' });
      await soon({ user: { user_id: 'u1' } }, ['against', 'long', 'same']);
      expect(await find({ user: { user_id: 'u2' } })).to.deep.equal([]);
      await running?.close();
      await start("of: product.embedding, to: 'vector(request.list, 3)'");
      await soon({ list: [1, 0, 0] }, ['same', 'long', 'against']);
      expect(await find({ list: [1, 0] })).to.deep.equal([]);
    });

    it('finds nothing without a vector or a direction, and refuses a vector of another length', async () => {
      await start();
      await soon({ sent: [1, 0, 0] }, ['same', 'long', 'against']);
      for (const body of [{}, { sent: null }, { sent: [0, 0, 0] }])
        expect(await find(body)).to.deep.equal([]);
      for (const sent of [[1, 0], [1, 0, 0, 0], [1, null, 0], 'text']) {
        const refused = await find({ sent }).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(refused).to.be.instanceOf(MillraceError);
        expect((refused as MillraceError).code).to.equal('invalid_body');
      }
    });

    if (engine === 'redis')
      it('says that the vector of the request could not be read', async () => {
        const { upload, run } = await start('of: product.embedding, to: user.taste');
        await upload('user', { user_id: 'u1', taste: [-1, 0, 0] });
        const body = { user: { user_id: 'u1' } };
        await soon(body, ['against', 'long', 'same']);
        await redis?.stop();
        // The resident table has the user that was read.
        const failed = await run({ user: { user_id: 'u2' } }).then(
          () => undefined,
          (error: unknown) => error as MillraceError,
        );
        expect(failed?.code).to.equal('retrieval_failed');
        await redis?.start();
      });

    const faults = {
      'of: product.other, to: request.sent': '`product.other` is a vector(2), `request.sent` a vector(3)',
      'of: product.numbers, to: request.sent': '`product.numbers` is of the type list',
      'of: product.secret, to: request.sent': '`product.secret` is private',
      'of: product.embeding, to: request.sent': '`product.embeding` is not an attribute of `product`',
      'of: product.brand.embedding, to: request.sent': 'is not an attribute of `product` itself',
      'of: product.embedding, to: request.list': 'expected a vector',
      'of: product.embedding, to: product.embedding': '`product.embedding`',
    };
    for (const [options, message] of Object.entries(faults))
      it(`refuses ${options}`, async () => {
        const failed = await startProject(project(options)).then(
          () => undefined,
          (error: unknown) => error as Error,
        );
        expect(failed?.message).to.include(message);
        expect(failed?.message).to.include('pipelines/near.yaml:7:');
      });
  });
