import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { AllowedHosts } from '../../runtime/project/settings/allowed-hosts.js';
import { loadProject } from '../../runtime/project/config/project/load-project.js';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { engineOf } from '../../runtime/serve/fronts/engines.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

const SCHEMAS = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { number_in_stock: int }\n',
};

describe('docs/fronts.md', () => {
  const page = readFileSync(repositoryPath('docs', 'fronts.md'), 'utf8');
  const blocks = Array.from(
    page.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```$/gm),
    ([, path = '', text = '']) => [path, text.replace('${OS}', 'http://opensearch:9200')] as const,
  );
  const pipelines = blocks.filter(([path]) => path.startsWith('pipelines/'));
  const fronts = blocks.filter(([path]) => path.startsWith('fronts/'));

  it('has two fronts and their pipeline, each a valid project', async () => {
    expect([pipelines.length, fronts.length]).to.deep.equal([1, 2]);
    for (const [path, text] of fronts)
      await withFiles({ ...Object.fromEntries(pipelines), ...SCHEMAS, [path]: text }, async (root) => {
        const modelHosts = AllowedHosts.parse('opensearch:9200,meilisearch:7700') ?? AllowedHosts.none;
        const compiled = await compileProject(root, { modelHosts });
        expect(compiled.diagnostics.map(({ message }) => message)).to.deep.equal([]);
        await compiled.close();
      });
  });

  it('can be one mapping in braces, where paths end with a slash, and names of indexes with a star', async () => {
    const retrieve =
      '  - { use: opensearch, with: { url: http://opensearch:9200/, index: shoes-*, size: 3, body: {} } }\n';
    const files = {
      'fronts/shop.yaml':
        '{ front: shop, use: opensearch, pipeline: search, path: /, auth: forward, with: { url: http://opensearch:9200/ } }\n',
      'pipelines/found.yaml': `pipeline: found\nrank: product\nrequest: { candidates: {} }\nretrieve:\n${retrieve}components:\n  - { use: score, with: { value: opensearch:score } }\n`,
    };
    await withFiles({ ...Object.fromEntries(pipelines), ...files, ...SCHEMAS }, async (root) => {
      const modelHosts = AllowedHosts.parse('opensearch:9200') ?? AllowedHosts.none;
      const compiled = await compileProject(root, { modelHosts });
      expect(compiled.diagnostics.map(({ message }) => message)).to.deep.equal([]);
      await compiled.close();
    });
  });

  it('tells the defaults that a front has', async () => {
    const front = 'front: shop\nuse: opensearch\npipeline: search\nwith: { url: http://os:9200 }\n';
    await withFiles(
      { ...Object.fromEntries(pipelines), 'fronts/shop.yaml': front, ...SCHEMAS },
      async (root) => {
        const { config, diagnostics } = await loadProject(root, {});
        expect(diagnostics.map(({ message }) => message)).to.deep.equal([]);
        const [shop] = config?.fronts ?? [];
        if (shop === undefined) throw new Error('the front is not valid');
        expect(page).to.contain(`by default ${shop.window};`);
        expect(page).to.contain(`by default ${shop.timeoutMs / 1000}s;`);
        expect(page).to.contain(`\`connections\` (${shop.engine.connections})`);
        expect(page).to.contain(`(${shop.engine.maxBytes / 2 ** 20} MiB)`);
        expect([shop.auth, shop.path.value]).to.deep.equal(['forward', '/shop']);
        for (const path of engineOf(shop.engine.paths).searches)
          expect(page).to.contain(`POST ${path.replace(':index', '<index>')}`);
      },
    );
  });
});
