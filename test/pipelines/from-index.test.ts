import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Random } from '../../runtime/ground/core/random.js';
import { SETTINGS } from '../../runtime/project/settings/settings.js';
import { MOST_KEPT_ENTITIES } from '../../runtime/state/index/condition-columns.js';
import { describeWith } from '../support/needs.js';
import { idsOf, rankedIn, startProject, type TestProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nattributes: { title: string, price: float, sale: bool, since: timestamp, tags: list(string), sizes: list(float), brand: ref(brand), box: { record: { weight: float } } }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {} }
limits: { candidates: 400, time: 20s }
components:
  - { use: score, with: { value: 1 } }
page: { size: 400, max_size: 400 }
`,
};

/** Each reads another kind of attribute. */
const CONDITIONS = [
  'product.price < 30',
  'product.price * 2 >= 20 and product.price != 12',
  'product.sale',
  'not product.sale or product.price > 90',
  'product.since > time("2025-01-15")',
  'product.brand == "b1"',
  'product.brand in ("b1", "b2") and "red" in product.tags',
  '"red" in product.tags or max(product.sizes) > 8',
  'count(product.sizes) == 2',
  'known(product.price)',
  'not known(product.price)',
  'coalesce(product.price, 0) < 50 and contains(lower(product.title), "lamp")',
  'product.box.weight < 3',
  'true',
];
/** Reads a reference, which is not kept, so that each entity is read. */
const READS_ALL = 'and coalesce(product.brand.name == "", true)';
const IDS = 300;
const TURNS = 25;

interface Found {
  readonly ids: readonly string[];
  readonly matched: number;
  readonly scanned: number;
}

async function find({ app }: TestProject, where: string, limit?: number): Promise<Found> {
  const [pipeline] = app.pipelines;
  const candidates = { from: 'index', where, ...(limit === undefined ? {} : { limit }) };
  const run = await pipeline?.run({ candidates }, { requestId: randomUUID() });
  if (run?.report.indexed === undefined) throw new Error('no candidates of the index');
  const { matched, scanned } = run.report.indexed;
  return { ids: idsOf(rankedIn(run.answer)).sort(), matched, scanned };
}

const expectSame = async (running: TestProject, where: string, limit: number): Promise<number> => {
  const [kept, read] = [
    await find(running, where, limit),
    await find(running, `(${where}) ${READS_ALL}`, limit),
  ];
  expect(kept, where).to.deep.equal(read);
  return kept.matched;
};

for (const engine of ['embedded', 'redis'] as const)
  describeWith(
    engine === 'redis' ? 'redis-server' : [],
    `candidates of the index on the ${engine} store, from what is kept of them`,
    () => {
      let redis: PrivateRedis | undefined;
      const running: TestProject[] = [];
      before(async () => {
        if (engine === 'redis') redis = await startRedisServer();
      });
      after(() => redis?.remove());
      afterEach(async () => {
        for (const one of running.splice(0)) await one.close();
      });
      const start = async (prefix: string): Promise<TestProject> => {
        const store = redis && { MILLRACE_STORE: 'redis', REDIS_URL: redis.url, MILLRACE_PREFIX: prefix };
        const started = await startProject(FILES, { env: store ?? {} });
        running.push(started);
        return started;
      };

      it('are those that a read of all entities finds, after each write', async () => {
        const random = new Random(31);
        const at = (list: readonly string[]): string => list[random.between(0, list.length - 1)] ?? '';
        const one = await start('one');
        const product = (): object => ({
          product_id: `p${random.between(0, IDS)}`,
          title: at(['Lamp', 'Desk lamp', 'shoe']),
          ...(random.chance(0.2) ? {} : { price: random.between(0, 99), brand: at(['b1', 'b2', 'b3']) }),
          ...(random.chance(0.2) ? { price: null } : { sale: random.chance(0.5) }),
          since: `2025-01-${String(random.between(10, 28))}`,
          tags: random.chance(0.5) ? ['red', at(['big', 'small'])] : [],
          sizes: Array.from({ length: random.between(0, 3) }, () => random.between(0, 9)),
          box: random.chance(0.3) ? null : { weight: random.between(0, 5) },
        });
        let matched = 0;
        for (let turn = 0; turn < TURNS; turn++) {
          await one.upload('product', ...Array.from({ length: random.between(1, 60) }, product));
          const gone = Array.from({ length: random.between(1, 20) }, () => `p${random.between(0, IDS)}`);
          await one.app.entities.remove({ entity_type: 'product', entity_ids: gone });
          for (const where of turn === 0 ? CONDITIONS : [at(CONDITIONS), at(CONDITIONS)])
            matched += await expectSame(one, where, at(['', 'few']) === '' ? 400 : random.between(1, 40));
        }
        expect(matched).to.be.above(TURNS);
      });

      it('are more than the entities that a request may read', async () => {
        const one = await start('many');
        const most = Number(SETTINGS.indexCandidates.default);
        for (let from = 0; from <= most; from += 1000)
          await one.upload(
            'product',
            ...Array.from({ length: 1000 }, (_, i) => ({ product_id: `p${from + i}`, price: from + i })),
          );
        const all = Math.ceil((most + 1) / 1000) * 1000;
        expect(most).to.be.below(MOST_KEPT_ENTITIES);
        expect(await find(one, 'product.price < 3')).to.deep.equal({
          ...{ ids: ['p0', 'p1', 'p2'], matched: 3, scanned: all },
        });
        expect(await find(one, 'product.price >= 0', 2)).to.deep.equal({
          ...{ ids: ['p0', 'p1'], matched: all, scanned: all },
        });
        const refused = await find(one, `product.price < 3 ${READS_ALL}`).then(
          () => undefined,
          (error: unknown) => error as { readonly code?: string },
        );
        expect(refused?.code).to.equal('too_many_entities');
      });

      if (engine === 'redis')
        it('are found after a write of another process', async () => {
          const [one, other] = [await start('two'), await start('two')];
          await other.upload('product', { product_id: 'p1', price: 1 }, { product_id: 'p2', price: 2 });
          await until(
            'the first read',
            async () => (await find(one, 'product.price > 0')).matched === 2,
            8000,
          );
          await other.upload('product', { product_id: 'p3', price: 3 });
          await other.app.entities.remove({ entity_type: 'product', entity_ids: ['p1'] });
          await until(
            'the writes',
            async () => (await find(one, 'product.price > 0')).ids.join() === 'p2,p3',
            8000,
          );
        });
    },
  );
