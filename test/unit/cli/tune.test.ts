import { expect } from 'chai';
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { writeProject } from '../../support/project.js';
import { tuningShop } from '../../support/tuning-shop.js';

const PIPELINE = (params: string, value: string): string => `pipeline: search
rank: product
request: { candidates: {}, query: query }
params: ${params} # the weights
components:
  - { use: text_match, as: title, with: { query: query.query, field: product.title } }
  - { use: score, with: { value: ${value} } }
`;
const SCORE = 'title:overlap + w * product.popularity';

interface Printed {
  readonly out_of_fold: { readonly before: number; readonly delta: number; readonly lower: number };
  readonly params: readonly { readonly before: number; readonly after: number }[];
  readonly written: boolean;
  readonly seconds?: number;
}

describe('millrace tune', () => {
  let root = '';
  let store: string[] = [];
  const file = (): string => join(root, 'pipelines/search.yaml');
  const tune = (...more: string[]): Promise<CommandResult> =>
    millrace(['tune', 'search', '--judgments', join(root, 'judgments.csv'), ...store, ...more]);
  const json = ({ stdout }: CommandResult): Printed => JSON.parse(stdout) as Printed;

  before(async () => {
    const { products, judgments } = tuningShop(30);
    root = await writeProject({
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { title: string, popularity: float, rating: float }\n',
      'pipelines/search.yaml': PIPELINE('{}', 'title:overlap'),
      'products.jsonl': products,
      'judgments.csv': judgments,
    });
    store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
    const loaded = await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
    expect(loaded.code, loaded.stderr).to.equal(0);
  });
  beforeEach(() => writeFile(file(), PIPELINE('{ w: { value: 0.1, min: 0, max: 3 } }', SCORE)));
  after(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('prints the same figures for the same seed, and starts from the figure of evaluate', async () => {
    const [first, second] = [
      json(await tune('--json', '--seed', '4')),
      json(await tune('--json', '--seed', '4')),
    ];
    expect({ ...first, seconds: 0 }).to.deep.equal({ ...second, seconds: 0 });
    const evaluated = await millrace([
      ...['evaluate', 'search', '--judgments', join(root, 'judgments.csv'), ...store],
      ...['--metrics', 'ndcg@10', '--seed', '4', '--json'],
    ]);
    const { metrics } = JSON.parse(evaluated.stdout) as { metrics: readonly { mean: number }[] };
    expect(first.out_of_fold.before).to.be.closeTo(metrics[0]?.mean ?? NaN, 1e-12);
    expect(first.out_of_fold.delta).to.be.above(0);
    expect(first.written).to.equal(false);
  });

  it('writes the value with --write, and keeps everything else of the file', async () => {
    await chmod(file(), 0o640);
    const before = await readFile(file(), 'utf8');
    const { code, stdout, stderr } = await tune('--write');
    expect(code, stderr).to.equal(0);
    const after = await readFile(file(), 'utf8');
    const [, value = ''] = /value: ([\d.]+),/.exec(after) ?? [];
    expect(Number(value)).to.be.above(0.1);
    expect(after).to.equal(before.replace('value: 0.1,', `value: ${value},`));
    expect(stdout).to.contain('-params: { w: { value: 0.1, min: 0, max: 3 } } # the weights');
    expect(stdout).to.contain('written to pipelines/search.yaml');
    expect((await stat(file())).mode & 0o777).to.equal(0o640);
    expect(await readdir(join(root, 'pipelines'))).to.deep.equal(['search.yaml']);
  });

  it('writes nothing if no value is better', async () => {
    const pipeline = PIPELINE('{ w: { value: 1, min: 0.5, max: 3 } }', 'product.popularity * w');
    await writeFile(file(), pipeline);
    const { code, stdout } = await tune('--write');
    expect(code).to.equal(0);
    expect(stdout).to.contain('no better values found; the file stays as it is');
    expect(await readFile(file(), 'utf8')).to.equal(pipeline);
  });

  const failures: readonly (readonly [
    what: string,
    pipeline: string,
    flags: string[],
    code: number,
    text: string,
  ])[] = [
    ['no params', PIPELINE('{}', 'title:overlap'), [], 1, 'the pipeline search has no param with a range'],
    ['no range', PIPELINE('{ w: 0.5 }', SCORE), [], 1, 'for example w: { value: 0.5, min: 0, max: 3 }'],
    [
      'a param without a use',
      PIPELINE('{ w: { value: 1, min: 0, max: 3 } }', 'title:overlap'),
      [],
      1,
      'no step of search uses w',
    ],
    ['another metric', PIPELINE('{}', 'title:overlap'), ['--metric', 'map'], 2, 'tuning raises NDCG'],
    [
      'a misspelt metric',
      PIPELINE('{}', 'title:overlap'),
      ['--metric', 'ndgc@10'],
      2,
      'did you mean `ndcg@10`?',
    ],
    [
      'an error in the project',
      PIPELINE('{ w: 1 }', 'w * title:overlapp'),
      [],
      1,
      'did you mean `title:overlap`?',
    ],
  ];
  for (const [what, pipeline, flags, code, text] of failures) {
    it(`says what is wrong with ${what}`, async () => {
      await writeFile(file(), pipeline);
      const failed = await tune(...flags);
      expect(failed.code).to.equal(code);
      expect(failed.stderr).to.contain(text);
    });
  }

  it('ends its progress bar before the error of a query that it cannot read', async () => {
    const long = join(root, 'long.csv');
    await writeFile(long, `query,product_id,grade\nshoes,p1,1\n${'x'.repeat(2000)},p1,1\n`);
    // A bar that is not stopped would draw itself again and again, and the command would not end.
    const failed = await millrace(['tune', 'search', '--judgments', long, ...store], { isTerminal: true });
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.match(/reading .* queries .*\nerror\[invalid_body\]/s);
  });

  it('names the nearest pipeline', async () => {
    const failed = await millrace(['tune', 'serch', '--judgments', join(root, 'judgments.csv'), ...store]);
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.contain('did you mean search?');
  });
});
