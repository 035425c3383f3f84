import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { compileProject } from '../../../../runtime/serve/app/project/compile-project.js';
import { compileTunable } from '../../../../runtime/serve/app/project/compile-tunable.js';
import { openTunable, type OpenTunable } from '../../../../runtime/serve/app/project/open-tunable.js';
import { Random } from '../../../../runtime/ground/core/random.js';
import { rankedIn, startProject, writeProject } from '../../../support/project.js';
import { loadSettings, type Settings } from '../../../../runtime/project/settings/settings.js';
import { dependenceOf } from '../../../../runtime/request/compile/dependence.js';
import { ndcg } from '../../../../runtime/learn/evaluation/metrics.js';
import { TunablePipeline } from '../../../../runtime/learn/tuning/tunable-pipeline.js';

const PARAMS = ['w_text', 'w_price', 'k', 'gone', 'factor'];

/** Params in a feature's options, a filter, a score, a boost and a definition; steps between that read none of them. */
const FILES = (values: Readonly<Record<string, number>>): Record<string, string> => ({
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes: { title: string, price: float, stock: int, tags: list(string) }
`,
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nfeatures: { ctr: { type: float, default: 0 } }\n',
  'pipelines/search.yaml': STEPS('search', values).join(''),
  // Without a step for the first places, scores are sums over the weights.
  'pipelines/plain.yaml': `${STEPS('plain', values)[0]}  - { use: boost, with: { where: product.stock > 1, multiply: factor } }\n`,
});

const STEPS = (name: string, values: Readonly<Record<string, number>>): readonly [string, string] => [
  `pipeline: ${name}
rank: product
request: { candidates: {}, query: query }
features: [stats]
params:
${PARAMS.map((name) => `  ${name}: { value: ${String(values[name])}, min: 0, max: 2 }`).join('\n')}
define: { cheap: w_price / product.price, twice: 2 * cheap, plain: product.price * 2 }
components:
  - { use: rank_within, as: early, with: { value: product.price, among: all } }
  - { use: text_match, as: title, with: { query: query.query, field: product.title, k1: k } }
  - { use: linear, as: fixed, with: { weights: { plain: 0.01, stats:ctr: 1 } } }
  - { use: linear, as: mixed, with: { weights: { title:bm25: w_text, stats:ctr: 1 } } }
  - { use: filter, with: { keep: product.stock > gone } }
  - { use: rank_within, as: late, with: { value: product.price } }
  - { use: score, unscored: keep, with: { value: mixed:score + twice + fixed:score + 0.1 * late:percentile + 0.1 * early:percentile } }
`,
  `  - { use: boost, top: 4, with: { where: product.stock > 1, multiply: factor } }
  - { use: bury, with: { where: product.price > 90 } }
  - { use: pin, when: factor > 1.5, with: { positions: { 2: p3 } } }
`,
];

const random = new Random(7);
const products = Array.from({ length: 30 }, (_, i) => ({
  product_id: `p${i}`,
  title: Array.from({ length: 4 }, () => random.pick(['red', 'blue', 'shoe', 'hat', 'sock'])).join(' '),
  price: random.between(1, 100),
  stock: random.between(0, 4),
}));

describe('TunablePipeline', () => {
  const start = Object.fromEntries(PARAMS.map((name) => [name, 1]));
  const bodies = Array.from({ length: 6 }, (_, at) => ({
    query: { query: random.pick(['red shoe', 'blue', 'hat sock']) },
    candidates: products.filter((__, i) => (i + at) % 3 !== 0).map(({ product_id }) => ({ product_id })),
  }));
  let root = '';
  let opened: OpenTunable;
  let settings: Settings;
  let pipeline: TunablePipeline;

  before(async () => {
    root = await writeProject(FILES(start));
    const project = await startProject(FILES(start), { env: { MILLRACE_DATA_DIR: `${root}/data` } });
    await project.upload('product', ...products);
    await project.push('stats', ...products.map(({ product_id }, i) => ({ product_id, ctr: i / 100 })));
    await project.close();
    settings = loadSettings(
      { LOG_LEVEL: 'silent', MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: `${root}/data` },
      { project: root },
    );
    opened = await openTunable(settings, 'search');
    pipeline = new TunablePipeline(opened.plan, opened.services, PARAMS);
    // The grade of a candidate is its number, so that the grades tell the order.
    const grades = new Map(products.map(({ product_id }, i) => [product_id, i]));
    for (const body of bodies) await pipeline.add({ body, grades });
  });
  after(async () => {
    await pipeline.close();
    await opened.close();
    await rm(root, { recursive: true, force: true });
  });

  /** The order of each query, as grades. */
  const ordersOf = async (values: Readonly<Record<string, number>>): Promise<number[][]> => {
    const orders: number[][] = [];
    await pipeline.measure(new Map(Object.entries(values)), Infinity, ({ ranked }) => {
      orders.push([...ranked]);
      return 1;
    });
    return orders;
  };

  it('ranks with any values as the pipeline with these values in its file does', async () => {
    const draw = (): Record<string, number> =>
      Object.fromEntries(PARAMS.map((name) => [name, random.between(0, 20) / 10]));
    let different = 0;
    const first = JSON.stringify(await ordersOf(start));
    for (const values of [start, ...Array.from({ length: 12 }, draw), start]) {
      const project = await startProject(FILES(values));
      try {
        await project.upload('product', ...products);
        await project.push('stats', ...products.map(({ product_id }, i) => ({ product_id, ctr: i / 100 })));
        const expected: number[][] = [];
        for (const body of bodies) {
          const search = project.app.pipelines.find((one) => one.name === 'search');
          const run = await search?.run({ ...body, user_page_size: 100 }, { requestId: 'r' });
          if (run === undefined) throw new Error('expected a pipeline');
          expected.push(rankedIn(run.answer).map((one) => Number(one.candidate_id.slice(1))));
        }
        const found = await ordersOf(values);
        expect(found, JSON.stringify(values)).to.deep.equal(expected);
        if (JSON.stringify(found) !== first) different += 1;
      } finally {
        await project.close();
      }
    }
    expect(different).to.be.above(6);
  }).timeout(60_000);

  /** NDCG of the orders, from sums or from the steps. */
  const measured = (
    values: Readonly<Record<string, number>>,
    isExact: boolean,
  ): Promise<Float64Array | undefined> =>
    pipeline.measure(
      new Map(Object.entries(values)),
      10,
      (ranking) => ndcg(ranking, 10, { gain: 'linear', relevant: 1, maxGrade: 1 }),
      undefined,
      isExact,
    );

  for (const [what, name, tuned] of [
    ['weights of a sum', 'plain', ['w_text', 'w_price']],
    ['params that change filters, options and pins', 'search', PARAMS],
  ] as const)
    it(`measures ${what} as the steps do, at any point`, async () => {
      const project = await compileTunable(settings, name);
      const own = new TunablePipeline(project.plan, opened.services, tuned);
      const all = pipeline;
      try {
        pipeline = own;
        for (const body of bodies)
          await own.add({ body, grades: new Map(products.map(({ product_id }, i) => [product_id, i % 4])) });
        const params = tuned.map((name) => ({ name, min: 0, max: 2, value: 1 }));
        await own.takeSums(params, 10, (ranking) =>
          ndcg(ranking, 10, { gain: 'linear', relevant: 1, maxGrade: 1 }),
        );
        for (let point = 0; point < 20; point++) {
          const values = Object.fromEntries(tuned.map((name) => [name, 2 * random.next()]));
          const [sums, steps] = [await measured(values, false), await measured(values, true)];
          for (const [query, value] of (steps ?? []).entries())
            expect(sums?.[query]).to.be.closeTo(value, 1e-9);
        }
        expect(own.sums).to.equal(tuned.length === 2 ? bodies.length : 0);
      } finally {
        pipeline = all;
        await own.close();
        await project.close();
      }
    });

  it('runs only the steps again that the params can change', () => {
    const { plan } = opened;
    const again = (...params: string[]): string[] => dependenceOf(plan, params).again.map(({ as }) => as);
    const rules = ['filter', 'score', 'boost', 'bury', 'pin'];
    expect(again('k')).to.deep.equal(['title', 'mixed', ...rules]);
    expect(again('w_text')).to.deep.equal(['mixed', ...rules]);
    expect(again('gone')).to.deep.equal(['filter', 'late', ...rules.slice(1)]);
    expect(again('w_price')).to.deep.equal(['score', 'boost', 'bury', 'pin']);
    expect(again('factor')).to.deep.equal(['boost', 'bury', 'pin']);
    expect(again()).to.deep.equal([]);
    expect(dependenceOf(plan, []).first).to.equal(undefined);
  });

  it('keeps the values that a plan for serving compiles to', async () => {
    const compiled = await compileProject(root);
    await compiled.close();
    expect(compiled.diagnostics).to.deep.equal([]);
    expect(compiled.pipelines[1]?.plan.open).to.equal(undefined);
    expect(compiled.pipelines[1]?.plan.steps.some(({ rebuild }) => rebuild !== undefined)).to.equal(false);
  });
});
