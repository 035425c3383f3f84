import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import type { Store } from '../../runtime/state/store/store.js';
import { MemoryStore } from '../support/memory-store.js';
import { pluginFiles, startProject, type TestProject } from '../support/project.js';

/** Phases: steps that see only the best candidates so far (`top:`), and models that read outputs of other models. */

const TREES = {
  name: 'tree',
  version: 'v4',
  num_class: 1,
  num_tree_per_iteration: 1,
  label_index: 0,
  max_feature_idx: 1,
  objective: 'lambdarank',
  feature_names: ['cheap__score', 'half'],
  tree_info: [
    {
      tree_index: 0,
      num_leaves: 3,
      num_cat: 0,
      shrinkage: 1,
      tree_structure: {
        split_index: 0,
        split_feature: 0,
        threshold: 5,
        decision_type: '<=',
        default_left: true,
        missing_type: 'NaN',
        left_child: {
          split_index: 1,
          split_feature: 1,
          threshold: 1,
          decision_type: '<=',
          default_left: false,
          missing_type: 'NaN',
          left_child: { leaf_index: 0, leaf_value: 1 },
          right_child: { leaf_index: 1, leaf_value: 2 },
        },
        right_child: { leaf_index: 2, leaf_value: 4 },
      },
    },
  ],
};

const FILES = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, quality: float }\n',
  'models/deep.json': JSON.stringify(TREES),
  ...pluginFiles(
    'counts_rows',
    'model',
    `const number = build.need('product.quality');
     return { outputs: { score: 'number' }, compute(input, output) {
       globalThis.countedRows = input.rows.length;
       const from = input.column(number);
       const { values, status } = output.number('score');
       for (const row of input.rows) { values[row] = from.values[row]; status[row] = from.status[row]; }
     } };`,
  ),
  ...pluginFiles(
    'breaks',
    'model',
    `return { outputs: { score: 'number' }, compute() { throw new Error('no model today'); } };`,
  ),
};

const counted = globalThis as { countedRows?: number };

type Ranked = readonly { readonly candidate_id: string; readonly ranked_score: number }[];
const ids = (ranked: Ranked): string[] => ranked.map(({ candidate_id: id }) => id);
const isNonIncreasing = (ranked: Ranked): boolean =>
  ranked.every(({ ranked_score: score }, at) => at === 0 || score <= (ranked[at - 1]?.ranked_score ?? NaN));

