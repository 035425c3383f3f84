import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { RequestContext } from '../../runtime/pipeline/types.js';
import { armOf } from '../../runtime/experiments/assign.js';
import { idsOf, rankedIn, startProject, type TestProject } from '../support/project.js';
import { cellsOf, memoryLedger, type MemoryLedger } from '../support/memory-ledger.js';

const SEARCH = `rank: product
request: { candidates: { pop: float, text: float }, user: optional(user) }
params: { w_pop: 0, w_text: { value: 1, min: 0, max: 9 }, w_model: 0 }
components:
  - { use: linear, with: { weights: { product.pop: w_model } } }
  - { use: score, with: { value: product.pop * w_pop + product.text * w_text + linear:score } }
log: { unit: user }
`;
const FILES = {
  'pipelines/search.yaml': `pipeline: search\n${SEARCH}`,
  'pipelines/search_v2.yaml': `pipeline: search_v2
rank: product
request: { candidates: { pop: float }, user: optional(user) }
components:
  - { use: score, with: { value: -product.pop } }
`,
  'experiments/popularity.yaml': `experiment: popularity
pipeline: search
unit: user
layer: page
share: 50%
until: 2026-12-15T00:00Z
arms:
  control: {}
  popular: { params: { w_pop: 5 } }
  model: { params: { w_model: 5 } }
  replaced: { pipeline: search_v2 }
`,
  'experiments/text.yaml': `experiment: text
pipeline: search
unit: user
layer: page
offset: 50%
share: 50%
arms:
  control: {}
  none: { params: { w_text: 0, w_model: -1 } }
`,
};
const CANDIDATES = [
  { product_id: 'a', pop: 1, text: 3 },
  { product_id: 'b', pop: 2, text: 2 },
  { product_id: 'c', pop: 3, text: 1 },
];
const ORDERS: Readonly<Record<string, string>> = {
  'popularity=control': 'a,b,c',
  'popularity=popular': 'c,b,a',
  'popularity=model': 'c,b,a',
  'popularity=replaced': 'a,b,c',
  'text=control': 'a,b,c',
  'text=none': 'a,b,c',
};
const NOW = Date.UTC(2026, 11, 1);

describe('experiments on requests', () => {
  let project: TestProject;
  let memory: MemoryLedger;
  let now = NOW;

  before(async () => {
    memory = memoryLedger();
    project = await startProject(FILES, { experiments: true, ledger: memory.ledger, now: () => now });
  });
  after(() => project.close());

  async function rank(
    user: string | undefined,
    context: Partial<RequestContext> = {},
  ): Promise<{ readonly order: string; readonly taken: string; readonly excluded: string }> {
    const search = project.app.pipelines.find(({ name }) => name === 'search');
    if (search === undefined) throw new Error('expected the pipeline search');
    const body = { candidates: CANDIDATES, ...(user === undefined ? {} : { user: { user_id: user } }) };
    const { answer, report } = await search.run(body, { requestId: randomUUID(), ...context });
    return {
      order: idsOf([...rankedIn(answer)]).join(),
      taken: report.experiments.map(({ experiment, arm }) => `${experiment}=${arm}`).join(', '),
      excluded: report.experiments.map(({ excluded }) => excluded ?? '').join(),
    };
  }

  it('ranks each unit with its arm, request after request', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 2; round++)
      for (let i = 0; i < 60; i++) {
        const { order, taken } = await rank(`u${i}`);
        expect(order, taken).to.equal(ORDERS[taken]);
        seen.add(taken);
      }
    expect([...seen].sort()).to.deep.equal(Object.keys(ORDERS).sort());
  });

  it('chooses by the hash alone', async () => {
    const arms = ['control', 'popular', 'model', 'replaced'].map((name) => ({ name, weight: 1 }));
    for (let i = 0; i < 40; i++) {
      const arm = armOf({ name: 'popularity', layer: 'page', share: 0.5, offset: 0, arms }, `u${i}`);
      const { taken } = await rank(`u${i}`);
      expect(taken.startsWith('popularity='), taken).to.equal(arm !== undefined);
      if (arm !== undefined) expect(taken).to.equal(`popularity=${arms[arm]?.name ?? ''}`);
    }
  });

  it('gives control to a request without the unit, and excludes it', async () => {
    expect(await rank(undefined)).to.deep.equal({
      order: 'a,b,c',
      taken: 'popularity=control, text=control',
      excluded: 'no_unit,no_unit',
    });
  });

  it('takes the arm that the caller asks for, and excludes the request', async () => {
    const arms = new Map([['popularity', 'popular']]);
    for (const user of ['u1', undefined]) {
      const { order, taken } = await rank(user, { arms });
      expect(order).to.equal('c,b,a');
      expect(taken).to.equal('popularity=popular');
    }
    const { excluded } = await rank('u1', { arms });
    expect(excluded).to.equal('override');
  });

  it('refuses to give arms that do not exist', async () => {
    const refusal = async (arms: ReadonlyMap<string, string>): Promise<unknown> =>
      rank('u1', { arms }).then(
        () => 'answered',
        (error: unknown) => (error as Error).message,
      );
    expect(await refusal(new Map([['popularty', 'popular']]))).to.equal(
      'Millrace-Experiment: the pipeline has no experiment popularty; did you mean popularity?',
    );
    expect(await refusal(new Map([['popularity', 'populr']]))).to.equal(
      'Millrace-Experiment: the experiment popularity has no arm populr; did you mean popular?',
    );
  });

  it('ends at `until`', async () => {
    now = Date.UTC(2026, 11, 15);
    try {
      for (let i = 0; i < 20; i++) expect((await rank(`u${i}`)).taken).not.to.include('popularity');
    } finally {
      now = NOW;
    }
  });

  it('records experiment, arm, unit and exclusion, also of an arm that is a pipeline', async () => {
    const user = Array.from({ length: 60 }, (_, i) => `u${i}`);
    const before = (await memory.records()).length;
    for (const one of user) await rank(one);
    await rank(undefined);
    const records = (await memory.records()).slice(before);
    expect(records).to.have.length(61);
    const lists = (name: string): unknown[] => records.map((record) => cellsOf(record, name)[0]);
    expect(lists('experiment').at(-1)).to.deep.equal(['popularity', 'text']);
    expect(lists('arm').at(-1)).to.deep.equal(['control', 'control']);
    expect(lists('experiment_unit').at(-1)).to.deep.equal(['', '']);
    expect(lists('excluded').at(-1)).to.deep.equal(['no_unit', 'no_unit']);
    expect(lists('experiment_unit').slice(0, -1)).to.deep.equal(user.map((one) => [one]));
    const replaced = records.find((record) => (cellsOf(record, 'arm')[0] as string[])[0] === 'replaced');
    expect(replaced?.schema.meta).to.include({ pipeline: 'search_v2', experiment_pipeline: 'search' });
    expect(replaced?.schema.meta['experiments']).to.have.property('popularity');
  });
});
