import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readPropensities } from '../../../../runtime/learn/training/propensities.js';
import { millrace, type CommandResult } from '../../../support/command-line.js';
import { exploredLedger } from '../../../support/experiment-shop.js';
import { MadeExperiment } from '../../../support/made-experiment.js';
import { START } from '../../../support/made-ledger.js';
import { writeProject } from '../../../support/project.js';
import { repositoryPath } from '../../../support/repository.js';

const PIPELINE = (name: string, score: string): string => `
pipeline: ${name}
rank: product
request: { candidates: {}, user: optional(user) }
components:
  - use: score
    with: { value: '${score}' }
page: { size: 5 }
`;

const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { rank: int }\n',
  // The order of the log without its swaps.
  'pipelines/search.yaml': PIPELINE('search', '0 - product.rank'),
  // All neighbours of the log swapped.
  'pipelines/swapped.yaml': PIPELINE(
    'swapped',
    '0 - if(product.rank in (1, 3), product.rank + 1.5, product.rank)',
  ),
  // The log never shows p5 at the third place, nor p3 at the fifth.
  'pipelines/unseen.yaml': PIPELINE(
    'unseen',
    '0 - if(product.rank == 3, 6, if(product.rank == 5, 2.5, product.rank))',
  ),
  'pipelines/reversed.yaml': PIPELINE('reversed', 'product.rank'),
};

/** Second pages of rankings of three products in random order, with two on a page. Users click p3 there, if it comes after p1 and p2. */
function secondPages(count: number): MadeExperiment {
  const orders = ['p1 p2 p3', 'p1 p3 p2', 'p2 p1 p3', 'p2 p3 p1', 'p3 p1 p2', 'p3 p2 p1'];
  const ledger = new MadeExperiment();
  for (let page = 0; page < count; page++) {
    const ids = (orders[page % orders.length] ?? '').split(' ');
    const shown = ids.map((id, at) => ({
      ...{ id, before: Number(id.slice(1)), propensity: 1 / (3 - at), marginal: 1 / 3, onPage: at === 2 },
    }));
    const [request, time] = [`r${page}`, START + page];
    ledger.request({ request, time, user: `u${page}`, shown });
    if (ids[2] === 'p3') ledger.act({ event: 'click', subject: 'p3', time: time + 1, request });
  }
  return ledger;
}

const GOLDEN = 'test/unit/cli/experiments/golden/off-policy.txt';

