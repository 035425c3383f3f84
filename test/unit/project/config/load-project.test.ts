import { expect } from 'chai';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { typeText } from '../../../../runtime/ground/api/types.js';
import type { ProjectConfig } from '../../../../runtime/project/config/model/project.js';
import { RESERVED_ROUTES, SERVICE_ROUTES } from '../../../../runtime/serve/http/routes.js';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';

import { repositoryPath } from '../../../support/repository.js';
import { itWith } from '../../../support/needs.js';
import { withFiles } from '../../../support/temporary-files.js';

const sound = repositoryPath('test/unit/project/config/golden/sound');

async function load(root: string): Promise<ProjectConfig> {
  const { config, diagnostics } = await loadProject(root, {});
  expect(renderDiagnostics(diagnostics, { color: false, width: 80 })).to.equal('');
  if (config === undefined) throw new Error('no config');
  return config;
}

async function told(files: Record<string, string | Uint8Array>): Promise<string[]> {
  return withFiles(files, async (root) => {
    const { diagnostics } = await loadProject(root, {}, RESERVED_ROUTES);
    return diagnostics.map(({ code, at }) => `${at.file.path} ${code}`);
  });
}

const MINIMAL = 'pipeline: p\nrank: product\ncomponents: []\n';

describe('loadProject', () => {
  it('reserves the explain routes of pipelines', async () => {
    const other = MINIMAL.replace('pipeline: p\n', 'pipeline: q\nroute: /api/v1/p/Explain\n');
    expect(await told({ 'pipelines/p.yaml': MINIMAL, 'pipelines/q.yaml': other })).to.deep.equal([
      'pipelines/q.yaml duplicate_route',
    ]);
    const alone = await told({ 'pipelines/q.yaml': other });
    expect(alone).to.deep.equal([]);
  });

  it('rejects a pipeline at every route of the service, in any letter case and in its folders', async () => {
    const taken = SERVICE_ROUTES.flatMap(({ path, folder }) => [
      path,
      path.toUpperCase(),
      ...(folder === undefined ? [] : [`${folder}x`, folder.slice(0, -1)]),
    ]);
    for (const route of taken) {
      const files = { 'pipelines/p.yaml': `route: ${route}\n${MINIMAL}` };
      expect(await told(files), route).to.deep.equal(['pipelines/p.yaml duplicate_route']);
    }
    for (const route of ['/healthz/x', '/api/v1/feedbacks', '/api/v1/entitiesx', '/redocs'])
      expect(await told({ 'pipelines/p.yaml': `route: ${route}\n${MINIMAL}` }), route).to.deep.equal([]);
  });

  it('rejects two pipelines with one route, and a route that is not a path', async () => {
    const at = (name: string, route: string): string =>
      `route: ${route}\n${MINIMAL.replace('pipeline: p', `pipeline: ${name}`)}`;
    expect(
      await told({ 'pipelines/p.yaml': at('p', '/a'), 'pipelines/q.yaml': at('q', '/b') }),
    ).to.deep.equal([]);
    expect(
      await told({ 'pipelines/p.yaml': at('p', '/a'), 'pipelines/q.yaml': at('q', '/a') }),
    ).to.deep.equal(['pipelines/q.yaml duplicate_route']);
    for (const [p, q, wrong] of [
      ['/a', '/a/explain', 'q'],
      ['/a/explain', '/a', 'p'],
    ] as const)
      expect(await told({ 'pipelines/p.yaml': at('p', p), 'pipelines/q.yaml': at('q', q) })).to.deep.equal([
        `pipelines/${wrong}.yaml duplicate_route`,
      ]);
    for (const route of ['a', '/a/', '/'])
      expect(await told({ 'pipelines/p.yaml': at('p', route) }), route).to.have.length(1);
  });

  it('reads entity types, with their keys', async () => {
    const { entities } = await load(sound);
    expect([...entities].map(([name, { key }]) => [name, key])).to.have.deep.members([
      ['product', 'product_id'],
      ['seller', 'seller_id'],
      ['user', 'customer'],
      ['query', 'query'],
      ['request', 'request_id'],
      ['brand', 'brand_id'],
      ['category', 'category_id'],
    ]);
    const types = [...(entities.get('product')?.attributes.values() ?? [])].map(
      ({ name, type }) => `${name}: ${typeText(type)}`,
    );
    expect(types).to.include.members([
      'embedding: vector(64)',
      'related: list(ref(product))',
      'variants: { list: { sku: string, seller: ref(seller), price: float } }',
      'size: { width: float, height: float }',
    ]);
    expect(entities.get('brand')?.at).to.equal(undefined);
  });

  it('reads feature views', async () => {
    const { views } = await load(sound);
    const view = views.get('user_brand_stats');
    expect(view).to.include({
      name: 'user_brand_stats',
      ttl: 604_800_000,
      expired: 'stale',
      group: 'features',
    });
    expect(view?.of).to.deep.equal(['user', 'brand']);
    expect(
      [...(view?.features.values() ?? [])].map(({ name, default: value }) => [name, value]),
    ).to.deep.equal([
      ['ctr_30d', undefined],
      ['clicks_30d', 0],
      ['best', '0042'],
    ]);
    expect(views.get('product_stats')).to.include({ ttl: null, expired: 'missing' });
    expect(views.get('brand_stats')?.group).to.equal('slow');
    expect(views.get('site')?.of).to.deep.equal([]);
  });

  it('reads the default of a timestamp in the forms of a request body, as epoch milliseconds', async () => {
    const view = (text: string): Record<string, string> => ({
      'pipelines/p.yaml': MINIMAL,
      'schemas/features/v.yaml': `view: v\nof: [product]\nfeatures:\n  seen: { type: timestamp, default: ${text} }\n`,
    });
    for (const text of ['1769817600000', '2026-01-31', '"2026-01-31T01:00:00.0+01:00"'])
      await withFiles(view(text), async (root) => {
        const { config } = await loadProject(root, {});
        expect(config?.views.get('v')?.features.get('seen')?.default, text).to.equal(Date.UTC(2026, 0, 31));
      });
    expect(await told(view('2026-02-30'))).to.deep.equal(['schemas/features/v.yaml wrong_type']);
  });

  it('reads pipelines', async () => {
    const { pipelines } = await load(sound);
    const [pipeline] = pipelines;
    if (pipeline === undefined) throw new Error('no pipeline');
    expect(pipeline.route.value).to.equal('/api/v1/search');
    expect(pipeline.limits).to.deep.equal({ candidates: 500, time: 150 });
    expect(pipeline.page).to.deep.equal({ size: 12, maxSize: 60 });
    expect(pipeline.request.unknown).to.equal('refuse');
    expect(pipeline.request.duplicates).to.equal('ignore');
    expect([...pipeline.request.candidates.keys()]).to.deep.equal(['search_score']);
    expect([...pipeline.request.fields.values()].map((field) => ({ ...field, at: undefined }))).to.deep.equal(
      [
        { kind: 'entity', name: 'query', entity: 'query', optional: false, at: undefined },
        { kind: 'entity', name: 'user', entity: 'user', optional: true, at: undefined },
        { kind: 'scalar', name: 'device', type: { kind: 'string' }, optional: true, at: undefined },
      ],
    );
    const features = pipeline.features.map(({ name, view, feature, paths }) => [
      name.value,
      view.value,
      feature?.value,
      paths?.map((path) => path.value),
    ]);
    expect(features).to.deep.equal([
      ['product_stats', 'product_stats', undefined, undefined],
      ['user_stats', 'user_stats', 'orders_90d', undefined],
      ['site', 'site', undefined, undefined],
      ['brand_pop', 'brand_stats', undefined, ['product.brand']],
      ['user_brand', 'user_brand_stats', undefined, ['user', 'product.brand']],
    ]);
    for (const { paths = [] } of pipeline.features)
      for (const { value, at } of paths) expect(at.file.text.slice(at.start, at.end)).to.equal(value);
    expect([...pipeline.define].map(([name, { value }]) => [name, value])).to.deep.equal([
      ['margin', '(product.price - product.cost) / product.price'],
      ['loves_brand', 'product.brand == user.favourite_brand'],
      ['one', '1'],
    ]);
    const steps = pipeline.components.map(({ use, as, when, top, onError }) => [
      use.value,
      as?.value,
      when?.value,
      top?.value,
      onError,
    ]);
    expect(steps).to.deep.equal([
      ['filter', undefined, undefined, undefined, 'fail'],
      ['text_match', 'title', undefined, undefined, 'fail'],
      ['lightgbm', 'ltr', undefined, 200, 'skip'],
      ['score', undefined, undefined, undefined, 'fail'],
      ['boost', undefined, undefined, undefined, 'fail'],
      ['pin', undefined, 'request.device != "kiosk"', undefined, 'fail'],
    ]);
  });

  it('fills in the defaults of a pipeline', async () => {
    await withFiles({ 'pipelines/p.yaml': MINIMAL }, async (root) => {
      const [pipeline] = (await load(root)).pipelines;
      expect(pipeline).to.deep.include({
        limits: { candidates: 1000, time: 1000 },
        page: { size: 24, maxSize: 100 },
        features: [],
        components: [],
      });
      expect(pipeline?.route.value).to.equal('/api/v1/p');
      expect(pipeline?.request.unknown).to.equal('ignore');
    });
  });

  it('returns frozen values', async () => {
    const config = await load(sound);
    const seen = new Set<unknown>();
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      expect(Object.isFrozen(value), path).to.equal(true);
      if (value instanceof Map)
        for (const [key, inner] of value as Map<unknown, unknown>) walk(inner, `${path}.${String(key)}`);
      for (const [key, inner] of Object.entries(value)) walk(inner, `${path}.${key}`);
    };
    walk(config, 'config');
    const entities = config.entities as Map<string, unknown>;
    expect(() => entities.set('x', 1)).to.throw(TypeError);
    expect(() => entities.delete('product')).to.throw(TypeError);
    expect(() => {
      entities.clear();
    }).to.throw(TypeError);
  });

  it('reads files through links, and ignores hidden files', async () => {
    await withFiles({ '..data/p.yaml': MINIMAL, 'pipelines/.draft.yaml': 'not: read' }, async (root) => {
      symlinkSync('../..data/p.yaml', join(root, 'pipelines/p.yaml'));
      expect((await load(root)).pipelines.map(({ name }) => name)).to.deep.equal(['p']);
    });
  });

  itWith('mkfifo', 'reports files that cannot be read', async () => {
    await withFiles({ 'pipelines/p.yaml': MINIMAL, 'pipelines/q.yaml': MINIMAL }, async (root) => {
      symlinkSync('nowhere.yaml', join(root, 'pipelines/r.yaml'));
      await mkdir(join(root, 'pipelines/s.yaml'));
      execFileSync('mkfifo', [join(root, 'pipelines/t.yaml')]);
      chmodSync(join(root, 'pipelines/q.yaml'), 0);
      const { diagnostics } = await loadProject(root, {});
      const missing = diagnostics.filter(({ code }) => code === 'missing_file').map(({ at }) => at.file.path);
      // Root can read everything.
      const unreadable = process.getuid?.() === 0 ? [] : ['pipelines/q.yaml'];
      expect(missing).to.deep.equal([
        ...unreadable,
        'pipelines/r.yaml',
        'pipelines/s.yaml',
        'pipelines/t.yaml',
      ]);
    });
  });

  it('reports a file that is not UTF-8, and accepts a byte order mark', async () => {
    expect(await told({ 'pipelines/p.yaml': Uint8Array.of(0x70, 0xff, 0xfe) })).to.deep.equal([
      'pipelines/p.yaml yaml_syntax',
    ]);
    const bom = Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.from('pipelin: p\n')]);
    await withFiles({ 'pipelines/p.yaml': bom }, async (root) => {
      const { diagnostics } = await loadProject(root, {});
      expect(renderDiagnostics(diagnostics, { color: false, width: 80 })).to.include(
        'p.yaml:1:1: error[unknown_key]',
      );
    });
  });

  it('reports a missing project, a missing folder, and a project without pipelines', async () => {
    const { diagnostics } = await loadProject('/nowhere/at/all', {});
    expect(diagnostics.map(({ message }) => message)).to.deep.equal([
      'the project folder /nowhere/at/all does not exist',
    ]);
    expect(await told({})).to.deep.equal(['pipelines missing_file']);
  });

  it('accepts a project without pipelines that declares entity types or feature views, with a warning', async () => {
    for (const files of [
      { 'schemas/entities/seller.yaml': 'entity: seller' },
      { 'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n' },
    ])
      await withFiles(files, async (root) => {
        const { config, diagnostics } = await loadProject(root, {});
        expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).to.deep.equal([
          'warning missing_file',
        ]);
        expect(config?.pipelines).to.deep.equal([]);
      });
  });

  it('compiles valid pipelines beside invalid ones, unless entity types or views are invalid', async () => {
    const files = { 'pipelines/p.yaml': MINIMAL, 'pipelines/q.yaml': 'pipeline: q\nrank: product\n' };
    await withFiles(files, async (root) => {
      const { config, checkable } = await loadProject(root, {});
      expect(config).to.equal(undefined);
      expect(checkable?.pipelines.map(({ name }) => name)).to.deep.equal(['p']);
    });
    await withFiles({ ...files, 'schemas/entities/a.yaml': 'entity: b' }, async (root) => {
      expect((await loadProject(root, {})).checkable).to.equal(undefined);
    });
  });

  it('does not repeat the errors of one file in files that use it', async () => {
    const pipeline = 'pipeline: p\nrank: seller\nrequest: { shop: shop }\ncomponents: []\n';
    expect(
      await told({
        'pipelines/p.yaml': pipeline,
        'schemas/entities/seller.yaml': 'entity: seler\nattributes: { shop: ref(shop) }',
        'schemas/entities/shop.yaml': 'entity: [',
      }),
    ).to.deep.equal(['schemas/entities/seller.yaml file_name', 'schemas/entities/shop.yaml yaml_syntax']);
  });

  it('shows no secret in a message', async () => {
    const text =
      'pipeline: p\nrank: ${KEY}\nroute: ${KEY}\ncomponents: ${KEY}\ndefine: ["${KEY}"]\nfeatures: ["${KEY}"]';
    await withFiles({ 'pipelines/p.yaml': text }, async (root) => {
      const { diagnostics } = await loadProject(root, { KEY: 'S3CRET VALUE' });
      expect(diagnostics.length).to.be.greaterThan(3);
      expect(renderDiagnostics(diagnostics, { color: false, width: 80 })).to.not.include('S3CRET');
    });
  });

  it('never rejects its promise, whatever the files contain', async () => {
    const names = [
      'schemas/entities/product.yaml',
      'schemas/features/user_brand_stats.yaml',
      'pipelines/search.yaml',
    ];
    const texts = names.map((name) => readFileSync(join(sound, name), 'utf8'));
    const odd = fc.constantFrom(
      'null',
      '[]',
      '{}',
      '~',
      '""',
      '0',
      '-1',
      'a',
      '{ a: }',
      '[a, [b]]',
      '__proto__',
      '1e999',
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(2), fc.nat(30), odd, async (which, line, value) => {
        const lines = (texts[which] ?? '').split('\n');
        const at = line % lines.length;
        lines[at] = (lines[at] ?? '').replace(/(: |- ).*$/, `$1${value}`);
        const files = Object.fromEntries(
          names.map((name, i) => [name, i === which ? lines.join('\n') : (texts[i] ?? '')]),
        );
        await withFiles(files, async (root) => {
          const { config, diagnostics } = await loadProject(root, {});
          expect(config === undefined).to.equal(diagnostics.some(({ severity }) => severity === 'error'));
        });
      }),
      { numRuns: 100 },
    );
  });
});
