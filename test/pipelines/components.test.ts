import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { idsOf, pluginFiles, rankedIn, scoresOf, writeProject } from '../support/project.js';

const FILES = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), price: float }\n',
  'schemas/features/product_stats.yaml': 'view: product_stats\nof: [product]\nfeatures: { ctr: float }\n',
  'schemas/features/user_brand_stats.yaml':
    'view: user_brand_stats\nof: [user, brand]\nfeatures: { clicks: { type: int, default: 0 } }\n',
  ...pluginFiles(
    'flaky',
    'feature',
    `return { outputs: { value: 'number' }, async compute(input, output) {
       const { values, status } = output.number('value');
       for (const row of input.rows) { values[row] = 1; status[row] = Status.present; }
       await null;
       throw new Error('the model is away');
     } };`,
  ),
  ...pluginFiles('slow', 'feature', `return { outputs: {}, compute: () => new Promise(() => {}) };`),
  // Each blocks the event loop for 80 ms, so no timer can fire in that time.
  ...pluginFiles(
    'busy',
    'feature',
    `return { outputs: { value: 'number' }, compute() { const end = Date.now() + 80; while (Date.now() < end); } };`,
  ),
  ...pluginFiles(
    'busy_after_await',
    'feature',
    `return { outputs: { value: 'number' }, async compute() { await null; const end = Date.now() + 80; while (Date.now() < end); } };`,
  ),
  ...pluginFiles(
    'busy_and_breaks',
    'rule',
    `return { apply() { const end = Date.now() + 80; while (Date.now() < end); throw new Error('too late as well'); } };`,
  ),
  ...pluginFiles(
    'wild',
    'rule',
    `return { apply(input, ranking) { for (const row of input.rows) ranking.scores[row] = row === 0 ? NaN : Infinity; return { applied: input.rows.length, skipped: 0 }; } };`,
  ),
  ...pluginFiles(
    'one_at_a_time',
    'rule',
    `build.need('product_stats:ctr'); build.need('taste:clicks');
     return { apply(input, ranking) {
       for (const row of input.rows) {
         const product = input.candidate(row);
         const ctr = input.getFeature(product, 'product_stats:ctr');
         const clicks = input.getFeature([{ type: 'user', id: 'u' }, { type: 'brand', id: 'b' }], 'taste:clicks');
         const own = input.getFeature(product, 'taste:clicks');
         const none = input.getFeature({ type: 'product', id: 'elsewhere' }, 'product_stats:ctr');
         if (none.value !== undefined || none.status !== 'missing_entity') throw new Error('it made one up');
         ranking.scores[row] = (ctr.status === 'present' ? ctr.value : -1) + 100 * clicks.value + 10 * own.value;
       }
       return { applied: input.rows.length, skipped: 0 };
     } };`,
  ),
  ...pluginFiles(
    'undeclared',
    'rule',
    `return { apply(input) { input.getFeature(input.candidate(0), 'product_stats:ctr'); return { applied: 0, skipped: 0 }; } };`,
  ),
  ...pluginFiles(
    'misspelt',
    'rule',
    `build.need('product_stats:crt'); return { apply: () => ({ applied: 0, skipped: 0 }) };`,
  ),
};

const pipeline = (components: string, limits = ''): string => `pipeline: ranking
rank: product
request:
  candidates: { search_score: float }
  user: optional(user)
  device: optional(string)
${limits}
features:
  - product_stats
  - taste: user_brand_stats(user, product.brand)
components:
${components}
`;

