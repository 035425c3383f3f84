import { expect } from 'chai';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../../runtime/ground/core/random.js';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { writeProject } from '../../support/project.js';

const PIPELINE = (more: string): string => `pipeline: search
rank: product
request: { candidates: {} }
params: { w: { value: 0, min: 0, max: 3 } }
define:
  liked: coalesce(product.rating, 3) - 3
components:
${more}  - use: score
    with: { value: product.popularity + w * liked }
`;
const FEATURES = [
  { name: 'product.popularity', type: 'number', scope: 'candidate' },
  { name: 'liked', type: 'number', scope: 'candidate' },
];

/** Clicks on what the sum of popularity and twice the liking says; users look at the first places most. */
function dataSet(requests: number): string {
  const random = new Random(3);
  const lines = [
    'request_id,time,candidate_id,place,label,weight,examined,product.popularity,liked',
    ...Array.from({ length: requests }, (_, request) =>
      Array.from({ length: 10 }, (__, at) => {
        const [popularity, liked] = [random.next(), random.next()];
        const relevant = popularity + 2 * liked > 2;
        const clicked = relevant && random.chance(1 / (at + 1));
        return `r${request},2026-01-01T00:00:00.000Z,p${at},${at + 1},${Number(clicked)},1,true,${popularity},${liked}`;
      }),
    ).flat(),
  ];
  return `${lines.join('\n')}\n`;
}

describe('millrace tune --data', () => {
  let root = '';
  const tune = (...more: string[]): Promise<CommandResult> =>
    millrace(['tune', 'search', '--project', root, '--data', join(root, 'data'), ...more]);

  before(async () => {
    root = await writeProject({
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { popularity: float, rating: float, stock: int }\n',
    });
    await mkdir(join(root, 'data'));
    await mkdir(join(root, 'pipelines'));
    await writeFile(join(root, 'data/train.csv'), dataSet(200));
    await writeFile(
      join(root, 'data/manifest.json'),
      JSON.stringify({
        format: 1,
        pipeline: 'search',
        features: FEATURES,
        rows: { train: 2000, holdout: 0 },
      }),
    );
  });
  beforeEach(() => writeFile(join(root, 'pipelines/search.yaml'), PIPELINE('')));
  after(() => rm(root, { recursive: true, force: true }));

  it('finds the value of a param in logged values, without a store, the same for the same seed', async () => {
    // The definition is logged and its attribute is not: it must not be computed again.
    const shown = await tune('--json', '--seed', '2');
    expect(shown.code, shown.stderr).to.equal(0);
    const result = JSON.parse(shown.stdout) as {
      readonly data: string;
      readonly params: readonly { readonly after: number }[];
      readonly out_of_fold: { readonly lower: number };
      seconds: number;
    };
    expect(result.data).to.equal(join(root, 'data'));
    expect(result.params[0]?.after).to.be.within(1.3, 3);
    expect(result.out_of_fold.lower).to.be.above(0);
    const again = JSON.parse((await tune('--json', '--seed', '2')).stdout) as typeof result;
    expect({ ...again, seconds: 0 }).to.deep.equal({ ...result, seconds: 0 });
  });

  it('calls the figure agreement with feedback, and writes the values', async () => {
    await writeFile(
      join(root, 'propensities.json'),
      '[1, 0.5, 0.33, 0.25, 0.2, 0.17, 0.14, 0.125, 0.11, 0.1]',
    );
    const { stdout, stderr, code } = await tune(
      ...['--propensities', join(root, 'propensities.json'), '--write'],
    );
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^search: agreement with feedback, dcg@10 weighted by propensity of 1\d\d\s/);
    expect(stdout).to.contain('measure the change with judgments or an');
    expect(await readFile(join(root, 'pipelines/search.yaml'), 'utf8')).to.match(/value: (1\.[4-9]|2\.)/);
  });

  it('refuses steps that cannot run on logged values', async () => {
    await writeFile(
      join(root, 'pipelines/search.yaml'),
      PIPELINE('  - use: filter\n    with: { keep: product.stock > w }\n'),
    );
    const filter = await tune();
    expect(filter.code).to.equal(1);
    expect(filter.stderr).to.contain('the params change the filter filter');
    await writeFile(
      join(root, 'pipelines/search.yaml'),
      PIPELINE('') + '  - use: boost\n    with: { where: product.stock > 3, add: 1 }\n',
    );
    const lacking = await tune();
    expect(lacking.code).to.equal(1);
    expect(lacking.stderr).to.contain('the step boost reads product.stock, which the data set does not have');
    expect(lacking.stderr).to.contain('log: { features: [models, product.stock] }');
  });

  it('leaves out filters that the params do not change', async () => {
    await writeFile(
      join(root, 'pipelines/search.yaml'),
      PIPELINE('  - use: filter\n    with: { keep: product.stock > 3 }\n'),
    );
    const { code, stderr } = await tune();
    expect(code, stderr).to.equal(0);
  });

  it('takes either judgments or a data set', async () => {
    const both = await tune('--judgments', 'x.csv');
    expect([both.code, both.stderr]).to.deep.equal([
      2,
      'error: tune needs either --judgments FILE or --data DIR\n',
    ]);
    const alone = await millrace([
      'tune',
      'search',
      '--project',
      root,
      '--judgments',
      'x',
      '--propensities',
      'y',
    ]);
    expect(alone.stderr).to.contain('--propensities needs --data');
  });
});
