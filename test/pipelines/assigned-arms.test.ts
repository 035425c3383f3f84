import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { textsOf } from '../../runtime/learn/dataset/fields.js';
import type { RequestContext } from '../../runtime/request/pipeline/types.js';
import { memoryLedger, type MemoryLedger } from '../support/memory-ledger.js';
import { idsOf, rankedIn, startProject, type TestProject } from '../support/project.js';

const FILES = {
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { pop: float }, user: optional(user), variant: optional(string), device: optional(string) }
params: { w_pop: 1 }
components:
  - { use: score, with: { value: product.pop * w_pop } }
log: { unit: user }
`,
  'experiments/theirs.yaml': `experiment: theirs
pipeline: search
unit: user
assign: request.variant
arms:
  control: {}
  turned: { params: { w_pop: -1 } }
metrics:
  primary: { event: click, within: 1h }
`,
  'experiments/counted.yaml': `experiment: counted
pipeline: search
unit: user
assign: request.device
arms: { control: {}, same: {} }
`,
};

describe('experiments whose arms another platform assigns', () => {
  let project: TestProject;
  let memory: MemoryLedger;

  before(async () => {
    memory = memoryLedger();
    project = await startProject(FILES, { experiments: true, ledger: memory.ledger });
  });
  after(() => project.close());

  async function rank(
    fields: object,
    context: Partial<RequestContext> = {},
  ): Promise<{ readonly order: string; readonly theirs: string }> {
    const search = project.app.pipelines.find(({ name }) => name === 'search');
    if (search === undefined) throw new Error('expected the pipeline search');
    const candidates = [
      { product_id: 'a', pop: 2 },
      { product_id: 'b', pop: 1 },
    ];
    const body = { candidates, user: { user_id: 'u1' }, ...fields };
    const { answer, report } = await search.run(body, { requestId: randomUUID(), ...context });
    const [theirs] = report.experiments.filter(({ experiment }) => experiment === 'theirs');
    return {
      order: idsOf([...rankedIn(answer)]).join(),
      theirs: `${theirs?.arm ?? ''} ${theirs?.excluded ?? 'counts'}`,
    };
  }

  it('runs the arm that the request names, whatever the hash of the unit is', async () => {
    for (let user = 0; user < 20; user++) {
      const unit = { user: { user_id: `u${user}` } };
      expect(await rank({ ...unit, variant: 'turned' })).to.deep.equal({
        order: 'b,a',
        theirs: 'turned counts',
      });
      expect(await rank({ ...unit, variant: 'control' })).to.deep.equal({
        order: 'a,b',
        theirs: 'control counts',
      });
    }
  });

  it('gives control to a request that names no arm, and excludes it with the reason', async () => {
    const control = (reason: string): object => ({ order: 'a,b', theirs: `control ${reason}` });
    expect(await rank({ variant: 'turnt' })).to.deep.equal(control('unknown_variant'));
    // Names of objects' own members are no arms.
    expect(await rank({ variant: 'constructor' })).to.deep.equal(control('unknown_variant'));
    expect(await rank({ variant: '' })).to.deep.equal(control('unknown_variant'));
    expect(await rank({ variant: null })).to.deep.equal(control('no_variant'));
    expect(await rank({})).to.deep.equal(control('no_variant'));
    expect(await rank({ user: null, variant: 'turned' })).to.deep.equal({
      order: 'b,a',
      theirs: 'turned no_unit',
    });
  });

  it('gives the arm that a header asks for, and excludes the request', async () => {
    const arms = new Map([['theirs', 'control']]);
    expect(await rank({ variant: 'turned' }, { arms })).to.deep.equal({
      order: 'a,b',
      theirs: 'control override',
    });
  });

  it('records arm, unit and reason of each experiment, and the rule of the decision', async () => {
    await rank({ variant: 'turned', device: 'phone' });
    const record = (await memory.records()).at(-1);
    const of = (name: string): readonly string[] => textsOf(record?.field(name));
    expect([of('experiment'), of('arm'), of('excluded')]).to.deep.equal([
      ['counted', 'theirs'],
      ['control', 'turned'],
      ['unknown_variant', ''],
    ]);
    const { experiments } = (record?.schema.meta ?? {}) as { experiments: Record<string, object> };
    expect(experiments['theirs']).to.deep.include({
      assign: 'variant',
      metrics: {
        primary: { event: 'click', value: { kind: 'count' }, within: 3_600_000 },
        secondary: [],
        guard: [],
      },
    });
    expect(experiments['counted']).not.to.have.property('metrics');
  });
});