describe('evaluate --estimator and ledger propensities', () => {
  let root = '';
  let project: string[] = [];
  const work = mkdtempSync(join(tmpdir(), 'millrace-off-policy-'));
  const ledgers = {
    explored: join(work, 'explored'),
    few: join(work, 'few'),
    plain: join(work, 'plain'),
    second: join(work, 'second'),
  };

  before(async () => {
    root = await writeProject(FILES);
    project = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')];
    const products = [1, 2, 3, 4, 5]
      .map((rank) => JSON.stringify({ product_id: `p${rank}`, rank }))
      .join('\n');
    writeFileSync(join(work, 'products.jsonl'), products);
    const loaded = await millrace(['entities', 'load', 'product', join(work, 'products.jsonl'), ...project]);
    expect(loaded.code, loaded.stderr).to.equal(0);
    exploredLedger(1200).write(ledgers.explored);
    exploredLedger(90).write(ledgers.few);
    const plain = new MadeExperiment();
    for (let i = 0; i < 5; i++) plain.request({ request: `r${i}`, time: START + i, shown: [{ id: 'p1' }] });
    plain.write(ledgers.plain);
    secondPages(600).write(ledgers.second);
  });
  after(() => {
    rmSync(work, { recursive: true });
    rmSync(root, { recursive: true });
  });

  const evaluate = (pipeline: string, ledger: string, ...more: string[]): Promise<CommandResult> =>
    millrace(['evaluate', pipeline, '--ledger', ledger, ...more, ...project]);

  it('finds the value of pipelines that never ran', async () => {
    // Users look at place k with 1 / k: the value of the order of the log, and of the order with swapped neighbours.
    const truth = {
      search: 0.5 + 0.4 / 2 + 0.3 / 3 + 0.2 / 4 + 0.1 / 5,
      swapped: 0.4 + 0.5 / 2 + 0.2 / 3 + 0.3 / 4 + 0.1 / 5,
    };
    for (const pipeline of ['search', 'swapped'] as const)
      for (const [estimator, reward] of [
        ['ips', 'item_position'],
        ['snips', 'page'],
      ] as const) {
        const flags = ['--estimator', estimator, '--reward', reward, '--json'];
        const { code, stdout, stderr } = await evaluate(pipeline, ledgers.explored, ...flags);
        expect([code, stderr], `${pipeline} ${estimator} ${reward}`).to.deep.equal([0, '']);
        const found = JSON.parse(stdout) as Record<
          'value' | 'lower' | 'upper' | 'effective' | 'largest',
          number
        >;
        const half = (found.upper - found.lower) / 2;
        expect(found.value, `${pipeline} ${estimator} ${reward}`).to.be.closeTo(truth[pipeline], 1.5 * half);
        expect(found.largest).to.equal(reward === 'item_position' ? 2 : 4);
      }
  });

  it('takes a second page only for what the pages above it allow', async () => {
    for (const reward of ['item_position', 'cascade', 'page']) {
      const flags = ['--estimator', 'ips', '--reward', reward, '--json'];
      const { code, stdout, stderr } = await evaluate('search', ledgers.second, ...flags);
      expect([code, stderr], reward).to.deep.equal([0, '']);
      const { value, unsupported } = JSON.parse(stdout) as Record<'value' | 'unsupported', number>;
      expect(value, reward).to.be.closeTo(1, 1e-9);
      expect(unsupported, reward).to.be.closeTo(0, 1e-9);
    }
  });

  it('prints the value, its interval, and what it stands on, in 80 columns', async () => {
    const { stdout } = await evaluate('swapped', ledgers.explored, '--estimator', 'snips');
    expect(stdout).to.match(/^swapped instead of search, on 1,200 logged pages of 1,000 users\n/);
    expect(stdout).to.match(
      /\nvalue of a page {3}0\.\d{4} \[0\.\d{4}, 0\.\d{4}\] {2}snips, item_position; click=1\n/,
    );
    expect(stdout).to.match(/\nlargest weight {4}2\.00\n/);
    expect(stdout.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
  });

  it('prints the support before the value', async () => {
    const { stdout } = await evaluate('swapped', ledgers.explored, '--estimator', 'ips');
    const lines = stdout.split('\n').map((line) => line.slice(0, 15).trim());
    expect(lines.indexOf('unsupported')).to.be.below(lines.indexOf('value of a page'));
  });

  it('evaluates a pipeline on requests that another one logged', async () => {
    const of = ['--against', 'reversed', '--logged-by', 'search', '--metrics', 'ndcg@10', '--json'];
    const { code, stdout, stderr } = await evaluate('swapped', ledgers.explored, ...of);
    expect(code, stderr).to.equal(0);
    const { metrics } = JSON.parse(stdout) as { metrics: readonly { delta: { mean: number } }[] };
    expect(metrics[0]?.delta.mean).to.be.above(0);
    const flags = ['--ledger', ledgers.explored, '--logged-by', 'search', ...project];
    expect((await millrace(['diff', 'swapped', 'reversed', ...flags])).code).to.equal(0);
  });

  it('recovers how much users look at each place, and writes it for tune and train', async () => {
    const out = join(work, 'propensities.json');
    const flags = ['--ledger', ledgers.explored, '--out', out, '--project', root];
    const { code, stdout, stderr } = await millrace(['ledger', 'propensities', ...flags]);
    expect([code, stderr]).to.deep.equal([0, '']);
    // Only the places 1 and 2 are swapped, and 3 and 4: the chain ends at 2.
    const [first, second, ...others] = await readPropensities(out);
    expect([first, others]).to.deep.equal([1, []]);
    expect(second).to.be.closeTo(0.5, 0.05);
    expect(stdout).to.match(/^search: 1,200 pages with drawn places, by swapped neighbours\n/);
  });

  it('says what is wrong, and what to do', async () => {
    const { explored, few, plain } = ledgers;
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['an estimator without a ledger', ['evaluate', 'search', '--estimator', 'ips', ...project]],
      [
        'a reward without an estimator',
        ['evaluate', 'search', '--ledger', explored, '--reward', 'page', ...project],
      ],
      ['an unknown estimator', ['evaluate', 'search', '--ledger', explored, '--estimator', 'dr', ...project]],
      [
        'a gate on an estimate',
        [
          'evaluate',
          'search',
          '--ledger',
          explored,
          '--estimator',
          'ips',
          '--require',
          'ndcg@10 > 0',
          ...project,
        ],
      ],
      [
        'too few effective pages',
        ['evaluate', 'search', '--ledger', few, '--estimator', 'snips', ...project],
      ],
      [
        'no page that the pipeline would show',
        [
          'evaluate',
          'reversed',
          '--ledger',
          explored,
          '--estimator',
          'snips',
          '--reward',
          'page',
          ...project,
        ],
      ],
      [
        'a fifth of the pages and more that the log could not show',
        ['evaluate', 'unseen', '--ledger', explored, '--estimator', 'snips', ...project],
      ],
      [
        'a baseline on requests that another pipeline logged',
        ['evaluate', 'swapped', '--ledger', explored, '--against', 'reversed', ...project],
      ],
      [
        'a comparison of requests that another pipeline logged',
        ['diff', 'swapped', 'reversed', '--ledger', explored, ...project],
      ],
      [
        'a score that is no probability',
        ['evaluate', 'reversed', '--ledger', explored, '--estimator', 'ips', '--target', 'score', ...project],
      ],
      ['a ledger without draws', ['ledger', 'propensities', '--ledger', plain, '--project', root]],
      [
        'drawn pages of another pipeline',
        ['ledger', 'propensities', '--ledger', explored, '--pipeline', 'home', '--project', root],
      ],
      [
        'an event that is not in the ledger',
        ['ledger', 'propensities', '--ledger', explored, '--event', 'order', '--project', root],
      ],
      [
        'pages of another pipeline',
        ['evaluate', 'search', '--ledger', explored, '--estimator', 'ips', '--logged-by', 'home', ...project],
      ],
      [
        'no ledger',
        ['evaluate', 'search', '--ledger', join(work, 'nowhere'), '--estimator', 'ips', ...project],
      ],
    ];
    const told: string[] = [];
    for (const [what, argv] of cases) {
      const { code, stdout, stderr } = await millrace(argv);
      told.push(
        `## ${what}\nexit code ${code}\n${stdout}${stderr}`.replaceAll(work, 'WORK').replaceAll(root, 'ROOT'),
      );
    }
    const path = repositoryPath(GOLDEN);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, told.join('\n'));
    expect(existsSync(path), `${path}; write it with UPDATE_GOLDEN=1`).to.equal(true);
    expect(told.join('\n')).to.equal(readFileSync(path, 'utf8'));
  });
});