describe('the steps of a pipeline', () => {
  let app: App | undefined;
  let root = '';

  async function start(components: string, limits = ''): Promise<App> {
    root = await writeProject({ ...FILES, 'pipelines/ranking.yaml': pipeline(components, limits) });
    app = await createApp(loadSettings({ LOG_LEVEL: 'silent' }, { project: root, store: 'embedded' }));
    return app;
  }

  async function run(service: App, body: object) {
    const [first] = service.pipelines;
    if (first === undefined) throw new Error('the project has no pipeline');
    return first.run(body, { requestId: 'r' });
  }

  async function failure(service: App, body: object): Promise<MillraceError> {
    const error = await run(service, body).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    if (error instanceof MillraceError) return error;
    throw new Error(`no MillraceError: ${String(error)}`);
  }

  afterEach(async () => {
    await app?.close();
    app = undefined;
    await rm(root, { recursive: true, force: true });
  });

  const body = {
    candidates: [
      { product_id: 'a', search_score: 1 },
      { product_id: 'b', search_score: 2 },
      { product_id: 'c', search_score: 3 },
    ],
  };
  const bySearch = '  - use: score\n    with: { value: product.search_score }';

  it('on_error: skip continues with failed outputs, and reports it', async () => {
    const service = await start(
      `${bySearch}\n  - use: flaky\n    on_error: skip\n  - use: score\n    with: { value: "coalesce(flaky:value + 100, score)" }`,
    );
    const { answer, report } = await run(service, body);
    expect(scoresOf(rankedIn(answer))).to.deep.equal({ c: 3, b: 2, a: 1 });
    expect(report.skippedSteps).to.deep.equal(['flaky']);
  });

  it('on_error: fail fails the request, without the cause in the message', async () => {
    const service = await start('  - use: flaky');
    const error = await failure(service, body);
    expect(error.code).to.equal('component_failed');
    expect(error.message).to.equal('step 1 (flaky) failed');
    expect((error.cause as Error).message).to.equal('the model is away');
  });

  it('ends at the deadline even if a step is still waiting, also with on_error: skip', async () => {
    const service = await start('  - use: slow\n    on_error: skip', 'limits: { time: 30ms }');
    expect((await failure(service, body)).code).to.equal('deadline_exceeded');
    // The slow step does not affect the next request.
    expect((await failure(service, body)).code).to.equal('deadline_exceeded');
  });

  for (const use of ['busy', 'busy_after_await', 'busy_and_breaks']) {
    for (const [place, steps] of [
      ['last', `${bySearch}\n  - use: ${use}\n    on_error: skip`],
      ['first', `  - use: ${use}\n    on_error: skip\n${bySearch}`],
    ] as const) {
      it(`fails at the deadline if the ${place} step, ${use}, blocks the event loop past it`, async () => {
        const service = await start(steps, 'limits: { time: 30ms }');
        const error = await failure(service, body);
        expect(error.code).to.equal('deadline_exceeded');
        expect(error.message).to.equal('the time limit of 30 ms is over');
      });
    }
  }

  it('does not fail a request that blocks the event loop within its limit', async () => {
    const service = await start(`${bySearch}\n  - use: busy`, 'limits: { time: 10s }');
    expect(idsOf(rankedIn((await run(service, body)).answer))).to.deep.equal(['c', 'b', 'a']);
  });

  it('keeps the score if a rule writes one that is not finite', async () => {
    const service = await start(`${bySearch}\n  - use: wild`);
    const { answer } = await run(service, body);
    expect(scoresOf(rankedIn(answer))).to.deep.equal({ c: 3, b: 2, a: 1 });
  });

  it('runs a step only when its condition of the request is true', async () => {
    const service = await start(
      `${bySearch}\n  - use: boost\n    when: request.device == "kiosk"\n    with: { add: 10 }`,
    );
    const first = async (device: string | undefined) =>
      rankedIn((await run(service, { ...body, ...(device === undefined ? {} : { device }) })).answer)[0];
    expect((await first('kiosk'))?.ranked_score).to.equal(13);
    expect((await first('phone'))?.ranked_score).to.equal(3);
    expect((await first(undefined))?.ranked_score).to.equal(3);
  });

  it('removes filtered candidates from the ranking, and keeps undecided ones unless configured otherwise', async () => {
    const filter = (absent: string): string =>
      `  - use: filter\n    with: { keep: product.price > 5, absent: ${absent} }\n${bySearch}`;
    const sent = {
      candidates: [
        { product_id: 'cheap', price: 1 },
        { product_id: 'dear', price: 9 },
        { product_id: 'unknown' },
      ],
    };
    const keeping = await start(filter('keep'));
    expect(idsOf(rankedIn((await run(keeping, sent)).answer))).to.deep.equal(['dear', 'unknown']);
    await keeping.close();
    await rm(root, { recursive: true, force: true });
    const dropping = await start(filter('drop'));
    expect(idsOf(rankedIn((await run(dropping, sent)).answer))).to.deep.equal(['dear']);
  });

  it('reads features of single candidates, by simple and composite identifiers', async () => {
    const service = await start('  - use: one_at_a_time');
    await service.features.push({ view: 'product_stats', rows: [{ product_id: 'a', ctr: 0.5 }] });
    await service.features.push({
      view: 'user_brand_stats',
      rows: [{ user_id: 'u', brand_id: 'b', clicks: 3 }],
    });
    const { answer } = await run(service, {
      user: { user_id: 'u' },
      candidates: [
        { product_id: 'a', brand: 'b' },
        { product_id: 'z', brand: 'other' },
      ],
    });
    expect(scoresOf(rankedIn(answer))).to.deep.equal({ a: 330.5, z: 299 });
  });

  it('rejects a name that the component did not need at run time, and an unknown name at load', async () => {
    const service = await start('  - use: undeclared');
    const error = await failure(service, body);
    expect((error.cause as Error).message).to.contain("build.need('product_stats:ctr')");
    await service.close();
    await rm(root, { recursive: true, force: true });
    app = undefined;
    const refused = await start('  - use: misspelt').catch((caught: unknown) => caught);
    if (!(refused instanceof ProjectInvalidError)) throw new Error('it was not rejected');
    const [first] = refused.diagnostics.filter(({ severity }) => severity === 'error');
    expect(first?.code).to.equal('unknown_feature');
    expect(first?.help).to.contain('ctr');
  });

  it('returns the same answer from a reused frame, for fewer and for more candidates', async () => {
    const service = await start(`${bySearch}\n  - use: bury\n    with: { where: product.search_score == 3 }`);
    const all = (await run(service, body)).answer;
    const many = {
      candidates: Array.from({ length: 300 }, (_, i) => ({ product_id: `p${i}`, search_score: i })),
    };
    await run(service, many);
    expect(
      (await run(service, { candidates: [{ product_id: 'only' }] })).answer.ranked_candidates,
    ).to.deep.equal([{ candidate_id: 'only', ranked_score: 0 }]);
    expect((await run(service, body)).answer).to.deep.equal(all);
    const both = await Promise.all([run(service, body), run(service, many), run(service, body)]);
    expect(both[0].answer).to.deep.equal(all);
    expect(both[2].answer).to.deep.equal(all);
  });
});
