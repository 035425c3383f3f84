import { expect } from 'chai';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunningLedger } from '../../runtime/state/ledger/ledger.js';
import { millrace } from '../support/command-line.js';
import { fileLedger } from '../support/ledger-records.js';
import { startProject, writeProject, type TestProject } from '../support/project.js';

const REQUEST = `rank: product
request: { candidates: { sent: float }, user: optional(user) }
`;
const LOG = 'log: { candidates: all, features: all }\n';
const SPLIT_BY_PARAMS = `experiment: prices
pipeline: search
unit: user
arms:
  control: { weight: 1 }
  cheap: { weight: 1, params: { w_price: -3 } }
`;
const SPLIT_BY_PIPELINE = `experiment: rewrite
pipeline: browse
unit: user
layer: page
share: 40%
arms:
  control: {}
  second: { pipeline: browse_v2 }
`;
const MIXED_PARAMS = `experiment: popularity
pipeline: search
mode: interleave
unit: user
share: 60%
arms:
  control: {}
  popular: { params: { w_pop: 2 } }
`;
const mixedPipeline = (name: string, offset: number, arm: string): string => `experiment: ${name}
pipeline: browse
mode: interleave
unit: user
layer: page
offset: ${offset}%
share: 30%
arms:
  control: {}
  other: { pipeline: ${arm} }
`;
const BROWSE_V2 = `pipeline: browse_v2
${REQUEST}components:
  - { use: score, with: { value: product.pop - product.price } }
`;
const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { pop: float, price: float, brand: string, stock: int }\n',
  'pipelines/search.yaml': `pipeline: search
${REQUEST}params: { w_pop: 0, w_price: 1, w_sent: 1 }
components:
  - { use: filter, with: { keep: product.pop > 0 } }
  - { use: linear, with: { weights: { product.price: w_price } } }
  - { use: score, with: { value: "linear:score + w_pop * product.pop + w_sent * coalesce(product.sent, 0)" } }
  - { use: limit, with: { by: product.brand, most: 1, within: page } }
page: { size: 4, max_size: 20 }
${LOG}`,
  'pipelines/browse.yaml': `pipeline: browse
${REQUEST}components:
  - { use: score, with: { value: "product.pop + product.price + coalesce(product.sent, 0)" } }
${LOG}`,
  'pipelines/browse_v2.yaml': BROWSE_V2,
  'pipelines/browse_v3.yaml': `pipeline: browse_v3
${REQUEST}components:
  - { use: score, with: { value: product.stock } }
`,
  'experiments/prices.yaml': SPLIT_BY_PARAMS,
  'experiments/popularity.yaml': MIXED_PARAMS,
  'experiments/rewrite.yaml': SPLIT_BY_PIPELINE,
  'experiments/mixed.yaml': mixedPipeline('mixed', 40, 'browse_v2'),
  'experiments/stocked.yaml': mixedPipeline('stocked', 70, 'browse_v3'),
};
const COUNT = 12;
const PRODUCTS = Array.from({ length: COUNT }, (_, at) => ({
  product_id: `p${at + 1}`,
  pop: (at * 7) % COUNT,
  price: (at * 5) % COUNT,
  brand: `b${at % 5}`,
  stock: at,
}));
const USERS = 60;

interface Tally {
  readonly pipeline: string;
  readonly replayed: number;
  readonly arms?: Readonly<Record<string, number>>;
  readonly different: readonly { readonly request_id: string; readonly candidates: readonly object[] }[];
  readonly refused: readonly { readonly reason: string; readonly requests: number }[];
}

