import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EVENT_TYPES } from '../../runtime/ground/core/event-types.js';
import { Stops } from '../../runtime/request/experiments/stops.js';
import { eventsOfRecord } from '../../runtime/state/ledger/events.js';
import { SETTINGS } from '../../runtime/project/settings/settings.js';
import { until } from '../support/until.js';
import type { RequestContext } from '../../runtime/request/pipeline/types.js';
import { Assigner } from '../../runtime/request/experiments/assign.js';
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
share: 20%
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
        expect(order, taken).to.equal(ORDERS[taken] ?? 'a,b,c');
        if (taken !== '') seen.add(taken);
      }
    expect([...seen].sort()).to.deep.equal(Object.keys(ORDERS).sort());
  });

  it('chooses by the hash alone', async () => {
    const arms = ['control', 'popular', 'model', 'replaced'].map((name) => ({ name, weight: 1 }));
    const assigner = new Assigner({ name: 'popularity', layer: 'page', share: 0.5, offset: 0, arms });
    for (let i = 0; i < 40; i++) {
      const arm = assigner.armOf(`u${i}`);
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

  it('refuses to give an arm of a pipeline without experiments', async () => {
    const plain = project.app.pipelines.find(({ name }) => name === 'search_v2');
    const body = { candidates: [{ product_id: 'a', pop: 1 }] };
    const arms = new Map([['popularity', 'popular']]);
    for (const call of [
      plain?.run(body, { requestId: '', arms }),
      plain?.explain(body, { requestId: '', arms }),
    ]) {
      const failure = await call?.catch((error: unknown) => error);
      expect(failure).to.include({ code: 'invalid_header' });
      expect((failure as Error).message).to.equal(
        'Millrace-Experiment: the pipeline has no experiment popularity; it has none',
      );
    }
    expect((await plain?.run(body, { requestId: '' }))?.report.experiments).to.deep.equal([]);
  });

  it('ends at `until`', async () => {
    now = Date.UTC(2026, 11, 15);
    try {
      for (let i = 0; i < 20; i++) expect((await rank(`u${i}`)).taken).not.to.include('popularity');
    } finally {
      now = NOW;
    }
  });

  it('stops on all instances, stays stopped for a new one, and goes on with the same arms', async () => {
    const user = Array.from({ length: 30 }, (_, i) => `u${i}`);
    const before = await Promise.all(user.map((one) => rank(one)));
    const { experiments } = project.app;
    expect((await experiments.stop({ experiment: 'popularity' })).state).to.equal('stopped');
    for (const one of user) expect((await rank(one)).taken).not.to.include('popularity');
    expect((await project.app.reload()).outcome).to.equal('succeeded');
    for (const one of user) expect((await rank(one)).taken).not.to.include('popularity');
    const other = new Stops(project.app.store, SETTINGS.prefix.default);
    await other.read(['popularity', 'text']);
    expect([other.has('popularity'), other.has('text')]).to.deep.equal([true, false]);
    expect((await experiments.resume({ experiment: 'popularity' })).state).to.equal('running');
    expect(await Promise.all(user.map((one) => rank(one)))).to.deep.equal(before);
  });

  it('takes up a stop of another instance', async () => {
    const other = new Stops(project.app.store, SETTINGS.prefix.default);
    await other.stop('text', now);
    await until('the stop', async () => !(await rank(undefined)).taken.includes('text'));
    await other.resume('text');
    await until('the start', async () => (await rank(undefined)).taken.includes('text'));
  });

  it('refuses to stop what does not exist', async () => {
    const refused = await project.app.experiments
      .stop({ experiment: 'populrity' })
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 'unknown_experiment' });
    expect((refused as Error).message).to.equal(
      'the project has no experiment populrity; did you mean popularity?',
    );
  });

  it('changes no arm when a reload makes a share larger, and fails no request', async () => {
    const user = Array.from({ length: 40 }, (_, i) => `u${i}`);
    const seen = new Map<string, string>();
    for (const one of user) seen.set(one, (await rank(one)).taken);
    const state = { done: false };
    const load = (async () => {
      while (!state.done)
        for (const one of user) {
          const { taken } = await rank(one);
          const was = seen.get(one) ?? '';
          if (was !== '') expect(taken).to.equal(was);
          await nextTurn(); // requests of an embedded store would otherwise hold the loop
        }
    })();
    await writeFile(
      join(project.root, 'experiments/text.yaml'),
      FILES['experiments/text.yaml'].replace('share: 20%', 'share: 50%'),
    );
    await project.app.reload();
    state.done = true;
    await load;
    const after = await Promise.all(user.map(async (one) => (await rank(one)).taken));
    expect(after.filter((taken) => taken === '')).to.have.length(0);
    expect([...seen.values()].filter((taken) => taken === '')).not.to.have.length(0);
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

  it('gives sinks an EXPERIMENTATION event for each experiment, with the unit as the record shows it', async () => {
    const before = (await memory.records()).length;
    await rank('u1', { arms: new Map([['popularity', 'model']]) });
    await rank(undefined);
    const events = (await memory.records())
      .slice(before)
      .flatMap((record) => [...eventsOfRecord(record)])
      .map((text) => JSON.parse(text) as { event_type: string; event_data: Record<string, unknown> })
      .filter(({ event_type: type }) => type === 'EXPERIMENTATION')
      .map(({ event_data: data }) => data);
    const timestamp = new Date(now).toISOString();
    const event = (experiment: string, unit: string, result: string, excluded: string): object => ({
      experiment_id: experiment,
      entity_id: unit,
      result,
      timestamp,
      metadata: { unit: 'user', mode: 'split', excluded, status: 'ok' },
      has_error: false,
    });
    expect(events).to.deep.equal([
      event('popularity', 'u1', 'model', 'override'),
      event('popularity', '', 'control', 'no_unit'),
      event('text', '', 'control', 'no_unit'),
    ]);
    expect(Object.keys(events[0] ?? {})).to.deep.equal(EVENT_TYPES.EXPERIMENTATION.data);
  });
});
