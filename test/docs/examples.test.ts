import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { scoresOf, writeProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';

/** Returns the code blocks of a page, with the info text of their fences: ```yaml file=pipelines/x.yaml */
function blocksOf(page: string): { readonly tag: string; readonly text: string }[] {
  const text = readFileSync(repositoryPath(page), 'utf8');
  return [...text.matchAll(/^```(\w+ [^\n]+)\n([\s\S]*?)^```$/gm)].map((found) => ({
    tag: found[1] ?? '',
    text: found[2] ?? '',
  }));
}

describe('examples in the docs', () => {
  let root = '';
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('docs/pipelines.md contains a project without errors', async () => {
    const files: Record<string, string> = {
      'schemas/entities/seller.yaml': 'entity: seller\n',
      'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite_brand: ref(brand) }\n',
      'schemas/features/product_stats.yaml':
        'view: product_stats\nof: [product]\nfeatures: { ctr_30d: float }\n',
      'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { orders_30d: int }\n',
    };
    for (const { tag, text } of blocksOf('docs/pipelines.md')) {
      const [, kind = '', name = ''] = /^yaml (\w+)=(\w+)$/.exec(tag) ?? [];
      const folder = { pipeline: 'pipelines', entity: 'schemas/entities', view: 'schemas/features' }[kind];
      if (folder !== undefined) files[`${folder}/${name}.yaml`] = text;
    }
    expect(Object.keys(files)).to.have.length(7);
    root = await writeProject(files);
    const { diagnostics, pipelines } = await compileProject(root);
    expect(renderDiagnostics(diagnostics, { color: false, width: 1000 })).to.equal('');
    expect(pipelines.map(({ name }) => name)).to.deep.equal(['search']);
  });

  it('the package of docs/plugin-packages.md is used by its project', async () => {
    const files = blocksOf('docs/plugin-packages.md').flatMap(({ tag, text }) => {
      const [, path] = /file=(\S+)$/.exec(tag) ?? [];
      return path === undefined ? [] : [[path, text] as const];
    });
    expect(files).to.have.length(4);
    root = await writeProject(Object.fromEntries(files));
    const app = await createApp(
      loadSettings({ LOG_LEVEL: 'silent', MILLRACE_STORE: 'embedded' }, { project: root }),
    );
    try {
      const [pipeline] = app.pipelines;
      const body = { candidates: [{ product_id: 'p1' }] };
      const run = await pipeline?.run(body, { requestId: 'r1' });
      expect(run?.answer.ranked_candidates?.map((one) => one.ranked_score)).to.deep.equal([2]);
    } finally {
      await app.close();
    }
  });

  it('the sinks of docs/ledger.md have no errors', async () => {
    const files = blocksOf('docs/ledger.md').flatMap(({ tag, text }) => {
      const [, path] = /file=(sinks\/\S+)$/.exec(tag) ?? [];
      return path === undefined ? [] : [[path, text] as const];
    });
    expect(files).to.have.length(1);
    root = await writeProject({
      'pipelines/ranking.yaml':
        'pipeline: ranking\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\nlog: {}\n',
      ...Object.fromEntries(files),
    });
    const before = process.env['KAFKA_PASSWORD'];
    process.env['KAFKA_PASSWORD'] = 'any';
    try {
      const { diagnostics, sinks } = await compileProject(root);
      expect(renderDiagnostics(diagnostics, { color: false, width: 1000 })).to.equal('');
      expect(sinks.map(({ definition }) => definition.name)).to.deep.equal(['warehouse']);
    } finally {
      if (before === undefined) delete process.env['KAFKA_PASSWORD'];
      else process.env['KAFKA_PASSWORD'] = before;
    }
  });

  it('the plugins of docs/plugins.md work in a project', async () => {
    const files = Object.fromEntries(
      blocksOf('docs/plugins.md').flatMap(({ tag, text }) => {
        const [, path] = /file=(\S+)$/.exec(tag) ?? [];
        return path === undefined ? [] : [[path, text] as const];
      }),
    );
    expect(Object.keys(files)).to.have.length(13);
    root = await writeProject({ ...files, 'package.json': '{ "type": "module" }' });
    const now = Date.UTC(2026, 0, 31);
    const settings = loadSettings({ LOG_LEVEL: 'silent' }, { project: root, store: 'embedded' });
    const app = await createApp(settings, { clock: () => now });
    try {
      const week = 7 * 86_400_000;
      const body = {
        candidates: [
          { product_id: 'old', released_at: now - 2 * week },
          { product_id: 'unknown' },
          { product_id: 'new', released_at: now - week },
        ],
      };
      const run = async (name: string, request: object): Promise<Record<string, number>> => {
        const pipeline = app.pipelines.find((one) => one.name === name);
        const answer = (await pipeline?.run(request, { requestId: 'r' }))?.answer;
        return scoresOf(answer?.ranked_candidates ?? []);
      };
      expect(await run('fresh', body)).to.deep.equal({ new: 0.5, old: 0.25, unknown: 0 });
      await app.features.push({ view: 'taste', rows: [{ user_id: 'u', brand_id: 'b', clicks: 3 }] });
      const brands = { clicked: 'b', other: 'c' };
      const candidates = Object.entries(brands).map(([product_id, brand]) => ({ product_id, brand }));
      expect(
        await run('loyal', { user: { user_id: 'u' }, candidates: [...candidates, { product_id: 'none' }] }),
      ).to.deep.equal({ clicked: 6, other: 2, none: 0 });
    } finally {
      await app.close();
    }
  });
});
