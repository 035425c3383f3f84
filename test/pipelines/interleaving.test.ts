import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { takenText } from '../../runtime/serve/http/experiment-header.js';
import type { RequestContext, RunReport } from '../../runtime/request/pipeline/types.js';
import { idsOf, pluginFiles, rankedIn, startProject, type TestProject } from '../support/project.js';
import { cellsOf, memoryLedger, type MemoryLedger } from '../support/memory-ledger.js';
import { referenceCoins, referenceDraft } from '../support/reference-draft.js';

/** Counts how often a step runs, and can fail or hang for one arm. */
const SEEN = globalThis as unknown as { ran: Record<string, number>; fault: string };

const FILES = {
  ...pluginFiles(
    'probe',
    'feature',
    `return { outputs: { value: 'number' }, compute(step, out) {
      globalThis.ran.probe = (globalThis.ran.probe ?? 0) + 1;
      const column = out.number('value');
      for (const row of step.rows) { column.values[row] = 1; column.status[row] = Status.present; }
    } };`,
  ),
  ...pluginFiles(
    'last',
    'rule',
    `return { scoring: 'changes', async apply() {
      globalThis.ran.last = (globalThis.ran.last ?? 0) + 1;
      const second = globalThis.ran.last % 2 === 0;
      if (second && globalThis.fault === 'throws') throw new Error('broken on purpose');
      if (second && globalThis.fault === 'hangs') await new Promise(() => undefined);
      if (!second && globalThis.fault === 'control') throw new Error('broken control');
      return { applied: 0, skipped: 0 };
    } };`,
  ),
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { pop: float, text: float, brand: string, stock: float }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { sent: float }, user: optional(user) }
limits: { time: 300ms }
params: { w_pop: 0, w_stock: 0 }
features: [stats]
components:
  - { use: filter, with: { keep: product.stock > w_stock } }
  - { use: probe }
  - { use: score, with: { value: product.pop * w_pop + product.text * probe:value + stats:ctr } }
  - { use: pin, when: known(user), with: { positions: { 2: p7 } } }
  - { use: last, on_error: skip }
page: { size: 4, max_size: 50 }
log: { unit: user, candidates: all }
`,
  'pipelines/search_v2.yaml': `pipeline: search_v2
rank: product
request: { candidates: { sent: float }, user: optional(user) }
params: { w_stock: 0 }
features: [stats]
components:
  - { use: filter, with: { keep: product.stock > w_stock } }
  - { use: probe }
  - { use: score, with: { value: product.pop * probe:value } }
`,
  // It binds the view under another name, so its columns are not those of the called pipeline.
  'pipelines/search_v3.yaml': `pipeline: search_v3
rank: product
request: { candidates: { sent: float }, user: optional(user) }
params: { w_stock: 0 }
features: [own: stats(product)]
components:
  - { use: filter, with: { keep: product.stock > w_stock } }
  - { use: probe }
  - { use: score, with: { value: own:ctr * product.pop * probe:value } }
`,
  'experiments/popularity.yaml': `experiment: popularity
pipeline: search
mode: interleave
unit: user
layer: page
share: 25%
arms:
  control: {}
  popular: { params: { w_pop: 5 } }
metrics: { primary: { event: click } }
`,
  'experiments/rewrite.yaml': `experiment: rewrite
pipeline: search
mode: interleave
unit: user
layer: page
offset: 25%
share: 25%
arms: { control: {}, second: { pipeline: search_v2 } }
`,
  'experiments/stocked.yaml': `experiment: stocked
pipeline: search
mode: interleave
unit: user
layer: page
offset: 50%
share: 25%
arms: { control: {}, loose: { params: { w_stock: -1 } } }
`,
  'experiments/rebound.yaml': `experiment: rebound
