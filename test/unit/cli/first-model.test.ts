import { expect } from 'chai';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyModel } from '../../../runtime/project/starter/empty-model.js';
import { millrace } from '../../support/command-line.js';
import { writeFakePython } from '../../support/fake-python.js';
import { writeProject } from '../../support/project.js';

const PIPELINE = (features: string, use = 'lightgbm', file = 'ltr.txt'): string => `pipeline: search
rank: product
request: { candidates: {}, query: query }
define: { margin: product.price - product.cost }
components:
  - { use: text_match, as: title, with: { query: query.query, field: product.title } }
  - { use: ${use}, as: ltr, with: { model: models/${file}, inputs: { price: product.price * 2 } } }
  - { use: score, unscored: last, with: { value: ltr:score } }
log: { unit: request, features: ${features} }
`;

describe('the first model of a project', () => {
  let root = '';
  let store: string[] = [];
  const pipeline = (...given: Parameters<typeof PIPELINE>): Promise<void> =>
    writeFile(join(root, 'pipelines/search.yaml'), PIPELINE(...given));
  const build = (): ReturnType<typeof millrace> =>
    millrace([
      ...['dataset', 'build', 'search', '--judgments', join(root, 'judgments.csv')],
      ...['--out', join(root, 'set'), '--format', 'csv', '--split', 'hash:request:50%', ...store],
    ]);

  before(async () => {
    const products = Array.from({ length: 6 }, (_, at) =>
      JSON.stringify({ product_id: `p${at}`, title: `red shoe ${at}`, price: 10 + at, cost: at }),
    );
    const judged = Array.from({ length: 20 }, (_, query) =>
      products.map((_one, at) => `shoe ${query},p${at},${at % 3}`).join('\n'),
    );
    root = await writeProject({
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float, cost: float }\n',
      'pipelines/search.yaml': PIPELINE('all'),
      'products.jsonl': products.join('\n'),
      'judgments.csv': `query,product_id,grade\n${judged.join('\n')}`,
    });
    store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
    const loaded = await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
    expect(loaded.code, loaded.stderr).to.equal(0);
  });
  after(() => rm(root, { recursive: true }));

  for (const [use, file] of [
    ['lightgbm', 'ltr.txt'],
    ['xgboost', 'ltr.json'],
  ] as const)
    it(`has a data set before the model file of ${use} exists, with definitions and what the model reads`, async () => {
      for (const features of ['all', '[all, margin]', '[all]']) {
        await pipeline(features, use, file);
        const { code, stderr } = await build();
        expect([code, stderr], features).to.deep.equal([0, '']);
        const [header = '', first = ''] = (await readFile(join(root, 'set/train.csv'), 'utf8')).split('\n');
        const names = header.split(',');
        expect(names, features).to.include.members([
          'margin',
          'title:bm25',
          'product.price',
          'ltr:with.inputs.price',
        ]);
        expect(first.split(',')[names.indexOf('margin')]).to.equal('10');
        const twice = 2 * Number(first.split(',')[names.indexOf('product.price')]);
        expect(first.split(',')[names.indexOf('ltr:with.inputs.price')]).to.equal(String(twice));
      }
    });

  it('does not warn of outputs and definitions that only the log reads', async () => {
    for (const [features, warned] of [
      ['all', []],
      ['[title]', ['margin']],
      ['models', ['margin', 'title:bm25']],
    ] as const) {
      const withoutModel = PIPELINE(features)
        .replace(/.*as: ltr.*\n/, '')
        .replace('ltr:score', 'product.price');
      await writeFile(join(root, 'pipelines/search.yaml'), withoutModel);
      const { stdout, stderr } = await millrace(['validate', '--project', root]);
      const text = stdout + stderr;
      for (const name of ['margin', 'title:bm25'])
        expect(text.includes(`\`${name}\``), `${features} ${name}: ${text}`).to.equal(
          (warned as readonly string[]).includes(name),
        );
    }
  });

  it('has a data set if the old model reads an attribute that was renamed', async () => {
    await pipeline('all');
    const from = PIPELINE('all').replace(', inputs: { price: product.price * 2 }', '');
    await writeFile(join(root, 'pipelines/search.yaml'), from);
    await mkdir(join(root, 'models'), { recursive: true });
    await writeFile(join(root, 'models/ltr.txt'), emptyModel([{ name: 'product__old_price' }]));
    try {
      expect((await millrace(['validate', '--project', root])).stdout).to.contain('product__old_price');
      const { code, stderr } = await build();
      expect([code, stderr]).to.deep.equal([
        0,
        'note: a model of the project does not fit it any more, so steps with models predict nothing; train them again\n',
      ]);
    } finally {
      await rm(join(root, 'models'), { recursive: true });
    }
  });

  it('lists what the data set lacks on lines of their own', async () => {
    await pipeline('models');
    expect((await build()).code).to.equal(0);
    expect(await lacking()).to.match(
      /^error: the column product__cost of ltr: .*\n {4}the column title__bm25 of ltr: /m,
    );
  });

  it('knows the outputs of retrievers in the pipeline of a step', async () => {
    const words =
      'retrieve: [{ use: words, as: found, with: { query: query.query, fields: { product.title: 1 } } }]';
    const text = PIPELINE('[product.price]')
      .replace('components:', `${words}\ncomponents:`)
      .replace('value: ltr:score', 'value: "coalesce(found:score, 0) + ltr:score"');
    await writeFile(join(root, 'pipelines/search.yaml'), text);
    const built = await build();
    expect(built.code, built.stderr).to.equal(0);
    expect(await lacking()).to.match(/^error: the column product__cost of ltr: /m);
  });

  /** What `train` says of columns that the data set may lack. */
  async function lacking(): Promise<string> {
    const python = await writeFakePython(root);
    const { stderr } = await millrace([
      ...[
        'train',
        'search:ltr',
        '--data',
        join(root, 'set'),
        '--out',
        join(root, 'ltr.txt'),
        '--python',
        python,
      ],
      ...['--columns', 'product.cost,title:bm25', '--project', root],
    ]);
    expect(stderr).to.not.contain('\ufffd');
    return stderr;
  }
});
