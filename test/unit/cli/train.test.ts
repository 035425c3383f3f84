import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { writeFakePython } from '../../support/fake-python.js';
import { writeProject } from '../../support/project.js';

const PIPELINE = (options: string): string => `pipeline: search
rank: product
request: { candidates: {}, device: optional(string) }
features: [stats]
define:
  margin: product.price - coalesce(product.cost, 10)
components:
  - use: lightgbm
    as: ltr
    with: { model: models/ltr.txt${options} }
  - use: score
    with: { value: ltr:score }
`;
const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, cost: float, brand: string, stock: int, embedding: vector(2) }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
  'pipelines/search.yaml': PIPELINE(''),
};
const FEATURES = [
  { name: 'product.price', type: 'number', scope: 'candidate' },
  { name: 'product.cost', type: 'number', scope: 'candidate' },
  { name: 'stats:ctr', type: 'number', scope: 'candidate' },
  { name: 'product.brand', type: 'text', scope: 'candidate' },
  { name: 'ltr:score', type: 'number', scope: 'candidate' },
  { name: 'ltr:with.inputs.old', type: 'number', scope: 'candidate' },
];
const ROWS = (request: string): string =>
  [
    [request, '2026-01-01T00:00:00.000Z', 'p1', 1, 1, 1, true, 80, '', 0.5, 'acme', 3, 7],
    [request, '2026-01-01T00:00:00.000Z', 'p2', 2, 0, 1, true, 20, 5, '', '', '', 8],
    [request, '2026-01-01T00:00:00.000Z', 'p3', 3, 0, 1, false, '', 1, 0.25, 'zen', 1, 9],
  ]
    .map((cells) => `${cells.join(',')}\n`)
    .join('');
const HEADER = `request_id,time,candidate_id,place,label,weight,examined,${FEATURES.map(({ name }) => name).join(',')}\n`;

interface Task {
  readonly columns: readonly { readonly name: string; readonly type: string; readonly feature?: string }[];
  readonly computed: Readonly<Record<string, readonly (number | string | null)[]>>;
  readonly params: unknown;
  readonly folds: number | null;
  readonly budget: number | null;
  readonly monotone: unknown;
  readonly iterations: number | null;
}