describe('phases', () => {
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function start(components: string, define = ''): Promise<TestProject> {
    project = await startProject({
      ...FILES,
      'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: { cheap: float, deep: float, third: float }
${define}
components:
${components}
page: { size: 100, max_size: 1000 }
`,
    });
    return project;
  }

  const score = (value: string, more = ''): string =>
    `  - use: score\n${more}    with: { value: "${value}" }\n`;

  it('run an expensive model on the best candidates of a cheap one; the others keep their order below them', async () => {
    const { rank } = await start(
      score('product.cheap') +
        '  - use: counts_rows\n    as: deep\n    top: 20\n' +
        score('deep:score', '    top: 20\n'),
    );
    const candidates = Array.from({ length: 100 }, (_, i) => ({
      product_id: `p${i}`,
      cheap: (i * 37) % 100,
      // The candidates with the highest expensive scores are those that it must never see.
      quality: -((i * 37) % 100) - 1000,
    }));
    const ranked = await rank({ candidates });
    const byCheap = [...candidates].sort((a, b) => b.cheap - a.cheap).map(({ product_id: id }) => id);
    expect(counted.countedRows).to.equal(20);
    expect(ids(ranked)).to.deep.equal([...byCheap.slice(0, 20).reverse(), ...byCheap.slice(20)]);
    expect(isNonIncreasing(ranked)).to.equal(true);
    expect(ranked[0]?.ranked_score).to.equal(-1080);
  });

  it('leave outputs outside the scope absent: coalesce provides a fallback; explain and events show it', async () => {
    const { app, run } = await start(
      score('product.cheap') +
        '  - use: counts_rows\n    as: deep\n    top: 2\n' +
        score('coalesce(deep:score, score)'),
    );
    const body = {
      candidates: [3, 2, 1].map((cheap) => ({ product_id: `p${cheap}`, cheap, quality: 10 * cheap })),
      include_events: true,
    };
    const { ranked, events } = await run(body);
    expect(ranked.map(({ ranked_score }) => ranked_score)).to.deep.equal([30, 20, 1]);
    const told = events as { event_type: string; event_data: Record<string, unknown> }[];
    expect(
      told
        .filter(({ event_type: type }) => type === 'MODEL')
        .map(({ event_data: data }) => [data['model_output'], data['model_output_status']]),
    ).to.deep.equal([
      [30, 'present'],
      [20, 'present'],
      [null, 'absent'],
    ]);
    const explained = await app.pipelines[0]?.explain(body, { requestId: 'r' });
    expect(explained?.steps[1]).to.deep.include({ top: 2, outputs: { score: { present: 2, absent: 1 } } });
    expect(explained?.page[2]?.values['deep:score']).to.deep.equal({ value: null, status: 'absent' });
    expect(explained?.page[2]?.changes).to.deep.include({ step: 2, as: 'deep', put_below: true });
  });

  it('filter and boost only the best candidates', async () => {
    const { rank } = await start(
      score('product.cheap') +
        '  - use: filter\n    top: 3\n    with: { keep: product.price > 1 }\n' +
        '  - use: boost\n    top: 2\n    with: { add: -100 }\n',
    );
    const candidates = [5, 4, 3, 2, 1].map((cheap) => ({
      product_id: `p${cheap}`,
      cheap,
      price: cheap === 4 || cheap === 2 ? 0 : 9,
    }));
    const ranked = await rank({ candidates });
    // p4 is removed; p2 does not match either, but it is not among the best three.
    expect(ids(ranked)).to.deep.equal(['p5', 'p3', 'p2', 'p1']);
    expect(ranked[0]?.ranked_score).to.equal(-95);
    expect(isNonIncreasing(ranked)).to.equal(true);
  });

  it('nest, and match a simple reference implementation (property)', async () => {
    const { rank } = await start(
      score('product.cheap') + score('product.deep', '    top: 8\n') + score('product.third', '    top: 3\n'),
    );
    const value = fc.option(fc.integer({ min: -4, max: 4 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(value, value, value), { maxLength: 20 }), async (rows) => {
        const candidates = rows.map(([cheap, deep, third], i) => ({
          product_id: `p${i}`,
          cheap,
          deep,
          third,
        }));
        const ranked = await rank({ candidates });
        // Each phase sorts its part of the list again, and leaves the rest unchanged.
        let list = candidates.map(({ product_id: id, cheap }, at) => ({ id, at, score: cheap ?? 0 }));
        const phase = (most: number, field: 'deep' | 'third'): void => {
          list.sort((a, b) => b.score - a.score || a.at - b.at);
          const best = list
            .slice(0, most)
            .map((one) => ({ ...one, score: candidates[one.at]?.[field] ?? one.score }));
          tails.unshift(list.slice(most));
          list = best;
        };
        const tails: (typeof list)[] = [];
        phase(8, 'deep');
        phase(3, 'third');
        list.sort((a, b) => b.score - a.score || a.at - b.at);
        const expected = [...list, ...tails.flat()];
        expect(ids(ranked)).to.deep.equal(expected.map(({ id }) => id));
        expect(isNonIncreasing(ranked)).to.equal(true);
        // The best candidates are ordered by their scores.
        expect(ranked.slice(0, list.length).map((one) => one.ranked_score)).to.deep.equal(
          list.map((one) => one.score),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('fuse text and model scores, then rerank the best candidates', async () => {
    const { rank } = await start(
      `  - use: fuse
    as: both
    with: { inputs: { product.cheap: 1, product.quality: 1 } }
${score('both:score')}${score('product.deep', '    top: 2\n')}`,
    );
    const ranked = await rank({
      candidates: [
        { product_id: 'in_the_other', cheap: 4, deep: 9 },
        { product_id: 'second_twice', cheap: 3, quality: 30, deep: 1 },
        { product_id: 'third_and_first', cheap: 2, quality: 40, deep: 2 },
        { product_id: 'in_one_list', quality: 35, deep: 100 },
      ],
    });
    expect(ids(ranked)).to.deep.equal(['third_and_first', 'second_twice', 'in_the_other', 'in_one_list']);
  });
});

describe('a chain of models', () => {
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  const pipeline = (first: string): string => `pipeline: ranking
rank: product
request: { candidates: {} }
define:
  half: product.price / 2
  doubled: 2 * deep:score
components:
  - use: ${first}
    as: cheap
    on_error: skip
${first === 'linear' ? '    with: { weights: { product.price: 1 }, bias: 1 }' : ''}
  - use: lightgbm
    as: deep
    with: { model: models/deep.json }
  - use: linear
    as: last
    with: { weights: { doubled: 1, "coalesce(cheap:score, -1)": 10 } }
  - use: score
    with: { value: last:score }
`;
  const body = {
    candidates: [
      { product_id: 'dear', price: 10 },
      { product_id: 'middling', price: 4 },
      { product_id: 'free', price: 0 },
      { product_id: 'unknown' },
    ],
  };

  it('passes outputs on, with expressions in between', async () => {
    project = await startProject({ ...FILES, 'pipelines/ranking.yaml': pipeline('linear') });
    // cheap: price + 1; deep: 4 above 5, otherwise 2 if half the price is above 1 or unknown; last: 2 deep + 10 cheap
    expect(await project.rank(body)).to.deep.equal([
      { candidate_id: 'dear', ranked_score: 118 },
      { candidate_id: 'middling', ranked_score: 54 },
      { candidate_id: 'free', ranked_score: 12 },
      { candidate_id: 'unknown', ranked_score: -6 },
    ]);
  });

  it('passes a failure on: missing for a model, absent for an expression, failed for readers of the status', async () => {
    project = await startProject({ ...FILES, 'pipelines/ranking.yaml': pipeline('breaks') });
    const { ranked, report } = await project.run(body);
    expect(report.skippedSteps).to.deep.equal(['cheap']);
    // cheap is NaN to the trees, which go left; the fallback makes it -1.
    expect(ranked).to.deep.equal([
      { candidate_id: 'dear', ranked_score: -6 },
      { candidate_id: 'middling', ranked_score: -6 },
      { candidate_id: 'unknown', ranked_score: -6 },
      { candidate_id: 'free', ranked_score: -8 },
    ]);
    const told = await project.app.pipelines[0]?.explain(body, { requestId: 'r' });
    expect(told?.steps[0]).to.deep.include({ outcome: 'failed', outputs: { score: { failed: 4 } } });
    expect(told?.page[0]?.values['cheap:score']).to.deep.equal({ value: null, status: 'failed' });
  });
});

describe('what only steps with `top:` read', () => {
  const SHOP = {
    'package.json': '{ "type": "module" }',
    'schemas/entities/product.yaml': `entity: product
attributes:
  title: string
  tags: list(string)
  likeness: vector(3)
  brand: ref(brand)
  others: list(ref(brand))
  price: float
`,
    'schemas/entities/brand.yaml':
      'entity: brand\nattributes: { name: string, size: float, maker: ref(maker) }\n',
    'schemas/entities/maker.yaml': 'entity: maker\nattributes: { size: float, made: list(float) }\n',
    'schemas/entities/user.yaml': 'entity: user\nattributes: { brand: string, likeness: vector(3) }\n',
    'curation/main.yaml': 'curation: main\nrules: []\n',
    'schemas/features/stats.yaml':
      'view: stats\nof: [product]\nttl: 1h\nfeatures: { ctr: float, kind: string, seen: { type: float, default: 2 } }\n',
    'schemas/features/of_maker.yaml': 'view: of_maker\nof: [maker]\nfeatures: { sold: float }\n',
    'schemas/features/pairs.yaml': 'view: pairs\nof: [user, brand]\nfeatures: { clicks: float }\n',
    ...pluginFiles(
      'peeks',
      'feature',
      `const number = build.need('twice');
       return { readsRowsOnly: true, outputs: { known: 'number' }, compute(input, output) {
         globalThis.peeked = [...input.column(number).status.subarray(0, input.count)].filter((one) => one === 0).length;
       } };`,
    ),
  };
  const PIPELINE = `pipeline: ranking
rank: product
request: { candidates: { cheap: float }, user: user, query: query }
features:
  - stats
  - of_maker: of_maker(product.brand.maker)
  - pairs: pairs(user, product.brand)
define:
  twice: 2 * coalesce(product.brand.size, 1)
  long: norm(product.likeness)
components:
  - { use: score, with: { value: product.cheap } }
  - { use: similarity, as: near, top: 6, with: { vectors: [user.likeness, product.likeness] } }
  - use: linear
    as: deep
    top: 6
    with:
      missing: 0
      weights:
        stats:ctr: 1
        stats:seen: 0.5
        twice: 1
        near:cosine: 3
        long: 0.1
        'if("new" in product.tags, 1, 0)': 2
        'if(product.brand.name == user.brand, 1, 0)': 4
        'term_overlap(query.query, product.title)': 1
        'coalesce(max(product.brand.maker.made), -1)': 1
        'count(product.others.name)': 0.5
        'product.cheap * score': 0.1
  - { use: one_hot, as: kind, top: 6, with: { of: stats:kind, categories: { a: [a], b: [b] } } }
  - { use: score, with: { value: 'coalesce(deep:score + if(kind:a, 1, 0), score)' } }
  - { use: peeks, top: 4 }
  - { use: filter, top: 5, with: { keep: 'product.brand.maker.size > 0' } }
  - { use: bury, top: 5, with: { where: 'twice > 4' } }
  - { use: boost, when: 'known(user.brand)', top: 3, with: { add: 'coalesce(pairs:clicks, 0) + coalesce(of_maker:sold, 0)' } }
  - { use: boost, top: 8, with: { where: 'long > 3', add: 'coalesce(pairs:clicks, 0)' } }
page: { size: 100, max_size: 1000 }
`;
  const USER = { user_id: 'u', likeness: [1, 0, 2] };
  const peeked = globalThis as { peeked?: number };
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function start(text = PIPELINE, env = {}, store?: Store): Promise<TestProject> {
    const now = Date.now();
    project = await startProject(
      { ...SHOP, 'pipelines/ranking.yaml': text },
      { env, ...(store && { store }) },
    );
    await project.upload('maker', { maker_id: 'm0', size: 1, made: [1, 5] }, { maker_id: 'm1', size: -1 });
    await project.upload(
      'brand',
      ...[0, 1, 2, 3].map((i) => ({
        brand_id: `b${i}`,
        name: `name ${i % 2}`,
        ...(i === 3 ? {} : { size: i, maker: `m${i}` }),
      })),
    );
    await project.upload(
      'product',
      ...Array.from({ length: 40 }, (_, i) => ({
        product_id: `p${i}`,
        title: `red lamp ${i % 3}`,
        tags: i % 2 === 0 ? ['new', `t${i}`] : [],
        ...(i % 7 === 0 ? {} : { brand: `b${i % 5}`, likeness: [i, -1, 0.1 * i] }),
        others: i % 3 === 0 ? ['b0', 'b1'] : [],
      })),
    );
    const times = (i: number): object =>
      i % 4 === 0 ? { event_time: new Date(now - 7_200_000).toISOString() } : {};
    await project.push(
      'stats',
      ...Array.from({ length: 30 }, (_, i) => ({
        product_id: `p${i}`,
        ctr: i / 3,
        kind: 'abc'[i % 3],
        ...times(i),
      })),
    );
    await project.push('of_maker', { maker_id: 'm0', sold: 3 });
    await project.push(
      'pairs',
      { user_id: 'u', brand_id: 'b1', clicks: 9 },
      { user_id: 'u', brand_id: 'b2', clicks: 1 },
    );
    return project;
  }

  const bodyOf = (
    rows: readonly (readonly [id: number, cheap: number, brand?: string | undefined])[],
    user: object = USER,
  ) => ({
    user,
    query: { query: 'lamp 2' },
    candidates: rows.map(([id, cheap, brand]) => ({
      product_id: `p${id}`,
      cheap,
      ...(brand === undefined ? {} : { brand: { brand_id: brand, size: 3, maker: 'm0' } }),
    })),
  });
  const forty = Array.from({ length: 40 }, (_, i) => [i, (i * 17) % 40] as const);

  it('is read and computed for their candidates alone', async () => {
    const { run, app } = await start(PIPELINE, { MILLRACE_RESIDENT_BYTES: '0' });
    expect(app.pipelines[0]?.describe().reads.map(({ what }) => what)).to.deep.equal([
      'attributes of product',
      'attributes of user',
      'features by product.product_id of the best 6',
      'attributes of product.brand of the best 6',
      'attributes of product.others',
      'features by user.user_id, product.brand of the best 8',
      'attributes of product.brand.maker of the best 6',
      'features by product.brand.maker of the best 3',
    ]);
    const few = await run(bodyOf(forty));
    expect(peeked.peeked).to.equal(6);
    const all = await run({ ...bodyOf(forty), include_events: true });
    expect(peeked.peeked).to.equal(40);
    expect(few.ranked).to.deep.equal(all.ranked);
    const valuesOf = ({ report }: typeof few, view: string): number =>
      report.featureStatuses.list().reduce((sum, one) => sum + (one.view === view ? one.values : 0), 0);
    expect([valuesOf(all, 'stats'), valuesOf(all, 'of_maker'), valuesOf(all, 'pairs')]).to.deep.equal([
      120, 40, 40,
    ]);
    expect([valuesOf(few, 'stats'), valuesOf(few, 'of_maker'), valuesOf(few, 'pairs')]).to.deep.equal([
      18, 0, 8,
    ]);
    expect([few.report.keysRead, all.report.keysRead]).to.deep.equal([54, 97]);
  });

  for (const bytes of ['0', '100000000'])
    it(`gives the order that it gives if all is computed, with tables of ${bytes} bytes (property)`, async () => {
      const { run } = await start(PIPELINE, { MILLRACE_RESIDENT_BYTES: bytes });
      const row = fc.tuple(
        fc.integer({ min: 0, max: 44 }),
        fc.integer({ min: -3, max: 3 }),
        fc.option(fc.constantFrom('b0', 'b1', 'b9'), { nil: undefined }),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(row, { minLength: 20, maxLength: 45, selector: ([id]) => id }),
          fc.constantFrom(USER, { user_id: 'u', brand: 'name 1' }, { user_id: 'v', brand: 'name 0' }),
          async (rows, user) => {
            const body = bodyOf(rows, user);
            const [few, all] = [await run(body), await run({ ...body, include_events: true })];
            expect(few.ranked).to.deep.equal(all.ranked);
            expect(few.report.degraded).to.deep.equal(all.report.degraded);
          },
        ),
        { numRuns: 60 },
      );
    });

  it('gives the same order of few candidates, of the fewest that it pays for, and if all are removed before', async () => {
    const removing = '  - { use: filter, with: { keep: product.cheap < 100 } }\n';
    const { run } = await start(PIPELINE.replace('components:\n', `components:\n${removing}`));
    const some = (count: number, cheap = 0) => bodyOf(forty.slice(0, count).map(([id]) => [id, cheap + id]));
    const cases = [
      { body: some(0), known: 0 },
      { body: some(23), known: 23 },
      { body: some(24), known: 6 },
      { body: some(40, 100), known: 0 },
    ];
    for (const { body, known } of cases) {
      const few = await run(body);
      expect(peeked.peeked).to.equal(known);
      expect(few.ranked).to.deep.equal((await run({ ...body, include_events: true })).ranked);
    }
  });

  it('is computed for all if a log has it, or if a list of curation can name it', async () => {
    const readers = {
      log: `${PIPELINE}log: { unit: user }\n`,
      'the names of a log': `${PIPELINE}log: { unit: user, features: [twice] }\n`,
      curation: PIPELINE.replace('page:', '  - { use: curation, with: { list: main } }\npage:'),
    };
    for (const [reader, text] of Object.entries(readers)) {
      const { run } = await start(text);
      await run(bodyOf(forty));
      expect(peeked.peeked, reader).to.equal(40);
      await project?.close();
      project = undefined;
    }
  });

  it('ends in an unranked answer if the store fails before it is read, as for all other reads', async () => {
    const store = new (class extends MemoryStore {
      left = Infinity;
      override readInto(...given: Parameters<MemoryStore['readInto']>): Promise<void> {
        if (this.left-- > 0) return super.readInto(...given);
        return Promise.reject(new MillraceError('store_unavailable', 'the test took it away'));
      }
    })();
    const env = { MILLRACE_RESIDENT: 'off' };
    const text = PIPELINE.replace('page:', 'on_store_error: unranked\npage:');
    const { run } = await start(text, env, store);
    const before = store.reads;
    const whole = await run(bodyOf(forty));
    const reads = store.reads - before;
    expect(whole.report.degraded).to.deep.equal([]);
    for (let left = 0; left < reads; left++) {
      store.left = left;
      const { ranked, report } = await run(bodyOf(forty));
      expect(report.degraded, `${left}`).to.deep.equal([{ cause: 'unranked', value: 'store_unavailable' }]);
      expect(ranked.map((one) => [one.candidate_id, one.ranked_score])).to.deep.equal(
        forty.map(([id]) => [`p${id}`, 0]),
      );
    }
    store.left = Infinity;
    expect((await run(bodyOf(forty))).ranked).to.deep.equal(whole.ranked);
  });
});
