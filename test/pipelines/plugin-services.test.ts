import { expect } from 'chai';
import { pino } from 'pino';
import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startProject, writeProject, type TestProject } from '../support/project.js';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';

const packageOf = (code: string): Record<string, string> => ({
  'node_modules/millrace-near/package.json':
    '{ "version": "1.0.0", "type": "module", "millrace": { "api": "^1.0", "plugins": "./index.js" } }',
  'node_modules/millrace-near/index.js': code,
});

const step = (kind: string, create: string): string => `import { definePlugin, Status } from 'millrace/api';
export const plugins = [definePlugin({ name: 'near', kind: '${kind}', summary: 'A test.',
  options: { type: 'object', additionalProperties: false }, create(options, build) { ${create} } })];`;

const YAML = { 'millrace.yaml': 'project: shop\nplugins: [millrace-near]\n' };
const CANDIDATES = { candidates: ['p1', 'p2', 'p3'].map((product_id) => ({ product_id })) };

describe('the services of a plugin', () => {
  let project: TestProject | undefined;
  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  const start = (
    kind: string,
    create: string,
    more: Record<string, string> = {},
    options: Parameters<typeof startProject>[1] = {},
  ): Promise<TestProject> =>
    startProject(
      {
        ...YAML,
        ...packageOf(step(kind, create)),
        'pipelines/ranking.yaml': 'pipeline: ranking\nrank: product\ncomponents:\n  - use: near\n',
        ...more,
      },
      options,
    );

  it('log with the names of the plugin and of the step', async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk: Buffer, _, done) {
        lines.push(chunk.toString());
        done();
      },
    });
    const logger = pino({ level: 'info' }, sink);
    const create = `build.logger.info('made', { level: 'fake' });
      build.logger.debug('not shown');
      return { apply: () => ({ applied: 0, skipped: 0 }) };`;
    project = await start('rule', create, {}, { logger });
    const made = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ plugin }) => plugin);
    expect(made).to.have.length(1);
    expect(made[0]).to.include({ level: 30, msg: 'made', plugin: 'near', pipeline: 'ranking', step: 'near' });
    expect(made[0]?.data).to.deep.equal({ level: 'fake' });
  });

  it('count under the name of the plugin, with bounded labels, across reloads', async () => {
    const create = `const calls = build.metrics.counter('calls', 'Calls.', ['shop']);
      const seconds = build.metrics.histogram('seconds', 'Time.', { buckets: [1, 2] });
      let n = 0;
      return { apply(input) { for (let i = 0; i < 150; i++) calls.add(1, { shop: 's' + n++ }); seconds.observe(1.5);
        return { applied: 0, skipped: 0 }; } };`;
    project = await start('rule', create);
    await project.rank(CANDIDATES);
    expect((await project.app.reload()).outcome).to.equal('succeeded');
    await project.rank(CANDIDATES);
    const text = await project.app.metrics.registry.metrics();
    const series = text.split('\n').filter((line) => line.startsWith('millrace_plugin_near_calls_total{'));
    expect(series).to.have.length(101);
    // Each component counts from s0 again: the first 100 shops twice, the rest as `other`.
    expect(series).to.include('millrace_plugin_near_calls_total{shop="other"} 100');
    expect(series).to.include('millrace_plugin_near_calls_total{shop="s0"} 2');
    expect(text).to.include('millrace_plugin_near_seconds_bucket{le="2"} 2');
  });

  it('report a metric that has another form already at the step', async () => {
    const root = await writeProject({
      ...YAML,
      ...packageOf(
        step(
          'rule',
          `build.metrics.counter('calls', 'Calls.'); build.metrics.counter('calls', 'Calls.', ['shop']);`,
        ),
      ),
      'pipelines/ranking.yaml': 'pipeline: ranking\nrank: product\ncomponents:\n  - use: near\n',
    });
    const { diagnostics } = await compileProject(root);
    expect(renderDiagnostics(diagnostics, { color: false, width: 200 })).to.include(
      'pipelines/ranking.yaml:4:10: error[component_failed]: `near` could not be created: the metric millrace_plugin_near_calls_total exists already with other labels',
    );
  });

  it('cache values up to a number and an age', async () => {
    let now = 1000;
    const create = `const cache = build.cache({ entries: 2, ttlMs: 100 });
      cache.set('a', 1); cache.set('b', 2); cache.get('a'); cache.set('c', 3);
      return { apply(input, ranking) {
        ranking.scores[0] = cache.get('a') ?? -1; ranking.scores[1] = cache.get('b') ?? -2;
        ranking.scores[2] = cache.get('c') ?? -3; return { applied: 3, skipped: 0 }; } };`;
    project = await start('rule', create, {}, { now: () => now });
    expect((await project.rank(CANDIDATES)).map((one) => one.ranked_score)).to.deep.equal([3, 1, -2]);
    now += 100;
    expect((await project.rank(CANDIDATES)).map((one) => one.ranked_score)).to.deep.equal([-1, -2, -3]);
  });

  it('read entities and features from the store while a request runs', async () => {
    const create = `return { async apply(input, ranking) {
        const ids = [...input.rows].map((row) => input.candidate(row).id);
        const found = await build.store.entities('product', ids, input.signal);
        const keys = ids.map((id) => ({ type: 'product', id }));
        const ctr = await build.store.features('stats:ctr', keys, input.signal);
        for (const row of input.rows) ranking.scores[row] = (found.get(ids[row])?.price ?? 0) + (ctr[row].value ?? 100);
        if (ctr[1].status !== 'NOT_FOUND') throw new Error(ctr[1].status);
        return { applied: 3, skipped: 0 }; } };`;
    project = await start('rule', create, {
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
      'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
      'pipelines/ranking.yaml': 'pipeline: ranking\nrank: product\ncomponents:\n  - use: near\n',
    });
    await project.upload('product', { product_id: 'p1', price: 10 }, { product_id: 'p3', price: 1 });
    await project.push('stats', { product_id: 'p1', ctr: 0.5 });
    const ranked = await project.rank(CANDIDATES);
    expect(ranked.map((one) => [one.candidate_id, one.ranked_score])).to.deep.equal([
      ['p3', 101],
      ['p2', 100],
      ['p1', 10.5],
    ]);
  });

  it('say in `create` that the store is not open yet', async () => {
    const create = `return build.store.entities('product', ['p1'], new AbortController().signal);`;
    const root = await writeProject({
      ...YAML,
      ...packageOf(step('rule', create)),
      'pipelines/ranking.yaml': 'pipeline: ranking\nrank: product\ncomponents:\n  - use: near\n',
    });
    const { diagnostics } = await compileProject(root);
    expect(diagnostics.map(({ message }) => message)).to.deep.equal([
      '`near` could not be created: the store is not open while the project is loaded: read it while a request runs',
    ]);
  });

  it('show effects the answered page, the final order and the ids', async () => {
    const create = `return { served(input, page) {
        const id = (row) => input.candidate(row).id;
        globalThis.servedPages ??= [];
        globalThis.servedPages.push({ page: [...page.rows].map(id), order: [...page.order()].map(id),
          scores: [...page.scores], start: page.start, total: page.total, hasRequest: page.requestId.length > 0 });
        input.emit({ data: { shown: page.rows.length } }); } };`;
    project = await start('effect', create, {
      'pipelines/ranking.yaml': `pipeline: ranking
rank: product
components:
  - use: near
  - use: score
    with: { value: 'if(product.product_id == "p2", 5, 1)' }
  - use: filter
    with: { keep: 'product.product_id != "p1"' }
  - use: pin
    with: { positions: { 1: p3 } }
`,
    });
    const pages = globalThis as unknown as { servedPages?: unknown[] };
    await project.rank({ ...CANDIDATES, user_page: 1, user_page_size: 1 });
    await nextTurn();
    expect(pages.servedPages).to.deep.equal([
      { page: ['p2'], order: ['p3', 'p2'], scores: [5], start: 1, total: 2, hasRequest: true },
    ]);
    delete pages.servedPages;
  });

  it('serve from the store engine of a package', async () => {
    const engine = `class Memory {
        values = new Map();
        async read(keys) { return keys.map((key) => this.values.get(key) ?? null); }
        async write(all) { for (const { key, value } of all) this.values.set(key, Buffer.from(value)); }
        async remove(keys) { for (const key of keys) this.values.delete(key); }
        async update(key, change) {
          const after = change(this.values.get(key) ?? null);
          if (after === null) this.values.delete(key); else if (after !== undefined) this.values.set(key, Buffer.from(after));
        }
        async scan(start) { return { keys: [...this.values.keys()].filter((key) => key.startsWith(start)), cursor: undefined }; }
        async ping() {}
        async close() {}
      }
      export const stores = [{ name: 'memory', summary: 'In memory.', isShared: true, open: async () => new Memory() }];`;
    const files = {
      ...YAML,
      ...packageOf(engine),
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
      'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
      'pipelines/ranking.yaml':
        'pipeline: ranking\nrank: product\nfeatures: [stats]\ncomponents:\n  - use: score\n    with: { value: "coalesce(product.price, 0) + coalesce(stats:ctr, 0)" }\n',
    };
    project = await startProject(files, { env: { MILLRACE_STORE: 'memory' } });
    await project.upload('product', { product_id: 'p2', price: 2 });
    await project.push('stats', { product_id: 'p3', ctr: 0.5 });
    expect((await project.rank(CANDIDATES)).map((one) => one.ranked_score)).to.deep.equal([2, 0.5, 0]);
    await project.upload('product', { product_id: 'p2', price: 3 });
    expect((await project.rank(CANDIDATES)).map((one) => one.ranked_score)).to.deep.equal([3, 0.5, 0]);
    const error: unknown = await startProject(files, { env: { MILLRACE_STORE: 'memroy_x' } }).then(
      () => undefined,
      (one: unknown) => one,
    );
    expect(String(error)).to.include('there is no store engine `memroy_x`');
  });
});