describe('millrace train', () => {
  let root = '';
  let python = '';
  const train = (...more: string[]): Promise<CommandResult> =>
    millrace([
      ...['train', 'search:ltr', '--project', root, '--data', join(root, 'data')],
      ...['--out', join(root, 'models/ltr.txt'), '--python', python, ...more],
    ]);
  const task = async (): Promise<Task> => JSON.parse(await readFile(join(root, 'task.json'), 'utf8')) as Task;
  const pipeline = (options: string): Promise<void> =>
    writeFile(join(root, 'pipelines/search.yaml'), PIPELINE(options));

  beforeEach(async () => {
    root = await writeProject(FILES);
    python = await writeFakePython(root);
    await mkdir(join(root, 'data'));
    await writeFile(
      join(root, 'data/manifest.json'),
      JSON.stringify({ format: 1, pipeline: 'search', features: FEATURES, rows: { train: 6, holdout: 3 } }),
    );
    await writeFile(join(root, 'data/train.csv'), HEADER + ROWS('r1') + ROWS('r2'));
    await writeFile(join(root, 'data/holdout.csv'), HEADER + ROWS('r3'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('trains a step whose model file does not exist, and proves that the service scores like the library', async () => {
    const { code, stdout, stderr } = await train();
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain('search:ltr: LightGBM 4.7.0, 3 columns, 4 rows of 2 requests, 1 round');
    expect(stdout).to.contain('hold-out rows, scored by the service and by LightGBM: difference 0');
    // Outputs of the step itself, texts and logged expressions are no columns unless they are named.
    expect((await task()).columns).to.deep.equal([
      { name: 'product__price', type: 'number', feature: 'product.price' },
      { name: 'product__cost', type: 'number', feature: 'product.cost' },
      { name: 'stats__ctr', type: 'number', feature: 'stats:ctr' },
    ]);
    expect((await readdir(join(root, 'models'))).sort()).to.deep.equal([
      'ltr.txt',
      'ltr.txt.card.json',
      'ltr.txt.card.md',
    ]);
    const checked = await millrace(['validate', '--project', root]);
    expect(checked.code, checked.stderr).to.equal(0);
    const card = JSON.parse(await readFile(join(root, 'models/ltr.txt.card.json'), 'utf8')) as {
      readonly proof: unknown;
      readonly version: string;
    };
    expect(card.proof).to.deep.equal({
      rows_of: 'holdout',
      rows: 3,
      different: 0,
      difference: 0,
      version: card.version,
    });
    const text = await readFile(join(root, 'models/ltr.txt.card.md'), 'utf8');
    expect(text).to.contain('| product__price | `product.price` | number | 3.0 | 1 |\n').not.contain('trend');
    expect(stdout).to.not.contain('without a column');
  });

  it('searches for parameters, and says what cross-validation, the curve and the columns show', async () => {
    const { code, stdout, stderr } = await train(
      ...['--budget', '2m', '--param', 'num_leaves=3..9', '--curve', '--importance'],
      ...['--monotone', 'stats:ctr=up,product__price=down'],
    );
    expect(code, stderr).to.equal(0);
    const { folds, budget, params, monotone } = await task();
    expect({ folds, budget, params, monotone }).to.deep.equal({
      folds: null,
      budget: 120,
      params: { num_leaves: '3..9' },
      monotone: { stats__ctr: 1, product__price: -1 },
    });
    expect(stdout.replaceAll(/\s+/g, ' ')).to.contain(
      'search: 2 points in 120 s; ndcg@10 of the folds 0.5000 → 0.6000 with num_leaves=9 ' +
        '5 folds of the queries: ndcg@10 0.6000 [0.5000, 0.7000], 1 to 3 rounds',
    );
    expect(stdout).to.contain('learning curve, ndcg@10 of the hold-out: 1 request 0.3000');
    expect(stdout).to.contain('loss of ndcg@10 without a column: product__price 0.2000');
    const card = await readFile(join(root, 'models/ltr.txt.card.md'), 'utf8');
    for (const line of [
      '| times | 2026-01-01 to 2026-01-02 to train, none held out |',
      '| `request.device` | a\\|b | 1 | 0.5000 [0.4000, 0.6000] |',
      '| r3 | 1 | 0.5000 |',
      '| product__price | `product.price` | number | 3.0 | 1 | 0.2000 | 0.4000 |  |',
      '| 1 | 2 | 0.3000 [0.2000, 0.4000] |',
    ])
      expect(card).to.contain(line);
    expect((await train('--folds', '3')).stdout).to.contain('3 folds of the queries');
    expect((await task()).budget).to.equal(null);
  });

  it('logs the model to MLflow after it is written', async () => {
    const argv = ['train', 'search:ltr', '--project', root, '--data', join(root, 'data'), '--python', python];
    const log = (out: string, env: Readonly<Record<string, string>>): Promise<CommandResult> =>
      millrace([...argv, '--out', join(root, out), '--mlflow'], { env });
    const nowhere = await log('models/ltr.txt', {});
    expect([nowhere.code, existsSync(join(root, 'models'))]).to.deep.equal([2, false]);
    expect(nowhere.stderr).to.contain('--mlflow needs MLFLOW_TRACKING_URI in the environment');
    const env = { MLFLOW_TRACKING_URI: 'http://127.0.0.1:1' };
    const { code, stdout, stderr } = await log('models/ltr.txt', env);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain('MLflow: run r7 of the experiment search:ltr\n');
    const failed = await log('models/unlogged.txt', env);
    expect([failed.code, existsSync(join(root, 'models/unlogged.txt'))]).to.deep.equal([1, true]);
    expect(failed.stderr).to.contain('mlflow failed: no server');
  });

  it('names what is wrong with a direction, a span or a number of folds', async () => {
    const fails = async (...more: string[]): Promise<string> => {
      const { code, stderr } = await train(...more);
      expect(code, more.join(' ')).to.be.above(0);
      return stderr;
    };
    expect(await fails('--monotone', 'stats:ctrr=up')).to.equal(
      'error: --monotone stats:ctrr: the model has no such column\nhelp: did you mean stats:ctr?\n',
    );
    expect(await fails('--monotone', 'product.brand=up', '--columns', 'product.brand')).to.contain(
      'it is a text, which has no direction',
    );
    expect(await fails('--monotone', 'stats:ctr')).to.contain('Expected NAME=up or NAME=down');
    expect(await fails('--budget', '0s')).to.contain('Expected a span such as 30s, 10m or 1h.');
    expect(await fails('--folds', '1')).to.contain('Expected a whole number, 2 or more.');
    expect(existsSync(join(root, 'models'))).to.equal(false);
  });

  it('names the columns that have one value, or none, in all rows', async () => {
    const one = { quantiles: [4, 4, 4], missing: 0 };
    const summaries = new Map<string, object>([
      ['product.price', one],
      ['product.cost', { quantiles: [], missing: 1 }],
      ['stats:ctr', { quantiles: [0.25, 0.5], missing: 0.3 }],
      ['product.brand', one], // a text, which the model does not use
    ]);
    const write = (features: readonly object[]): Promise<void> =>
      writeFile(
        join(root, 'data/manifest.json'),
        JSON.stringify({ format: 1, pipeline: 'search', features, rows: { train: 6, holdout: 3 } }),
      );
    await write(FEATURES.map((feature) => ({ ...feature, ...summaries.get(feature.name) })));
    const told = `one value in all rows, so the model learns nothing from them; look at the statuses in ${join(root, 'data/manifest.json')}`;
    const { code, stderr } = await train();
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain(`warning: product__price, product__cost have ${told}\n`);
    // If some rows have no value, a model can learn from that.
    summaries.set('product.price', { ...one, missing: 0.5 }).delete('product.cost');
    await write(FEATURES.map((feature) => ({ ...feature, ...summaries.get(feature.name) })));
    expect((await train()).stderr).to.not.contain('one value in all rows');
  });

  it('takes the columns of inputs:, and computes expressions and definitions as the service does', async () => {
    await pipeline(
      ', iterations: 1, inputs: { half: product.price / 2, margin: margin, brand: product.brand, first: \'if(product.brand == "acme", 1, 0)\' }',
    );
    const { code, stderr } = await train();
    expect(code, stderr).to.equal(0);
    const { columns, computed, iterations } = await task();
    expect(columns.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
      'half number',
      'margin number',
      'brand text',
      'first number',
    ]);
    expect(columns[2]?.feature).to.equal('product.brand');
    expect(computed).to.deep.equal({ half: [40, 10, null], margin: [70, 15, null], first: [1, null, 0] });
    expect(iterations).to.equal(1);
  });

  it('takes a list in its order, and the columns of the old model', async () => {
    await pipeline(', inputs: [stats:ctr, product.price * 2]');
    expect((await train()).code).to.equal(0);
    expect((await task()).columns.map(({ name }) => name)).to.deep.equal(['stats__ctr', 'input_2']);
    expect((await train('--columns', 'stats:ctr')).stderr).to.contain('so --columns cannot change them');
    await pipeline('');
    await rm(join(root, 'models'), { recursive: true });
    // All numbers, and a text, which becomes a category.
    expect((await train('--columns', 'product.brand,all')).code).to.equal(0);
    expect((await task()).columns.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
      ...['product__brand text', 'product__price number', 'product__cost number', 'stats__ctr number'],
    ]);
    await rm(join(root, 'models'), { recursive: true });
    expect((await train('--columns', 'stats:ctr,product.price')).code).to.equal(0);
    expect((await train('--param', 'num_leaves=7', '--param', 'metric=map')).code).to.equal(0);
    const second = await task();
    expect(second.columns.map(({ name }) => name)).to.deep.equal(['stats__ctr', 'product__price']);
    expect(second.params).to.deep.equal({ num_leaves: 7, metric: 'map' });
  });

  it('leaves the columns of an old model that no longer exist, and says so', async () => {
    await pipeline('');
    expect((await train('--columns', 'stats:ctr,product.price')).code).to.equal(0);
    const model = join(root, 'models/ltr.txt');
    await writeFile(model, (await readFile(model, 'utf8')).replace('product__price', 'product__old_price'));
    const { code, stderr } = await train();
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain(
      'note: the new model has no column product__old_price, which models/ltr.txt has',
    );
    expect((await task()).columns.map(({ name }) => name)).to.include.members([
      'product__price',
      'stats__ctr',
    ]);
  });

  it('learns from the places that were shown, and serves one place', async () => {
    await pipeline(', inputs: { price: product.price, shown_at: position(2) }');
    const { code, stderr } = await train();
    expect(code, stderr).to.equal(0);
    const { columns, computed } = await task();
    expect(columns.map(({ name, feature }) => [name, feature])).to.deep.equal([
      ['price', 'product.price'],
      ['shown_at', undefined],
    ]);
    expect(computed).to.deep.equal({ shown_at: [1, 2, 3] });
    const checked = await millrace(['validate', '--project', root]);
    expect(checked.code, checked.stderr).to.equal(0);
  });

  it('takes the elements of a vector as columns', async () => {
    const features = ['product.embedding[0]', 'product.embedding[1]', 'product.price'];
    await writeFile(
      join(root, 'data/manifest.json'),
      JSON.stringify({
        format: 1,
        pipeline: 'search',
        features: features.map((name) => ({ name, type: 'number', scope: 'candidate' })),
        rows: { train: 2, holdout: 2 },
      }),
    );
    const header = `request_id,time,candidate_id,place,label,weight,examined,${features.join(',')}\n`;
    const rows = (request: string): string =>
      `${request},2026-01-01T00:00:00.000Z,p1,1,1,1,true,0.5,1,80\n${request},2026-01-01T00:00:00.000Z,p2,2,0,1,true,,,20\n`;
    for (const part of ['train', 'holdout'])
      await writeFile(join(root, `data/${part}.csv`), header + rows(part));
    const names = async (options: string): Promise<unknown> => {
      await rm(join(root, 'models'), { recursive: true, force: true });
      await pipeline(options);
      const { code, stderr } = await train();
      expect(code, stderr).to.equal(0);
      const checked = await millrace(['validate', '--project', root]);
      expect(checked.code, checked.stderr).to.equal(0);
      return (await task()).columns.map(({ name, feature }) => [name, feature]);
    };
    expect(await names('')).to.deep.equal([
      ['product__embedding__0', 'product.embedding[0]'],
      ['product__embedding__1', 'product.embedding[1]'],
      ['product__price', 'product.price'],
    ]);
    expect(await names(', inputs: { emb: product.embedding }')).to.deep.equal([
      ['emb__0', 'product.embedding[0]'],
      ['emb__1', 'product.embedding[1]'],
    ]);
    expect(await names(', inputs: [product.price, product.embedding]')).to.deep.equal([
      ['product__price', 'product.price'],
      ['product__embedding__0', 'product.embedding[0]'],
      ['product__embedding__1', 'product.embedding[1]'],
    ]);
  });

  it('uses the logged value of an expression if the values in it were not logged', async () => {
    await pipeline(', inputs: { old: log1p(product.stock) }');
    expect((await train()).code).to.equal(0);
    expect((await task()).columns).to.deep.equal([
      { name: 'old', type: 'number', feature: 'ltr:with.inputs.old' },
    ]);
    await pipeline(', inputs: { stock: log1p(product.stock) }');
    const { code, stderr } = await train();
    expect(code).to.equal(1);
    expect(stderr).to.contain('error: the column stock of ltr: the data set has no value `product.stock`');
  });

  it('writes nothing if a score differs, or if training fails', async () => {
    python = await writeFakePython(root, 'wrong');
    const wrong = await train();
    expect(wrong.code).to.equal(1);
    expect(wrong.stderr).to.match(/1 differ, by up to 1\.0\d*e-9; nothing is written/);
    python = await writeFakePython(root, 'missing');
    const missing = await train();
    expect(missing.stderr).to.equal(
      'error: lightgbm is not installed for python3\nhelp: run: python3 -m pip install lightgbm pandas\n',
    );
    python = await writeFakePython(root, 'crash');
    expect((await train()).stderr).to.contain('MemoryError: no memory');
    python = join(root, 'no-python');
    const none = await train();
    expect(none.code).to.equal(1);
    expect(none.stderr).to.contain(
      'install Python 3.10 or later, or name it with --python or MILLRACE_PYTHON',
    );
    expect(existsSync(join(root, 'models'))).to.equal(false);
  });

  it('names the nearest step, and says which library the step has', async () => {
    const other = async (target: string, ...more: string[]): Promise<string> => {
      const { code, stderr } = await millrace([
        ...['train', target, '--project', root, '--data', join(root, 'data'), '--out', 'x.txt', ...more],
      ]);
      expect(code).to.be.above(0);
      return stderr;
    };
    expect(await other('search:score')).to.contain('the step score uses score, and only models of');
    expect(await other('search:ltrr')).to.contain('did you mean search:ltr?');
    expect(await other('serch:ltr')).to.contain('did you mean search?');
    expect(await other('search')).to.contain('expected PIPELINE:STEP');
    expect(await other('search:ltr', '--lib', 'xgboost')).to.contain('write `use: xgboost`');
    await rm(join(root, 'data/manifest.json'));
    expect(await other('search:ltr')).to.contain('it has no manifest.json');
  });

  it('reports errors of the rest of the pipeline before it trains', async () => {
    await writeFile(
      join(root, 'pipelines/search.yaml'),
      PIPELINE('').replace('value: ltr:score', 'value: ltr:scor + prodct.price'),
    );
    const { code, stderr } = await train();
    expect(code).to.equal(1);
    expect(stderr).to.contain('did you mean `ltr:score`?');
    expect(stderr).to.contain('did you mean `product`?');
    expect(stderr).not.to.contain('models/ltr.txt');
  });
});
