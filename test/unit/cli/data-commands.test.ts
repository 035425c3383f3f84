import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readRecords } from '../../../runtime/state/ledger/record-reader.js';
import { millrace } from '../../support/command-line.js';
import { pluginFiles, writeProject } from '../../support/project.js';

const SCHEMAS = {
  'schemas/entities/product.yaml': `
entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  tags: list(string)
  brand: ref(brand)
  variants:
    list: { colour: string, sizes: float }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'schemas/features/product_stats.yaml': 'view: product_stats\nof: [product]\nfeatures: { orders: int }\n',
};

const PRODUCTS = [
  {
    product_id: 'a',
    title: 'kettle',
    tags: ['Red', 'tea time'],
    variants: [{ colour: 'red' }, { colour: 'blue' }],
  },
  { product_id: 'b', title: 'lamp', tags: [], variants: [{ sizes: 2 }] },
  { product_id: 'c', tags: ['red red'], variants: null },
  { product_id: 'd', title: null },
]
  .map((product) => JSON.stringify(product))
  .join('\n');

describe('commands that work on data', () => {
  let root = '';
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('say why a step of a plugin failed, since there is no log to look into', async () => {
    root = await writeProject({
      'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
      'pipelines/turned.yaml': 'pipeline: turned\nrank: product\ncomponents:\n  - use: turn\n',
      ...pluginFiles('turn', 'rule', 'return { apply(input, ranking) { ranking.reoder([]); } };'),
    });
    const { code, stderr } = await millrace(['rank', 'turned', '-', '--project', root], {
      env: { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'data') },
      stdin: '{"candidates":[{"product_id":"a"}]}',
    });
    expect(code).to.equal(1);
    expect(stderr)
      .to.contain('error[component_failed]: step 1 (turn) failed\n')
      .and.to.contain('cause: TypeError: ranking.reoder is not a function\n    at ')
      .and.not.to.contain('log');
  });

  it('record the rows of a view with a history in the ledger, and close it', async () => {
    root = await writeProject({
      'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
      'schemas/features/stats.yaml': 'view: stats\nof: [product]\nhistory: true\nfeatures: { orders: int }\n',
      // A pipeline with an error does not matter.
      'pipelines/other.yaml': 'pipeline: other\nrank: prodct\ncomponents:\n  - use: scor\n',
    });
    const env = { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'data') };
    const stdin = '{"product_id":"a","orders":3,"event_time":1700000000000}\n{"product_id":"b"}\n';
    const { code, stderr } = await millrace(['features', 'load', 'stats', '-', '--project', root], {
      env,
      stdin,
    });
    expect([code, stderr]).to.deep.equal([0, '']);
    const found: unknown[] = [];
    for await (const record of readRecords(join(root, 'data', 'ledger')))
      found.push([record.kind, record.field('keys')?.at(0), record.value('orders')?.at(0)]);
    expect(found).to.deep.equal([
      ['history', ['a'], 3],
      ['history', ['b'], undefined],
    ]);
  });

  /** Problems of a project that must not prevent loading its data. */
  const unfinished: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'whose model file is missing': {
      'pipelines/ranked.yaml':
        'pipeline: ranked\nrank: product\ncomponents:\n  - use: lightgbm\n    with: { model: models/ltr.txt }\n',
    },
    'whose other pipeline has an error': {
      'pipelines/other.yaml': 'pipeline: other\nrank: prodct\ncomponents:\n  - use: scor\n',
    },
    'that uses an environment variable that is not set': {
      'pipelines/other.yaml': 'pipeline: other\nroute: "${NO_SUCH_ROUTE}"\nrank: product\ncomponents: []\n',
    },
    'whose plugin cannot be loaded': {
      'pipelines/own.yaml': 'pipeline: own\nrank: product\ncomponents:\n  - use: own\n',
      'plugins/own/index.js': 'throw new Error("boom");',
    },
    'without pipelines': {},
  };
  for (const [what, files] of Object.entries(unfinished)) {
    it(`work in a project ${what}`, async () => {
      root = await writeProject({
        ...SCHEMAS,
        ...files,
        'products.jsonl': PRODUCTS,
        'stats.csv': 'product_id,orders\na,9\n',
      });
      const store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
      const entities = await millrace([
        'entities',
        'load',
        'product',
        join(root, 'products.jsonl'),
        ...store,
      ]);
      expect(entities.stderr).to.equal('');
      expect(entities.stdout).to.match(/^4 product entities loaded/);
      const features = await millrace([
        'features',
        'load',
        'product_stats',
        join(root, 'stats.csv'),
        ...store,
      ]);
      expect(features.stderr).to.equal('');
      expect(features.stdout).to.match(/^1 product_stats row/);
      const counted = await millrace([
        ...['text-stats', 'product.title', '--project', root],
        ...['--from', join(root, 'products.jsonl')],
      ]);
      expect(counted.stderr).to.match(/^2 texts/);
    });
  }

  it('report errors of the schemas, and no other errors', async () => {
    root = await writeProject({
      ...SCHEMAS,
      'schemas/features/wrong.yaml': 'view: wrong\nof: [product]\nfeatures: { a: flaot }\n',
      'pipelines/other.yaml': 'pipeline: other\nrank: prodct\ncomponents: []\n',
      'products.jsonl': PRODUCTS,
    });
    const store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
    const { code, stderr } = await millrace([
      ...['entities', 'load', 'product', join(root, 'products.jsonl')],
      ...store,
    ]);
    expect(code).to.equal(1);
    expect(stderr).to.contain('schemas/features/wrong.yaml:3:16').and.contain('1 error');
    expect(stderr).not.to.contain('pipelines/');
  });

  it('report a project folder that does not exist', async () => {
    root = await writeProject({ 'products.jsonl': PRODUCTS });
    const missing = join(root, 'none');
    const { code, stderr } = await millrace([
      ...['entities', 'load', 'product', join(root, 'products.jsonl')],
      ...['--project', missing, '--store', 'embedded', '--data-dir', join(root, 'data')],
    ]);
    expect(code).to.equal(1);
    expect(stderr.replace(/\s+/g, ' ')).to.contain(`the project folder ${missing} does not exist`);
  });

  it('merge rows into stored entities, and tell of those that the index does not have', async () => {
    root = await writeProject({
      ...SCHEMAS,
      'products.jsonl': PRODUCTS,
      'stock.csv': 'product_id,price,title\na,9.5,\nb,2,torch\nx,3,\n',
      'null.jsonl': '{"product_id":"a","tags":null,"variants":[]}\n{"product_id":"y","price":"dear"}\n',
    });
    const store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
    const load = (file: string, ...flags: string[]): ReturnType<typeof millrace> =>
      millrace(['entities', 'load', 'product', join(root, file), ...flags, ...store]);
    await load('products.jsonl');
    const merged = await load('stock.csv', '--merge');
    expect([merged.code, merged.stderr]).to.deep.equal([0, '']);
    expect(merged.stdout)
      .to.match(/^2 product entities updated in the embedded store in /)
      .and.to.contain('0 refused, 1 not in the index (such as x; --create creates them)\n');
    const counts = JSON.parse((await load('stock.csv', '--merge', '--json')).stdout) as object;
    expect(counts).to.include({ updated: 2, refused: 0, unknown: 1 });
    const removed = await load('null.jsonl', '--merge', '--create');
    expect(removed.code).to.equal(1);
    expect(removed.stderr).to.contain('price: expected a number');
    await load('stock.csv', '--merge', '--create');
    const { stdout } = await millrace(['entities', 'export', 'product', ...store]);
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { product_id: string });
    const of = (id: string): unknown => found.find(({ product_id }) => product_id === id);
    expect(of('a')).to.deep.equal({ product_id: 'a', title: 'kettle', price: 9.5, variants: [] });
    expect(of('b')).to.deep.equal({
      ...{ product_id: 'b', title: 'torch', price: 2, tags: [] },
      variants: [{ sizes: 2 }],
    });
    expect(of('x')).to.deep.equal({ product_id: 'x', price: 3 });
    expect(found).to.have.length(5);
    const { code, stderr } = await load('stock.csv', '--create');
    expect(code).to.equal(2);
    expect(stderr).to.contain('--create has a meaning only with --merge');
  });

  it('count the words of lists of strings', async () => {
    root = await writeProject({ ...SCHEMAS, 'products.jsonl': PRODUCTS });
    const out = join(root, 'stats.json');
    const count = async (...paths: string[]): Promise<unknown> => {
      const { code, stderr } = await millrace([
        ...['text-stats', ...paths, '--project', root],
        ...['--from', join(root, 'products.jsonl'), '--out', out],
      ]);
      expect(code, stderr).to.equal(0);
      return JSON.parse(await readFile(out, 'utf8')) as unknown;
    };
    // Products a, b and c have a list; b's list is empty.
    expect(await count('product.tags')).to.deep.include({
      documents: 3,
      mean_lengths: [5 / 3],
      frequencies: { red: 2, tea: 1, time: 1 },
    });
    expect(await count('product.variants.colour')).to.deep.include({
      documents: 2,
      mean_lengths: [1],
      frequencies: { blue: 1, red: 1 },
    });
    expect(await count('product.title', 'product.tags')).to.deep.include({
      documents: 3,
      mean_lengths: [1, 5 / 3],
    });
  });

  it('count the words of a sample of the index', async () => {
    root = await writeProject({ ...SCHEMAS, 'products.jsonl': PRODUCTS });
    const store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
    const out = join(root, 'stats.json');
    const empty = await millrace(['text-stats', 'product.tags', '--from-index', ...store]);
    expect(empty.code).to.equal(1);
    expect(empty.stderr).to.contain('no row of the index').and.contain('millrace entities load');
    await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
    const counted = await millrace(['text-stats', 'product.tags', '--from-index', '--out', out, ...store]);
    expect(counted.stderr).to.match(/^3 texts, 3 different words of (\d) out of \1 entities/);
    const statistics = JSON.parse(await readFile(out, 'utf8')) as { sample: { rows: number; of: number } };
    expect(statistics).to.deep.include({ documents: 3, mean_lengths: [5 / 3] });
    expect(statistics.sample.rows).to.equal(statistics.sample.of);
    const few = await millrace(['text-stats', 'product.tags', '--from-index', '--rows', '1', ...store]);
    expect(few.stdout).to.contain('"sample":{"rows":1,');
  });

  const SEARCH = `pipeline: search
rank: product
request: { candidates: {}, query: query }
define: { name: product.title }
components:
  - use: text_match
    as: text
    with:
      query: query.query
      language: english
      fields: { name: 2, product.tags: { weight: 1, analyzer: { stemming: none } } }
  - use: text_match
    as: local
    with: { query: query.query, field: product.title, language_from: query.query }
  - use: score
    with: { value: text:bm25 }
`;

  it('count the words of a step, with its analyzers, into its file', async () => {
    root = await writeProject({ ...SCHEMAS, 'products.jsonl': PRODUCTS, 'pipelines/search.yaml': SEARCH });
    const from = ['--project', root, '--from', join(root, 'products.jsonl')];
    const { code, stderr } = await millrace(['text-stats', 'search:text', ...from]);
    expect(code, stderr).to.equal(0);
    const written = JSON.parse(await readFile(join(root, 'statistics/search/text.json'), 'utf8')) as object;
    expect(written).to.have.nested.property('analyzers[0].stemming', 'language');
    expect(written).to.have.nested.property('analyzers[0].mean_lengths').that.deep.equals([1]);
    expect(written).to.have.nested.property('analyzers[1].stemming', 'none');
    expect(written).to.have.nested.property('analyzers[1].frequencies').that.includes({ red: 2 });
    const valid = await millrace(['validate', '--project', root]);
    expect(valid.code, valid.stderr + valid.stdout).to.equal(0);
    const plan = await millrace(['plan', 'search', '--project', root]);
    expect(plan.stdout).to.contain('words of name: language: english, stemming: language');
    expect(plan.stdout).to.contain('words of product.tags: language: english, stemming: none');
    expect(plan.stdout).to.contain('statistics: statistics/search/text.json, 3 texts of the catalogue');
  });

  it('count the words that references lead to, as the advice of validate says', async () => {
    root = await writeProject({
      ...SCHEMAS,
      'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, owners: list(ref(user)) }\n',
      'schemas/entities/user.yaml': 'entity: user\nattributes: { name: string }\n',
      'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: query }
components:
  - use: text_match
    with: { query: query.query, fields: { product.title: 2, product.brand.name: 1, product.brand.owners.name: 1 } }
  - use: score
    with: { value: text_match:bm25 }
`,
    });
    const store = ['--store', 'embedded', '--data-dir', join(root, 'data')];
    const load = async (type: string, ...rows: readonly object[]): Promise<void> => {
      const file = join(root, `${type}.jsonl`);
      await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const loaded = await millrace(['entities', 'load', type, file, '--project', root, ...store]);
      expect(loaded.code, loaded.stderr).to.equal(0);
    };
    await load('user', { user_id: 'u1', name: 'Anna' }, { user_id: 'u2', name: 'Bert Berg' });
    await load('brand', { brand_id: 'lumen', name: 'Lumen Lamps', owners: ['u1', 'u2', 'u9'] });
    await load(
      'product',
      { product_id: 'a', title: 'lamp', brand: 'lumen' },
      { product_id: 'b', title: 'kettle', brand: 'gone' },
      { product_id: 'c', title: 'desk' },
    );
    const advised = await millrace(['validate', '--project', root]);
    const [, command = ''] = /run `millrace ([^`]+)`/.exec(advised.stdout.replace(/\s+/g, ' ')) ?? [];
    expect(command).to.equal('text-stats search:text_match --from-index');
    const counted = await millrace([...command.split(' '), '--project', root, ...store]);
    expect(counted.code, counted.stderr).to.equal(0);
    const written = await readFile(join(root, 'statistics/search/text_match.json'), 'utf8');
    expect(JSON.parse(written)).to.deep.include({
      documents: 3,
      fields: ['product.title', 'product.brand.name', 'product.brand.owners.name'],
      mean_lengths: [1, 2, 3],
      frequencies: { anna: 1, berg: 1, bert: 1, desk: 1, kettle: 1, lamp: 1, lumen: 1 },
    });
    expect((await millrace(['validate', '--project', root])).stdout).not.to.contain('advice');
  });

  it('give steps of one name in two pipelines a file each, and use older files', async () => {
    const pipeline = (name: string, field: string): string => `pipeline: ${name}