pipeline: search
mode: interleave
unit: user
layer: page
offset: 75%
share: 25%
arms: { control: {}, third: { pipeline: search_v3 } }
`,
};
const COUNT = 12;
const PRODUCTS = Array.from({ length: COUNT }, (_, at) => ({
  product_id: `p${at + 1}`,
  pop: (at * 7) % COUNT,
  text: COUNT - at,
  brand: `b${at % 3}`,
  stock: at < 2 ? 0 : at < 5 ? 1 : 9,
}));
const CANDIDATES = PRODUCTS.map(({ product_id }) => ({ product_id }));

interface Ranked {
  readonly order: readonly string[];
  readonly report: RunReport;
  readonly header: string;
}

describe('an interleaving', () => {
  let project: TestProject;
  let memory: MemoryLedger;

  before(async () => {
    SEEN.ran = {};
    SEEN.fault = '';
    memory = memoryLedger();
    project = await startProject(FILES, {
      experiments: true,
      ledger: memory.ledger,
      env: { MILLRACE_RESIDENT: 'off' },
    });
    await project.upload('product', ...PRODUCTS);
    await project.push('stats', ...PRODUCTS.map(({ product_id }, at) => ({ product_id, ctr: at / 20 })));
  });
  after(() => project.close());
  beforeEach(() => {
    SEEN.ran = {};
    SEEN.fault = '';
  });

  async function rank(
    user: string | undefined,
    body: object = {},
    context: Partial<RequestContext> = {},
  ): Promise<Ranked> {
    const search = project.app.pipelines.find(({ name }) => name === 'search');
    if (search === undefined) throw new Error('expected the pipeline search');
    const sent = { candidates: CANDIDATES, user_page_size: COUNT, ...(user && { user: { user_id: user } }) };
    const { answer, report } = await search.run(
      { ...sent, ...body },
      { requestId: randomUUID(), ...context },
    );
    return { order: idsOf([...rankedIn(answer)]), report, header: takenText(report) };
  }

  /** A user of an experiment. */
  async function userOf(experiment: string): Promise<string> {
    for (let number = 0; number < 100; number++) {
      const { report } = await rank(`u${number}`);
      if (report.experiments[0]?.experiment === experiment) return `u${number}`;
    }
    throw new Error(`no user is in ${experiment}`);
  }

  const forced = (experiment: string, arm: string): Partial<RequestContext> => ({
    arms: new Map([[experiment, arm]]),
  });

  for (const [experiment, arm] of [
    ['popularity', 'popular'],
    ['rewrite', 'second'],
    ['stocked', 'loose'],
    ['rebound', 'third'],
  ] as const)
    it(`drafts the orders of both arms: ${experiment}`, async () => {
      const user = await userOf(experiment);
      const body = { user: { user_id: user } };
      const [control, other] = await Promise.all([
        rank(user, body, forced(experiment, 'control')),
        rank(user, body, forced(experiment, arm)),
      ]);
      // Both arms of a pipeline pin p7 to the second place, so it is no part of the draft.
      const pinned = [control, other].every((one) => one.order[1] === 'p7');
      expect(pinned).to.equal(experiment === 'popularity' || experiment === 'stocked');
      const drawn = (order: readonly string[]): string[] => order.filter((id) => !pinned || id !== 'p7');
      for (let round = 0; round < 20; round++) {
        const requestId = `${experiment}-${round}`;
        const { order, report, header } = await rank(user, { request_id: requestId });
        const coins = referenceCoins(experiment, requestId);
        const expected = referenceDraft(drawn(control.order), drawn(other.order), coins);
        const ids = [...expected.order];
        const marks = expected.teams.map((team) => (team === undefined ? '-' : String(team)));
        if (pinned) {
          ids.splice(1, 0, 'p7');
          marks.splice(1, 0, '-');
        }
        expect(order).to.deep.equal(ids);
        expect(header).to.equal(`${experiment}=interleaved;teams="${marks.join('')}"`);
        // Only the filter of one arm keeps p1.
        expect(ids.includes('p1')).to.equal(experiment === 'stocked');
        expect(report.experiments[0]?.excluded).to.equal(undefined);
        expect(report.degraded).to.deep.equal([]);
      }
    });

  it('never increases the answered score, and ranks the same request alike', async () => {
    const user = await userOf('popularity');
    const search = project.app.pipelines.find(({ name }) => name === 'search');
    const body = { request_id: 'r1', candidates: CANDIDATES, user_page_size: COUNT, user: { user_id: user } };
    if (search === undefined) throw new Error('expected the pipeline search');
    const [first = [], second = []] = await Promise.all(
      [1, 2].map(async () => [...rankedIn((await search.run(body, { requestId: 'x' })).answer)]),
    );
    expect(second).to.deep.equal(first);
    for (const [at, { ranked_score: score }] of first.entries())
      if (at > 0) expect(score).to.be.at.most(first[at - 1]?.ranked_score ?? NaN);
  });

  it('has pages of any size that agree with the whole', async () => {
    const user = await userOf('popularity');
    const whole = (await rank(user, { request_id: 'paged' })).order;
    for (const size of [1, 3, 5, 7]) {
      const pages: string[] = [];
      for (let page = 0; page * size < COUNT; page++) {
        const paging = { request_id: 'paged', user_page: page, user_page_size: size };
        pages.push(...(await rank(user, paging)).order);
      }
      expect(pages).to.deep.equal(whole);
    }
  });

  it('runs common steps once, and the steps that differ twice', async () => {
    const user = await userOf('popularity');
    SEEN.ran = {};
    const { report } = await rank(user);
    expect(SEEN.ran).to.deep.equal({ probe: 1, last: 2 });
    const alone = await rank(user, {}, forced('popularity', 'control'));
    expect([report.roundTrips, report.keysRead]).to.deep.equal([
      alone.report.roundTrips,
      alone.report.keysRead,
    ]);
  });

  for (const experiment of ['rewrite', 'rebound'])
    it(`shares reads and the steps at the start with an arm that is a pipeline: ${experiment}`, async () => {
      const user = await userOf(experiment);
      SEEN.ran = {};
      const { report } = await rank(user);
      expect(SEEN.ran).to.deep.equal({ probe: 1, last: 1 });
      const alone = await rank(user, {}, forced(experiment, 'control'));
      expect(alone.report.keysRead).to.be.at.least(COUNT);
      expect([report.roundTrips, report.keysRead]).to.deep.equal([
        alone.report.roundTrips,
        alone.report.keysRead,
      ]);
    });

  it('records the teams of the page, and control’s values', async () => {
    const user = await userOf('popularity');
    const before = (await memory.records()).length;
    const { order, report } = await rank(user, { request_id: 'recorded' });
    const [record] = (await memory.records()).slice(before);
    if (record === undefined) throw new Error('expected a record');
    expect(cellsOf(record, 'arm')[0]).to.deep.equal(['interleaved']);
    const [ids, places, teams] = ['candidate_id', 'place', 'team'].map((name) => cellsOf(record, name));
    const names = [undefined, 'control', 'popular'];
    for (const [at, id] of order.entries()) {
      const row = ids?.indexOf(id) ?? -1;
      expect(places?.[row]).to.equal(at + 1);
      expect(teams?.[row] ?? undefined).to.equal(names[report.interleaved?.teams[at] ?? 0]);
    }
  });

  it('explains who placed a candidate, and its places in both orders', async () => {
    const user = await userOf('popularity');
    const body = { request_id: 'e1', candidates: CANDIDATES, user_page_size: COUNT, user: { user_id: user } };
    const search = project.app.pipelines.find(({ name }) => name === 'search');
    const explained = await search?.explain(body, { requestId: 'e1' });
    const { order, report } = await rank(user, { request_id: 'e1' });
    expect(explained?.page.map(({ candidate_id: id }) => id)).to.deep.equal(order);
    const names = [null, 'control', 'popular'];
    const orders = await Promise.all(
      ['control', 'popular'].map((arm) => rank(user, {}, forced('popularity', arm))),
    );
    for (const [at, one] of (explained?.page ?? []).entries()) {
      expect(one.interleaved?.team).to.equal(names[report.interleaved?.teams[at] ?? 0]);
      expect(Object.values(one.interleaved?.places ?? {})).to.deep.equal(
        orders.map((arm) => arm.order.indexOf(one.candidate_id) + 1),
      );
    }
  });

  for (const fault of ['throws', 'hangs'])
    it(`answers with control if the arm ${fault}, and says so`, async () => {
      const user = await userOf('popularity');
      const control = await rank(user, {}, forced('popularity', 'control'));
      SEEN.ran = {};
      SEEN.fault = fault;
      const { order, report, header } = await rank(user);
      expect(order).to.deep.equal(control.order);
      expect(header).to.equal('popularity=control');
      expect(report.experiments[0]).to.include({ arm: 'control', excluded: 'not_interleaved' });
      expect(report.degraded).to.deep.equal([{ cause: 'arm', value: 'popularity' }]);
      expect(report.interleaved).to.equal(undefined);
      SEEN.fault = '';
      SEEN.ran = {};
      expect((await rank(user)).header).to.contain('interleaved');
    });

  it('answers with control if one of its own steps failed', async () => {
    const user = await userOf('popularity');
    SEEN.ran = {};
    SEEN.fault = 'control';
    const { report } = await rank(user);
    expect(report.experiments[0]).to.include({ arm: 'control', excluded: 'not_interleaved' });
    expect(report.degraded.map(({ cause, value }) => `${cause}=${value}`)).to.deep.equal([
      'skipped=last',
      'arm=popularity',
    ]);
  });

  it('gives control to a request without the unit, and one arm to a header', async () => {
    const { report, header } = await rank(undefined);
    expect(header).to.equal('popularity=control, rebound=control, rewrite=control, stocked=control');
    expect(new Set(report.experiments.map(({ excluded }) => excluded))).to.deep.equal(new Set(['no_unit']));
    const user = await userOf('popularity');
    const asked = await rank(user, {}, forced('popularity', 'popular'));
    expect(asked.header).to.equal('popularity=popular');
    expect(asked.report.experiments[0]?.excluded).to.equal('override');
  });

  it('stops, and goes on with the same pages', async () => {
    const user = await userOf('popularity');
    const before = await rank(user, { request_id: 'same' });
    await project.app.experiments.stop({ experiment: 'popularity' });
    expect((await rank(user, { request_id: 'same' })).header).to.equal('');
    await project.app.experiments.resume({ experiment: 'popularity' });
    expect((await rank(user, { request_id: 'same' })).order).to.deep.equal(before.order);
  });
});
