import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { guardText } from '../../../../runtime/cli/experiments/report-words.js';
import { millrace } from '../../../support/command-line.js';
import { experimentLedger } from '../../../support/experiment-shop.js';
import { MadeExperiment } from '../../../support/made-experiment.js';
import { START } from '../../../support/made-ledger.js';
import { writeProject } from '../../../support/project.js';
import { repositoryPath } from '../../../support/repository.js';

const EXPERIMENT = (name: string, more: string): string => `
experiment: ${name}
pipeline: search
unit: user
until: 2026-11-05T00:00Z
layer: page
${more}`;
const ARMS = 'share: 10%\narms: { control: {}, popular: { params: { w_pop: 0.5 } } }\n';
const METRICS =
  'metrics: { primary: { event: order, value: sum(revenue), within: 7d }, guard: [latency_p99] }\n';

const FILES = {
  'millrace.yaml':
    'project: shop\nstore: embedded\nevents: { impression: {}, click: {}, order: { revenue: float } }\n',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'pipelines/search.yaml': `
pipeline: search
rank: product
request: { candidates: {}, user: optional(user) }
params: { w_pop: 0.3 }
components:
  - { use: score, with: { value: w_pop * product.price } }
log: { unit: user }
`,
  'experiments/popularity.yaml': EXPERIMENT('popularity', ARMS + METRICS),
  'experiments/vague.yaml': EXPERIMENT('vague', `offset: 10%\n${ARMS}`),
  'experiments/silent.yaml': EXPERIMENT('silent', `mode: shadow\n${ARMS}${METRICS}`),
  'experiments/unseen.yaml': EXPERIMENT('unseen', `offset: 50%\n${ARMS}${METRICS}`),
};

const GOLDEN = 'test/unit/cli/experiments/golden/report.txt';

describe('experiments report', () => {
  let root = '';
  const work = mkdtempSync(join(tmpdir(), 'millrace-report-'));
  const ledger = join(work, 'ledger');

  before(async () => {
    root = await writeProject(FILES);
    experimentLedger(1000).write(ledger);
    new MadeExperiment().request({ request: 'r', time: START }).write(join(work, 'other'));
  });
  after(() => {
    rmSync(work, { recursive: true });
    rmSync(root, { recursive: true });
  });

  it('prints text, JSON and a page that say the same', async () => {
    const flags = ['experiments', 'report', 'popularity', '--ledger', ledger, '--project', root];
    const html = join(work, 'report.html');
    const text = await millrace([...flags, '--html', html]);
    expect([text.code, text.stderr]).to.deep.equal([0, '']);
    const json = await millrace([...flags, '--json']);
    const report = JSON.parse(json.stdout) as {
      arms: { arm: string; units: number; verdict?: string; fixed?: { lower: number } }[];
      decision: string[];
    };
    expect(report.arms.map(({ arm }) => arm)).to.deep.equal(['control', 'popular']);
    expect(report.arms.reduce((sum, { units }) => sum + units, 0)).to.equal(1000);
    const [decision = ''] = report.decision;
    expect(text.stdout.replace(/\s+/g, ' ')).to.contain(decision);
    expect(readFileSync(html, 'utf8')).to.contain(decision.replaceAll("'", '&#39;'));
    expect(readFileSync(html, 'utf8')).to.contain('>holds<').and.not.to.contain(': holds');
  });

  it('says why the time of an arm has no interval', () => {
    const worse = { lower: -1, upper: Infinity };
    expect(
      guardText({ guard: 'latency_p99', bound: 0.1, control: 61.6, arm: 51, worse, state: 'unclear' }),
    ).to.equal('latency_p99 61.6 → 51.0 ms (too few requests for an interval), bound +10 %: unclear');
  });

  it('says what is wrong, and what to do', async () => {
    const of = (...argv: string[]): readonly string[] => [
      'experiments',
      'report',
      ...argv,
      '--project',
      root,
    ];
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['a misspelt name', of('popularty', '--ledger', ledger)],
      ['no metrics', of('vague', '--ledger', ledger)],
      ['a shadow experiment', of('silent', '--ledger', ledger)],
      ['a ledger without its requests', of('unseen', '--ledger', ledger)],
      ['a ledger without experiments', of('popularity', '--ledger', join(work, 'other'))],
      ['no ledger', of('popularity', '--ledger', join(work, 'nowhere'))],
      ['an effect that is none', of('popularity', '--ledger', ledger, '--effect', '0')],
      ['an effect without its sign', of('popularity', '--ledger', ledger, '--effect', '5')],
      [
        'a page that cannot be written',
        of('popularity', '--ledger', ledger, '--html', join(work, 'no/such/page.html')),
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
