import { expect } from 'chai';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import { feastValue, materialise } from '../support/feast-writer.js';
import { pluginFiles, startProject, type TestProject } from '../support/project.js';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';

/** Vector elements that do not fit float32, on every path through a ranking. */

const WIDE = [58849121863, 0.1, -(2 ** 31) + 1];
const LARGEST = 2 ** 53 - 1;

const files = (url: string): Record<string, string> => ({
  'package.json': '{ "type": "module" }',
  ...pluginFiles(
    'witness',
    'effect',
    `const needs = ['taste:own', 'kept:doubles'].map((name) => build.need(name));
     return { run(input) {
       for (const row of input.rows) for (const name of ['taste:own', 'kept:doubles'])
         (globalThis.witnessed ??= []).push(input.getFeature(input.candidate(row), name).value);
     } };`,
  ),
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { sent: vector(3), indexed: vector(3) }\n',
  'schemas/features/taste.yaml':
    'view: taste\nof: [product]\nfeatures: { own: { type: vector(3), default: [0.1, 58849121863, 0] } }\n',
  'schemas/features/kept.yaml': `view: kept
of: [product]
source: { feast: { project: shop, url: "${url}" } }
features: { doubles: vector(3), ints: vector(3), beyond: vector(1), small: vector(3) }
`,
  'pipelines/p.yaml': `pipeline: p
rank: product
features: [taste, kept]
components:
  - use: similarity
    as: a
    with: { vectors: [product.sent, product.indexed] }
  - use: similarity
    as: b
    with: { vectors: [taste:own, kept:doubles] }
  - use: similarity
    as: c
    with: { vectors: [kept:ints, 'if(true, kept:small, kept:ints)'] }
  - use: score
    with: { value: 'a:dot + b:dot + c:dot + if(known(kept:beyond), 0, 1)' }
  - use: witness
limits: { time: 10s }
`,
});

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, one, i) => sum + one * (b[i] ?? NaN), 0);

describeWith('redis-server', 'vectors with elements that do not fit float32', () => {
  let redis: PrivateRedis;
  const projects: TestProject[] = [];

  const start = async (env: Readonly<Record<string, string>>): Promise<TestProject> => {
    const project = await startProject(files(redis.url), { env });
    projects.push(project);
    await project.upload('product', { product_id: 'p1', indexed: WIDE }, { product_id: 'p2' });
    await project.push('taste', { product_id: 'p1', own: WIDE });
    return project;
  };

  before(async function () {
    this.timeout(20_000);
    redis = await startRedisServer();
    await materialise(redis.url, [
      {
        keys: [['product_id', 'string', 'p1']],
        view: 'kept',
        time: Date.now(),
        features: {
          doubles: feastValue('double_list_val', WIDE),
          ints: feastValue('int64_list_val', [LARGEST, 58849121863, -1]),
          beyond: feastValue('int64_list_val', [2 ** 53]),
          small: feastValue('float_list_val', [0.5, 0.25, 2]),
        },
      },
    ]);
  });
  after(async () => {
    for (const project of projects) await project.close();
    await (redis as PrivateRedis | undefined)?.remove();
  });

  const cases = (): readonly (readonly [string, Record<string, string>])[] => [
    ['the embedded store', { MILLRACE_RESIDENT: 'off' }],
    ['the embedded store with resident tables', {}],
    ['Redis', { MILLRACE_STORE: 'redis', REDIS_URL: redis.url, MILLRACE_RESIDENT: 'off' }],
    ['Redis with resident tables', { MILLRACE_STORE: 'redis', REDIS_URL: redis.url }],
  ];
  for (const [i, name] of ['embedded', 'embedded, resident', 'redis', 'redis, resident'].entries()) {
    it(`reach rankings, events, explain, plugins and get-online-features exactly: ${name}`, async function () {
      this.timeout(20_000);
      const project = await start(cases()[i]?.[1] ?? {});
      const body = {
        candidates: [{ product_id: 'p1', sent: WIDE }, { product_id: 'p2' }],
        include_events: true,
      };
      const expected = dot(WIDE, WIDE) * 2 + dot([LARGEST, 58849121863, -1], [0.5, 0.25, 2]) + 1;
      // The second ranking reads rows from resident tables, if there are any.
      for (let again = 0; again < 2; again++) {
        const { ranked, events } = await project.run(body);
        expect(ranked[0]?.candidate_id).to.equal('p1');
        expect(ranked[0]?.ranked_score).to.be.closeTo(expected, Math.abs(expected) * 1e-15);
        const told = (events as { event_data: Record<string, unknown> }[])
          .map(({ event_data: data }) => data)
          .filter((data) => data['candidate_id'] === 'p1' || data['feature_identifier'] === 'p1');
        const valueOf = (feature: string): unknown =>
          told.find((data) => data['feature_name'] === feature)?.['feature_value'];
        expect(valueOf('taste:own')).to.deep.equal(WIDE);
        expect(valueOf('kept:doubles')).to.deep.equal(WIDE);
        expect(valueOf('kept:ints')).to.deep.equal([LARGEST, 58849121863, -1]);
      }
      const witnessed = (globalThis as { witnessed?: unknown[] }).witnessed?.slice(-4);
      expect(witnessed).to.deep.equal([WIDE, WIDE, [0.1, 58849121863, 0], undefined]);

      const [pipeline] = project.app.pipelines;
      const explained = (await pipeline?.explain(body, { requestId: 'r' })) as unknown as {
        explanation: Explanation;
      };
      const text = JSON.stringify(explained);
      for (const value of [WIDE, [LARGEST, 58849121863, -1]]) expect(text).to.contain(JSON.stringify(value));
      for (const rounded of [58849120256, 0.10000000149011612, 9007199254740992])
        expect(text).not.to.contain(String(rounded));

      const read = await project.app.online.read({
        features: ['taste:own', 'kept:doubles', 'kept:ints', 'kept:beyond'],
        entities: { product_id: ['p1', 'p2'] },
      });
      const { results } = read.answer.toJSON();
      expect(results.slice(1).map(({ values, statuses }) => [values[0], statuses[0]])).to.deep.equal([
        [WIDE, 'PRESENT'],
        [WIDE, 'PRESENT'],
        [[LARGEST, 58849121863, -1], 'PRESENT'],
        [null, 'INVALID'],
      ]);
      expect(results[1]?.values[1]).to.deep.equal([0.1, 58849121863, 0]);
    });
  }
});
