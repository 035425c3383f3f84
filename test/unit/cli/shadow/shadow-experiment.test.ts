import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ShadowReport } from '../../../../runtime/cli/report/shadow-text.js';
import { MadeLedger } from '../../../support/made-ledger.js';
import { millrace } from '../../../support/command-line.js';
import { writeProject } from '../../../support/project.js';
import { BUNDLED_ARMS } from '../../../support/bundled-arms.js';

const PIPELINE = (name: string): string =>
  `pipeline: ${name}\nrank: product\nrequest: { candidates: {}, user: optional(user) }\nparams: { w: 1 }\n` +
  'components:\n  - use: score\n    with: { value: w }\n';
const EXPERIMENT = (name: string, more: string): string =>
  `experiment: ${name}\npipeline: search\nunit: user\n${more}\n`;

const FILES = {
  'millrace.yaml': 'project: shop\nstore: embedded\n',
  'pipelines/search.yaml': PIPELINE('search'),
  'pipelines/other.yaml': PIPELINE('other'),
  'experiments/live.yaml': EXPERIMENT('live', 'share: 50%\narms: { control: {}, one: { params: { w: 2 } } }'),
  'experiments/pages.yaml': EXPERIMENT(
    'pages',
    'mode: interleave\nlayer: live\noffset: 50%\nshare: 50%\nfrom: 2020-01-01T00:00Z\nuntil: 2021-01-01T00:00Z\narms: { control: {}, one: { params: { w: 3 } } }\n' +
      'metrics: { primary: { event: click, within: 1h } }',
  ),
  'experiments/quiet.yaml': EXPERIMENT(
    'quiet',
    'mode: shadow\nuntil: 2021-01-01T00:00Z\narms: { control: {}, one: { params: { w: 2 } } }',
  ),
};

describe('shadow --experiment', () => {
  let root = '';
  const ledger = mkdtempSync(join(tmpdir(), 'millrace-shadow-'));

  before(async () => {
    root = await writeProject(FILES);
  });
  after(() => {
    rmSync(root, { recursive: true });
    rmSync(ledger, { recursive: true });
  });

  const refusal = async (...args: readonly string[]): Promise<readonly [number, string]> => {
    const { code, stderr } = await millrace(['shadow', ...args, '--project', root, '--ledger', ledger]);
    return [code, stderr.replaceAll(root, 'ROOT')];
  };

  it('refuses an experiment whose arms users see, and names the remedy', async () => {
    expect(await refusal('--experiment', 'live')).to.deep.equal([
      1,
      'error: live has the mode split: the service shows its arms to users; --experiment runs files with mode: shadow\n' +
        'help: write mode: shadow in experiments/live.yaml, or name the arms with --against and --params\n',
    ]);
    expect((await refusal('--experiment', 'pages'))[1]).to.include('pages has the mode interleave');
  });

  it('lists the experiments of the project for an unknown name', async () => {
    expect(await refusal('--experiment', 'quite')).to.deep.equal([
      1,
      'error: the project has no experiment quite; it has live, pages, quiet\nhelp: did you mean quiet?\n',
    ]);
  });

  it('refuses another pipeline than that of the experiment', async () => {
    const [code, text] = await refusal('other', '--experiment', 'quiet');
    expect(code).to.equal(2);
    expect(text).to.include('quiet is an experiment on the pipeline search, not on other; leave out other');
  });

  it('refuses to follow an experiment that has ended', async () => {
    const [code, text] = await refusal('--experiment', 'quiet', '--follow');
    expect(code).to.equal(1);
    expect(text).to.include('quiet ended at 2021-01-01T00:00:00.000Z').and.include('leave out --follow');
  });

  it('runs the arms one after the other on an embedded store', async function () {
    this.timeout(60_000);
    const folder = mkdtempSync(join(tmpdir(), 'millrace-shadow-'));
    const made = new MadeLedger();
    const candidates = ['a', 'b'].map((id) => ({ id }));
    for (let at = 0; at < 3; at++)
      made.ranking({ request: `r${at}`, time: Date.UTC(2020, 6, 1 + at), candidates });
    made.ranking({ request: 'late', time: Date.UTC(2022, 0, 1), candidates });
    const flags = ['--project', root, '--ledger', made.write(folder), '--data-dir', join(folder, 'data')];
    try {
      const { code, stdout, stderr } = await millrace(
        ['shadow', '--experiment', 'quiet', ...flags, '--json'],
        {
          env: { PATH: process.env.PATH ?? '', ...BUNDLED_ARMS },
        },
      );
      expect(code, stderr).to.equal(0);
      const { requests, arms } = JSON.parse(stdout) as ShadowReport;
      expect(requests).to.equal(3);
      expect(arms.map(({ arm, ranked, restarts }) => [arm, ranked, restarts])).to.deep.equal([
        ['control', 3, 0],
        ['one', 3, 0],
      ]);
      const followed = await millrace([
        'shadow',
        'search',
        '--params',
        'w=1',
        '--params',
        'w=2',
        '--follow',
        ...flags,
      ]);
      expect([followed.code, followed.stderr]).to.deep.equal([
        1,
        'error: --follow runs 2 arms at the same time, but an embedded store has one owner\n' +
          'help: leave out --follow, name one arm, or use a store on Redis\n',
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('takes one experiment', async () => {
    const [code, text] = await refusal('--experiment', 'quiet', '--experiment', 'live');
    expect(code).to.equal(2);
    expect(text).to.include('run the command once for each experiment');
  });

  it('is named, with the other two ways to name an arm, if there is no arm', async () => {
    const [code, text] = await refusal('search');
    expect(code).to.equal(2);
    expect(text).to.match(/--against .*--params .*--experiment NAME/);
    const [bare, what] = await refusal();
    expect(bare).to.equal(2);
    expect(what)
      .to.include('name the pipeline')
      .and.match(/--against .*--params.*--experiment NAME/);
  });
});
