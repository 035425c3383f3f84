import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DOCS } from '../support/pages.js';
import { failuresOf, runIn } from '../support/ranking-tests.js';
import { repositoryPath } from '../support/repository.js';

const FOLDERS: Readonly<Record<string, string>> = {
  pipeline: 'pipelines',
  entity: 'schemas/entities',
  view: 'schemas/features',
};

/** Files that a page does not show, because they matter little there. */
const MORE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  candidates: {
    'schemas/entities/product.yaml': 'entity: product\nattributes: { title: string }\n',
    'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite_brand: string }\n',
  },
  events: {},
  fronts: {
    'schemas/entities/product.yaml':
      'entity: product\nextends: ProductEntity\nattributes: { number_in_stock: int }\n',
  },
  models: {
    'schemas/entities/product.yaml':
      'entity: product\nattributes: { title: string, price: float, embedding: vector(3) }\n',
    'schemas/entities/user.yaml': 'entity: user\nattributes: { embedding: vector(4) }\n',
  },
  pipelines: {
    'schemas/entities/seller.yaml': 'entity: seller\n',
    'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite_brand: ref(brand) }\n',
    'schemas/features/product_stats.yaml':
      'view: product_stats\nof: [product]\nfeatures: { ctr_30d: float }\n',
    'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { orders_30d: int }\n',
  },
  plugins: { 'package.json': '{ "type": "module" }' },
};

/** The pages that show a pipeline. */
const pages = DOCS.map((page) => ({ page, name: basename(page, '.md'), files: filesOf(page) }))
  // docs/testing.md and docs/shop.md show their own tests; another test installs the package of docs/plugin-packages.md.
  .filter(
    ({ name, files }) =>
      !['testing', 'shop', 'plugin-packages'].includes(name) && pipelinesIn(files).length > 0,
  );

/** The files of the project that a page shows: in blocks with a path or a name, and in scripts that write them. */
function filesOf(page: string): Record<string, string> {
  const text = readFileSync(repositoryPath('docs', page), 'utf8');
  const files: Record<string, string> = {};
  for (const [, kind = '', name = '', body = ''] of text.matchAll(/^```yaml (\w+)=(\w+)\n([\s\S]*?)^```$/gm))
    if (FOLDERS[kind] !== undefined) files[`${FOLDERS[kind]}/${name}.yaml`] = body;
  for (const [, path = '', body = ''] of text.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm))
    files[path] = body;
  for (const [, path = '', body = ''] of text.matchAll(/^cat > (\S+\.yaml) <<'END'\n([\s\S]*?)^END$/gm))
    files[path.replace(/^live\//, '')] ??= body;
  return Object.fromEntries(
    Object.entries(files).filter(([path]) =>
      /^(?:(?:pipelines|schemas|plugins|curation)\/|millrace\.yaml$)/.test(path),
    ),
  );
}

function pipelinesIn(files: Readonly<Record<string, string>>): string[] {
  return Object.keys(files).flatMap((path) => /^pipelines\/(\w+)\.yaml$/.exec(path)?.[1] ?? []);
}

describe('the tests of the pipelines in the docs', () => {
  it('are of the pages that show a pipeline', () => {
    expect(readdirSync(repositoryPath('test/docs/rankings')).sort()).to.deep.equal(
      pages.map(({ name }) => name).sort(),
    );
  });

  for (const { page, name, files } of pages)
    it(`pass, and there is one for each pipeline of docs/${page}`, async () => {
      const folder = repositoryPath('test/docs/rankings', name);
      const tests = Object.fromEntries(
        readdirSync(folder).map((file) => [`tests/${file}`, readFileSync(join(folder, file), 'utf8')]),
      );
      const run = await runIn({ ...MORE[name], ...files, ...tests });
      expect(failuresOf(run)).to.deep.equal({});
      expect([...new Set(run.results.map(({ test }) => test.pipeline.value))].sort()).to.deep.equal(
        pipelinesIn(files).sort(),
      );
    });
});