rank: product
request: { candidates: {}, query: query }
components:
  - use: text_match
    as: en
    with: { query: query.query, field: ${field} }
  - use: score
    with: { value: en:bm25 }
`;
    root = await writeProject({
      ...SCHEMAS,
      'products.jsonl': PRODUCTS,
      'pipelines/search.yaml': pipeline('search', 'product.title'),
      'pipelines/tags.yaml': pipeline('tags', 'product.tags'),
    });
    const run = async (...argv: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await millrace([...argv, '--project', root]);
      expect(code, stderr + stdout).to.equal(0);
      return stdout.replace(/\s+/g, ' ');
    };
    const from = ['--from', join(root, 'products.jsonl')];
    // As older versions made it: it does not name its texts.
    const old = await run('text-stats', 'product.title', ...from);
    await mkdir(join(root, 'statistics'));
    const shared = join(root, 'statistics', 'en.json');
    await writeFile(shared, old.replace(/"fields":\[[^\]]*\],/, ''));
    for (const step of ['search:en', 'tags:en'])
      expect(await run('validate'))
        .to.contain(`advice: ${step}: the statistics do not say which texts they count`)
        .and.to.contain(`give the step a file of its own: \`millrace text-stats ${step} --from-index\``);
    expect(await run('plan', 'tags')).to.contain('statistics: statistics/en.json');
    // It names its texts: the other step does not use it.
    await writeFile(shared, old);
    expect(await run('validate'))
      .to.contain('advice: tags:en: the candidates')
      .and.not.to.contain('search:en');
    expect(await run('plan', 'search')).to.contain('statistics: statistics/en.json');
    for (const step of ['search:en', 'tags:en']) await run('text-stats', step, ...from);
    expect(await run('plan', 'search')).to.contain('statistics: statistics/search/en.json, 2 texts');
    expect(await run('plan', 'tags')).to.contain('statistics: statistics/tags/en.json, 3 texts');
    expect(await run('validate')).not.to.contain('advice');
  });

  for (const [args, message] of [
    [['search:txt'], 'did you mean search:text?'],
    [['search:reviews'], 'steps that use text_match: search:text, search:local'],
    [['search:local'], 'has the language of the request'],
    [['search:text', 'product.title'], 'leave out product.title'],
    [['search:text', '--language', 'german'], 'leave out --language'],
    [['search:text', '--no-accents'], 'leave out --no-accents'],
    [['search:text', '--units'], 'leave out --units'],
    [['serch:text'], 'search'],
  ] as const)
    it(`refuse to count the words of ${args.join(' ')}`, async () => {
      root = await writeProject({ ...SCHEMAS, 'products.jsonl': PRODUCTS, 'pipelines/search.yaml': SEARCH });
      const from = ['--project', root, '--from', join(root, 'products.jsonl')];
      const { code, stderr } = await millrace(['text-stats', ...args, ...from]);
      expect(code).not.to.equal(0);
      expect(stderr.replace(/\s+/g, ' ')).to.contain(message);
    });

  for (const [flags, message] of [
    [[], 'either --from FILE or --from-index'],
    [['--from', 'products.jsonl', '--from-index'], 'either --from FILE or --from-index'],
    [['--from', 'products.jsonl', '--rows', '10'], '--rows is the size of a sample'],
    [['--from-index', '--rows', '0'], '--rows 0: expected a number'],
  ] as const)
    it(`refuse to count words with ${flags.join(' ') || 'no texts'}`, async () => {
      root = await writeProject({ ...SCHEMAS, 'products.jsonl': PRODUCTS });
      const { code, stderr } = await millrace(['text-stats', 'product.title', '--project', root, ...flags]);
      expect(code).to.equal(2);
      expect(stderr.replace(/\s+/g, ' ')).to.contain(message);
    });

  for (const [path, message] of [
    ['product.price', 'product.price is not text; its type is float'],
    ['product.variants', 'product.variants is not text; its type is list(record)'],
    ['product.variants.sizes', 'product.variants.sizes is not text; its type is float'],
    ['product.brand.name', 'does not have the brand entities that the path leads to; count the index'],
    ['product.brand.nam', 'did you mean name?'],
    ['product.brand.name.x', 'product.brand.name has no attributes; its type is string'],
    ['product.title.length', 'product.title has no attributes; its type is string'],
    ['product.variants.color', 'did you mean colour?'],
    ['title', 'title is not a path'],
  ] as const)
    it(`refuse to count the words of ${path}`, async () => {
      root = await writeProject({ ...SCHEMAS, 'products.jsonl': PRODUCTS });
      const { code, stderr } = await millrace([
        ...['text-stats', path, '--project', root],
        ...['--from', join(root, 'products.jsonl')],
      ]);
      expect(code).not.to.equal(0);
      expect(stderr).to.contain(message);
    });
});
