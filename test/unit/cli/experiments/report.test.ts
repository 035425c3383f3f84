import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { guardText } from '../../../../runtime/learn/report/experiment-words.js';
import { millrace } from '../../../support/command-line.js';
import { parquetWriteFile } from 'hyparquet-writer';
import { IdHasher } from '../../../../runtime/ground/core/id-hasher.js';
import { earlierLedger, experimentLedger } from '../../../support/experiment-shop.js';
import { MadeExperiment } from '../../../support/made-experiment.js';
import { HOUR, START } from '../../../support/made-ledger.js';
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
  'experiments/adjusted.yaml': EXPERIMENT(
    'adjusted',
    `offset: 70%\n${ARMS}${METRICS.replace('7d', '7d, adjust: { before: 14d }')}`,
  ),
  'experiments/mixed.yaml': EXPERIMENT(
    'mixed',
    'mode: interleave\noffset: 80%\nshare: 1%\narms: { control: {}, same: {} }\nmetrics: { primary: { event: click } }\n',
  ),
  'pipelines/hidden.yaml': `
pipeline: hidden
rank: product
request: { candidates: {}, user: optional(user) }
components:
  - { use: score, with: { value: product.price } }
log: { unit: user, hash: [user] }
`,
  'experiments/hashed.yaml': `
experiment: hashed
pipeline: hidden
unit: user
arms: { control: {}, same: {} }
${METRICS}`,
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
    earlierLedger().write(join(work, 'earlier'));
    new MadeExperiment().request({ request: 'r', time: START, user: 'u1' }).write(join(work, 'user'));
    writeFileSync(join(work, 'orders.csv'), 'unit,time,value\nu1,2026-11-02,7\n');
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
    expect(readFileSync(html, 'utf8')).to.contain(': holds</p>');
  });

  it('says why the time of an arm has no interval', () => {
    const worse = { lower: -1, upper: Infinity };
    expect(
      guardText({ guard: 'latency_p99', margin: 0.1, control: 61.6, arm: 51, worse, state: 'unclear' }),
    ).to.equal('latency_p99 61.6 → 51.0 ms (too few requests for an interval), margin +10 %: unclear');
  });

  it('hashes the units of a file as the ledger has them', async () => {
    const salt = 'a secret of a test';
    const hashed = new IdHasher(salt, new Set(['user']));
    const made = new MadeExperiment();
    for (const user of ['u1', 'u2', 'u3'])
      made.request({
        ...{ request: user, time: START, experiment: 'hashed', arm: user === 'u1' ? 'same' : 'control' },
        unit: hashed.shown('user', user),
      });
    const outcomes = join(work, 'rows.parquet');
    parquetWriteFile({
      filename: outcomes,
      columnData: [
        { name: 'unit', data: ['u1', 'u1', 'u4'], type: 'STRING' },
        { name: 'time', data: [1, 2, 3].map((hour) => new Date(START + hour * HOUR)), type: 'TIMESTAMP' },
        { name: 'value', data: [5, 7, 9], type: 'DOUBLE' },
      ],
    });
    const flags = [
      '--ledger',
      made.write(join(work, 'hashed')),
      '--outcomes',
      outcomes,
      '--project',
      root,
      '--json',
    ];
    const { stdout, stderr } = await millrace(['experiments', 'report', 'hashed', ...flags], {
      env: { MILLRACE_ID_SALT: salt },
    });
    // The file ends before the windows.
    expect(stderr).to.contain('after the last known event, 2026-11-01T03:00Z');
    const { arms, feedback } = JSON.parse(stdout) as { arms: { value: number }[]; feedback: object };
    expect(arms.map(({ value }) => value)).to.deep.equal([0, 12]);
    expect(feedback).to.include({ byFile: 2, outside: 1 });
  });

  it('plans an experiment from the log of its pipeline', async () => {
    const flags = ['--ledger', join(work, 'earlier'), '--at', '2026-11-01', '--project', root];
    const text = await millrace(['experiments', 'plan', 'adjusted', ...flags]);
    expect([text.code, text.stderr]).to.deep.equal([0, '']);
    expect(text.stdout.split('\n').filter((line) => line.length > 80)).to.deep.equal([]);
    const { stdout } = await millrace(['experiments', 'plan', 'adjusted', ...flags, '--json']);
    const plan = JSON.parse(stdout) as {
      daily: number;
      mean: number;
      deviation: number;
      correlation: number;
      sizes: Record<'raw' | 'adjusted', { effect: number; units: number; days: number }>[];
    };
    // A tenth of the 100 new users a day takes part.
    expect(plan.daily).to.be.closeTo(10, 0.01);
    const found = plan.sizes.find(({ raw }) => raw.effect === 0.05);
    // Twice (1.96 + 0.84)² · 2 · variance / effect², as the textbooks have it for two arms of the same size.
    const units = (2 * (1.959964 + 0.841621) ** 2 * 2 * plan.deviation ** 2) / (0.05 * plan.mean) ** 2;
    expect(found?.raw.units).to.be.closeTo(units, 1 + 1e-5 * units);
    expect(found?.adjusted.units).to.be.closeTo(units * (1 - plan.correlation ** 2), 0.005 * units);
    expect(found?.raw.days)
      .to.be.above((units - 200) / 10 - 25)
      .and.below(units / 10);
    expect(text.stdout.replace(/\s+/g, ' ')).to.contain(
      "rule Take an arm if it is shown at 95 % that the adjusted metric is higher than control's, and that latency_p99 is worse by less than 10 %.",
    );
  });

  it('says what is wrong, and what to do', async () => {
    const of = (...argv: string[]): readonly string[] => [
      'experiments',
      'report',
      ...argv,
      '--project',
      root,
    ];
    const outcomes = ['--ledger', ledger, '--outcomes', join(work, 'orders.csv')];
    const plan = (...argv: string[]): readonly string[] => [
      'experiments',
      'plan',
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
      ['a time that is none', of('popularity', '--ledger', ledger, '--at', 'yesterday')],
      [
        'a file that is not there',
        of('popularity', '--ledger', ledger, '--outcomes', join(work, 'none.csv')),
      ],
      ['outcomes of an interleaving', of('mixed', ...outcomes)],
      [
        'covariates without adjust',
        of('popularity', '--ledger', ledger, '--covariates', join(work, 'orders.csv')),
      ],
      ['a file for hashed units, without the salt', of('hashed', ...outcomes)],
      ['a plan of an interleaving', plan('mixed', '--ledger', ledger)],
      ['a plan from a log without the pipeline', plan('hashed', '--ledger', ledger)],
      [
        'a plan from a log without outcomes',
        plan('popularity', '--ledger', join(work, 'user'), '--at', '2026-12-01'),
      ],
      [
        'a plan from a log that is too short',
        plan('adjusted', '--ledger', join(work, 'earlier'), '--at', '2026-10-05'),
      ],
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
