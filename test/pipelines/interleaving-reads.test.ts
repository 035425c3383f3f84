import { expect } from 'chai';
import type { RecordBatch } from '../../runtime/state/store/codec/record-batch.js';
import { takenText } from '../../runtime/serve/http/experiment-header.js';
import type { RunReport } from '../../runtime/request/pipeline/types.js';
import { MemoryStore } from '../support/memory-store.js';
import { idsOf, pluginFiles, rankedIn, startProject, type TestProject } from '../support/project.js';

/** What the last step of control does. */
const CONTROL = globalThis as unknown as { lastOfControl: () => Promise<void> };

const FILES = {
  ...pluginFiles(
    'last',
    'rule',
    `return { scoring: 'changes', async apply() {
      await globalThis.lastOfControl();
      return { applied: 0, skipped: 0 };
    } };`,
  ),
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { text: float }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: optional(user) }
limits: { time: 400ms }
components:
  - { use: score, with: { value: product.text } }
  - { use: last }
`,
  'pipelines/second.yaml': `pipeline: second
rank: product
request: { candidates: {}, user: optional(user) }
features: [stats]
components:
  - { use: score, with: { value: stats:ctr } }
`,
  'experiments/mixed.yaml': `experiment: mixed
pipeline: search
mode: interleave
unit: user
arms: { control: {}, other: { pipeline: second } }
`,
};
const PRODUCTS = Array.from({ length: 6 }, (_, at) => ({ product_id: `p${at}`, text: 6 - at }));

/** A store whose reads of feature rows wait. */
class SlowStore extends MemoryStore {
  rows: Promise<void> = Promise.resolve();

  override async readInto(keys: readonly string[], batch: RecordBatch, first: number): Promise<void> {
    if (keys.some((key) => key.includes(':features:'))) await this.rows;
    await super.readInto(keys, batch, first);
  }
}

describe('an arm with reads of its own', () => {
  const store = new SlowStore();
  let project: TestProject;

  before(async () => {
    CONTROL.lastOfControl = () => Promise.resolve();
    project = await startProject(FILES, { experiments: true, store, env: { MILLRACE_RESIDENT: 'off' } });
    await project.upload('product', ...PRODUCTS);
    await project.push('stats', ...PRODUCTS.map(({ product_id }, at) => ({ product_id, ctr: at })));
  });
  after(() => project.close());
  beforeEach(() => {
    store.rows = Promise.resolve();
    CONTROL.lastOfControl = () => Promise.resolve();
  });

  async function rank(): Promise<{ readonly order: string[]; readonly report: RunReport }> {
    const search = project.app.pipelines.find(({ name }) => name === 'search');
    if (search === undefined) throw new Error('expected the pipeline search');
    const candidates = PRODUCTS.map(({ product_id }) => ({ product_id }));
    const { answer, report } = await search.run(
      { candidates, user: { user_id: 'u1' }, user_page_size: 6 },
      { requestId: 'r1' },
    );
    return { order: idsOf([...rankedIn(answer)]), report };
  }

  const expectControl = ({ order, report }: Awaited<ReturnType<typeof rank>>): void => {
    expect(order).to.deep.equal(PRODUCTS.map(({ product_id }) => product_id));
    expect(takenText(report)).to.equal('mixed=control');
    expect(report.degraded).to.deep.equal([{ cause: 'arm', value: 'mixed' }]);
  };

  it('does not let control wait for them', async () => {
    // The rows arrive only after all steps of control.
    let arrive = (): void => undefined;
    store.rows = new Promise((resolve) => (arrive = resolve));
    CONTROL.lastOfControl = () => {
      arrive();
      return Promise.resolve();
    };
    const { order, report } = await rank();
    expect(takenText(report)).to.match(/^mixed=interleaved;teams="[01]{6}"$/);
    expect(new Set(order.slice(0, 2))).to.deep.equal(new Set(['p0', 'p5']));
    expect(report.degraded).to.deep.equal([]);
  });

  it('reads while control runs', async () => {
    // Control ends only after the reads of the arm.
    let read = (): void => undefined;
    CONTROL.lastOfControl = () => new Promise((resolve) => (read = resolve));
    store.rows = new Promise((resolve) => {
      setTimeout(() => {
        resolve();
        read();
      }, 20);
    });
    expect(takenText((await rank()).report)).to.contain('interleaved');
  });

  it('gives the order of control if they never end', async () => {
    store.rows = new Promise(() => undefined);
    expectControl(await rank());
  });

  it('gives the order of control if they fail before control ends', async () => {
    store.rows = Promise.reject(new Error('broken on purpose'));
    CONTROL.lastOfControl = () => new Promise((resolve) => setTimeout(resolve, 20));
    expectControl(await rank());
  });

  it('leaves nothing unhandled if control fails first', async () => {
    let fail = (): void => undefined;
    store.rows = new Promise((_, reject) => (fail = () => reject(new Error('late on purpose'))));
    CONTROL.lastOfControl = () => Promise.reject(new Error('control is broken'));
    expect(await rank().then(String, String)).to.contain('last');
    fail();
    await new Promise((resolve) => setTimeout(resolve, 10));
    store.rows = Promise.resolve();
    CONTROL.lastOfControl = () => Promise.resolve();
    expect(takenText((await rank()).report)).to.contain('interleaved');
  });
});
