import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { describeWith } from '../support/needs.js';
import { idsOf, rankedIn, startProject, type TestProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const RETRIEVERS = {
  words: 'use: words, as: found, with: { query: query.query, fields: { product.title: 1 }, size: SIZE',
  vectors: 'use: vectors, as: found, with: { of: product.taste, to: request.taste, most: SIZE',
};
type Retriever = keyof typeof RETRIEVERS;

/** Two pipelines: one finds what meets the condition, the other finds all and filters. */
const project = (retriever: Retriever, where: string, filters = true): Record<string, string> => {
  const pipeline = (name: string, found: string, steps: string): string => `pipeline: ${name}
rank: product
request: { candidates: { sent: float }, query: optional(query), user: optional(user), taste: optional(vector(2)) }
limits: { candidates: 2000, time: 5s }
define: { limit: user.budget * 2, cheap: product.price < 10 }
retrieve:
  - { ${found} }
components:
${steps}  - { use: score, with: { value: 'coalesce(found:score, 0) + coalesce(user.budget, 0) + if(coalesce(cheap, false), 0, 0) + coalesce(limit, 0)' } }
page: { size: 2000, max_size: 2000 }
`;
  const text = JSON.stringify(where);
  const retrieve = RETRIEVERS[retriever];
  return {
    'schemas/entities/product.yaml':
      'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float, sale: bool, since: timestamp, tags: list(string), sizes: list(float), brand: ref(brand), taste: vector(2), secret: { type: string, private: true } }\n',
    'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
    'schemas/entities/user.yaml':
      'entity: user\nextends: MillraceEntity\nattributes: { budget: float, likes: list(string) }\n',
    'pipelines/a.yaml': pipeline('a', `${retrieve.replace('SIZE', '20')}, where: ${text} }`, ''),
    ...(filters
      ? {
          'pipelines/b.yaml': pipeline(
            'b',
            `${retrieve.replace('SIZE', '2000')} }`,
            `  - { use: filter, with: { keep: ${text}, absent: drop } }\n`,
          ),
        }
      : {}),
  };
};

/** Each reads another kind of attribute, or a value of the request. */
const CONDITIONS = [
  'product.price < 30',
  'product.price >= user.budget',
  'product.price < limit',
  'product.sale',
  'not product.sale or product.price > 90',
  'product.since > time("2025-01-15")',
  'product.brand == "b1"',
  'product.brand in ("b1", "b2") and "red" in product.tags',
  '"red" in product.tags or max(product.sizes) > 8',
  'count(product.sizes) == 2',
  'known(product.price)',
  'coalesce(product.price, 0) < 50 and contains(lower(product.title), "lamp")',
];

const PRODUCTS = Array.from({ length: 700 }, (_, i) => ({
  product_id: `p${i}`,
  title: i % 3 === 0 ? `Lamp shoe ${i}` : `shoe ${i}`,
  taste: [(i * 37) % 101, (i * 53) % 97],
  ...(i % 5 === 0
    ? {}
    : { price: (i * 29) % 100, brand: `b${i % 4}`, tags: i % 2 === 0 ? ['red', 'big'] : [] }),
  ...(i % 7 === 0 ? {} : { sale: i % 4 === 0, since: `2025-01-${String((i % 28) + 1).padStart(2, '0')}` }),
  sizes: i % 4 === 0 ? [i % 10, 3] : [i % 10],
}));
const BODY = {
  query: { query: 'shoe' },
  taste: [1, 0.3],
  user: { user_id: 'u1', budget: 20 },
  user_page_size: 2000,
};

const call = async (running: TestProject | undefined, name: string): Promise<string[]> => {
  const pipeline = running?.app.pipelines.find((one) => one.name === name);
  if (pipeline === undefined) throw new Error(`there is no pipeline ${name}`);
  const { answer } = await pipeline.run(BODY, { requestId: randomUUID() });
  return idsOf(rankedIn(answer));
};

let tests = 0;
for (const engine of ['embedded', 'redis'] as const)
  describeWith(
    engine === 'redis' ? 'redis-server' : [],
    `\`where\` of retrievers on the ${engine} store`,
    () => {
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

      for (const [retriever, conditions] of [
        ['words', CONDITIONS],
        ['vectors', CONDITIONS.slice(0, 2)],
      ] as const)
        for (const where of conditions)
          it(`of ${retriever}: ${where} finds the best of what a filter keeps`, async () => {
            const env =
              redis === undefined
                ? {}
                : { MILLRACE_STORE: 'redis', REDIS_URL: redis.url, MILLRACE_PREFIX: `where${(tests += 1)}` };
            running = await startProject(project(retriever, where), { env });
            const { upload, app } = running;
            await upload('product', ...PRODUCTS);
            const all = PRODUCTS.length;
            await until('the entities', async () => (await call(running, 'b')).length > 20, 8000);
            const filtered = await call(running, 'b');
            expect(filtered.length).to.be.within(21, all - 1);
            await until(
              'the best of them',
              async () =>
                (await call(running, 'a')).join() === (await call(running, 'b')).slice(0, 20).join(),
              8000,
            );
            const [first = '', second = ''] = filtered;
            await app.entities.remove({ entity_type: 'product', entity_ids: [first] });
            await upload('product', { product_id: second, title: 'shoe' });
            await until(
              'the writes',
              async () => {
                const found = await call(running, 'a');
                const kept = (await call(running, 'b')).slice(0, 20);
                return !found.includes(first) && found.join() === kept.join();
              },
              8000,
            );
          });

      if (engine === 'embedded') {
        const faults = {
          'product.prise < 3': '`product` has no attribute `prise`',
          'product.brand.name == "Lumen"': '`product.brand.name` is not an attribute of `product` itself',
          'product.secret == "x"': '`product.secret` is private',
          'product.sent > 3': '`product.sent` is only sent with rankings',
          'product.price + 1': 'expected a bool',
          'user.budget > 3': '`where` reads no attribute of `product`',
          'found:score > 1': '`found:score` is an output of another retriever',
          cheap: '`cheap` is not an attribute of `product`',
          'norm(product.taste) > 1': '`product.taste` is of the type vector',
          'product.price <': 'a value is missing',
        };
        for (const [where, message] of Object.entries(faults))
          it(`refuses ${where}`, async () => {
            const failed = await startProject(project('words', where, false)).then(
              () => undefined,
              (error: unknown) => error as Error,
            );

            expect(failed?.message).to.include(message);
            expect(failed?.message).to.include('pipelines/a.yaml:7:');
          });
      }
    },
  );