describe('a replay of experiments', () => {
  let project: TestProject;
  let folder: string;
  let ledger: RunningLedger;
  /** Requests that were served, by `experiment=arm`. */
  const served = new Map<string, number>();

  before(async () => {
    folder = await writeProject({});
    ledger = await fileLedger(folder);
    project = await startProject(FILES, { experiments: true, ledger });
    await project.upload('product', ...PRODUCTS);
    const candidates = PRODUCTS.map(({ product_id }, at) => ({ product_id, sent: (at * 3) % 7 }));
    for (let n = 0; n < USERS; n++)
      for (const pipeline of project.app.pipelines)
        if (['search', 'browse'].includes(pipeline.name)) {
          const user = n === 0 ? {} : { user: { user_id: `u${n}` } };
          const page = { user_page: n % 2, user_page_size: 3 + (n % 3) };
          const body = { request_id: `${pipeline.name}-${n}`, candidates, ...user, ...page };
          const { report } = await pipeline.run(body, { requestId: '' });
          for (const { experiment, arm } of report.experiments) {
            const which = `${experiment}=${arm}`;
            served.set(which, (served.get(which) ?? 0) + 1);
          }
        }
    await nextTurn();
    await ledger.flush();
  });
  after(async () => {
    await project.close();
    await ledger.close(1000);
    await rm(folder, { recursive: true });
  });

  /** Replays the ledger with other files, which replace those of the project; undefined removes a file. */
  async function replay(
    changed: Readonly<Record<string, string | undefined>> = {},
    ...flags: string[]
  ): Promise<readonly Tally[]> {
    const files: Readonly<Record<string, string | undefined>> = { ...FILES, ...changed };
    const root = await writeProject(
      Object.fromEntries(
        Object.entries(files).flatMap(([path, text]) => (text === undefined ? [] : [[path, text]])),
      ),
    );
    try {
      const { stdout, stderr } = await millrace([
        ...['ledger', 'replay', folder, '--project', root, '--json', ...flags],
      ]);
      expect(stdout, stderr).not.to.equal('');
      return JSON.parse(stdout) as Tally[];
    } finally {
      await rm(root, { recursive: true });
    }
  }

  const reasons = (tallies: readonly Tally[]): string[] =>
    tallies.flatMap(({ refused }) => refused.map(({ reason }) => reason));

  it('runs the params, the pipeline and the interleaving that served each request', async () => {
    const tallies = await replay();
    expect(tallies.flatMap(({ different }) => different)).to.deep.equal([]);
    const arms = new Map(tallies.flatMap((tally) => Object.entries(tally.arms ?? {})));
    const stocked = served.get('stocked=interleaved') ?? 0;
    expect(stocked).to.be.greaterThan(3);
    expect(reasons(tallies)).to.deep.equal([
      'the arm other is the pipeline browse_v3, which reads values that browse does not read, so they were not logged',
    ]);
    for (const which of [
      ...['prices=control', 'prices=cheap', 'popularity=control', 'popularity=interleaved'],
      ...['rewrite=control', 'rewrite=second', 'mixed=interleaved'],
    ]) {
      expect(served.get(which), which).to.be.greaterThan(0);
      expect(arms.get(which), which).to.equal(served.get(which));
    }
    expect(tallies.reduce((sum, { replayed }) => sum + replayed, 0)).to.equal(2 * USERS - stocked);
  });

  it('selects requests by the pipeline that was called', async () => {
    const tallies = await replay({}, '--pipeline', 'browse');
    expect(tallies.map(({ pipeline }) => pipeline)).to.deep.equal(['browse', 'browse_v2']);
    expect(tallies[1]?.arms).to.deep.equal({ 'rewrite=second': served.get('rewrite=second') });
  });

  it('replays requests of an experiment whose share, weights and dates changed', async () => {
    const tallies = await replay({
      'experiments/prices.yaml': SPLIT_BY_PARAMS.replace('weight: 1,', 'weight: 9,').replace(
        'unit: user',
        'unit: user\nshare: 1%\nuntil: 2020-01-01T00:00Z',
      ),
    });
    expect(tallies.flatMap(({ different }) => different)).to.deep.equal([]);
    expect(tallies.find(({ pipeline }) => pipeline === 'search')?.replayed).to.equal(USERS);
  });

  const CHANGES: readonly (readonly [
    what: string,
    changed: Readonly<Record<string, string | undefined>>,
    reason: string,
    whose: string,
    some?: 'some',
  ])[] = [
    [
      'an experiment is gone',
      { 'experiments/prices.yaml': undefined },
      'the arm cheap of the experiment prices served them, and the project has no such experiment',
      'prices=cheap',
    ],
    [
      'an arm is gone',
      { 'experiments/prices.yaml': SPLIT_BY_PARAMS.replace('cheap:', 'cheaper:') },
      'the arm cheap of the experiment prices served them, and the experiment has no such arm now',
      'prices=cheap',
    ],
    [
      'the params of an arm changed',
      { 'experiments/prices.yaml': SPLIT_BY_PARAMS.replace('-3', '-4') },
      'the arm cheap of the experiment prices had params: { w_price: -3 } when it served them, and has params: { w_price: -4 } now',
      'prices=cheap',
    ],
    [
      'an interleaved arm changed',
      { 'experiments/popularity.yaml': MIXED_PARAMS.replace('w_pop: 2', 'w_sent: 2') },
      'the arm popular of the experiment popularity had params: { w_pop: 2 } when it served them, and has params: { w_sent: 2 } now',
      'popularity=interleaved',
    ],
    [
      'the mode changed',
      { 'experiments/popularity.yaml': MIXED_PARAMS.replace('interleave', 'split') },
      'the experiment popularity had the mode interleave when it served them, and has split now',
      'popularity=interleaved',
    ],
    [
      'control has another name',
      { 'experiments/popularity.yaml': MIXED_PARAMS.replace('control', 'before') },
      'the arm control of the experiment popularity served them, and the experiment has no such arm now',
      'popularity=interleaved',
    ],
    [
      'two experiments share a layer',
      {
        'experiments/prices.yaml': SPLIT_BY_PARAMS.replace(
          'unit: user',
          'unit: user\nlayer: one\nshare: 40%',
        ),
        'experiments/popularity.yaml': MIXED_PARAMS.replace('share:', 'layer: one\noffset: 40%\nshare:'),
      },
      'the experiments popularity and prices both served them, and share the layer one now',
      'popularity=interleaved',
      'some',
    ],
  ];
  for (const [what, changed, reason, whose, some] of CHANGES)
    it(`says that ${what}, and compares with nothing else`, async () => {
      const tallies = await replay(changed);
      const { refused = [], replayed } = tallies.find(({ pipeline }) => pipeline === 'search') ?? {};
      const [found, ...others] = refused;
      expect(others).to.deep.equal([]);
      expect(found?.reason).to.equal(reason);
      if (some) expect(found?.requests).to.be.within(1, served.get(whose) ?? 0);
      else expect(found?.requests).to.equal(served.get(whose));
      expect((replayed ?? 0) + refused.reduce((sum, { requests }) => sum + requests, 0)).to.equal(USERS);
      expect(tallies.flatMap(({ different }) => different)).to.deep.equal([]);
    });

  it('says that the pipeline of an arm changed, for a split and for an interleaving', async () => {
    const tallies = await replay({ 'pipelines/browse_v2.yaml': `${BROWSE_V2}page: { size: 9 }\n` });
    const told = /^version \w+ of the pipeline browse_v2 served them, and the project has version \w+$/;
    for (const pipeline of ['browse', 'browse_v2']) {
      const { refused = [] } = tallies.find((one) => one.pipeline === pipeline) ?? {};
      const [found] = refused.filter(({ reason }) => told.test(reason));
      expect(found?.requests, pipeline).to.equal(
        served.get(pipeline === 'browse' ? 'mixed=interleaved' : 'rewrite=second'),
      );
    }
  });

  it('prints the arms, and the reason, as text', async () => {
    await writeFile(join(project.root, 'experiments/prices.yaml'), SPLIT_BY_PARAMS.replace('-3', '-4'));
    try {
      const { stdout } = await millrace([
        ...['ledger', 'replay', folder, '--project', project.root, '--pipeline', 'search'],
      ]);
      expect(stdout).to.match(
        /^search: replayed \d+ requests with \d+ candidates; order and scores equal in all\n {2}with the arms that served them: \S/,
      );
      expect(stdout).to.include('because the arm cheap of the experiment prices had params: { w_price: -3 }');
    } finally {
      await writeFile(join(project.root, 'experiments/prices.yaml'), SPLIT_BY_PARAMS);
    }
  });
});
