import { expect } from 'chai';
import { startProject, type TestProject } from '../support/project.js';

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, sold: bool }\n',
};

const PRODUCTS = [
  { product_id: 'none' },
  { product_id: 'cheap', price: 1 },
  { product_id: 'dear', price: 5 },
  { product_id: 'none_sold', sold: true },
];

/** A model that is negative for every product with a price, and absent for the others. */
const MODEL = '  - { use: linear, as: model, with: { weights: { product.price: -1 } } }\n';

describe('candidates that the score leaves without one', () => {
  let project: TestProject | undefined;

  async function start(steps: string): Promise<TestProject> {
    const pipeline = `pipeline: ranking\nrank: product\ncomponents:\n${MODEL}${steps}`;
    project = await startProject({ ...FILES, 'pipelines/ranking.yaml': pipeline });
    await project.upload('product', ...PRODUCTS);
    return project;
  }

  const body = { candidates: PRODUCTS.map(({ product_id }) => ({ product_id })) };
  const order = async (): Promise<string[]> =>
    ((await project?.rank(body)) ?? []).map(({ candidate_id }) => candidate_id);

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  it('keep 0, and rank above negative scores, by default', async () => {
    await start('  - { use: score, with: { value: model:score } }\n');
    expect(await order()).to.deep.equal(['none', 'none_sold', 'cheap', 'dear']);
  });

  it('go below the others with `unscored: last`; answered scores still never increase', async () => {
    const { rank, run } = await start('  - { use: score, unscored: last, with: { value: model:score } }\n');
    expect((await rank(body)).map((one) => [one.candidate_id, one.ranked_score])).to.deep.equal([
      ['cheap', -1],
      ['dear', -5],
      ['none', -5],
      ['none_sold', -5],
    ]);
    expect((await run(body)).report.degraded).to.deep.equal([{ cause: 'unscored', value: '2/4' }]);
  });

  it('stay above buried ones and below scored ones, whatever later steps add', async () => {
    await start(
      '  - { use: score, unscored: last, with: { value: model:score } }\n  - { use: boost, with: { add: 100 } }\n  - { use: bury, with: { where: product.sold } }\n',
    );
    expect(await order()).to.deep.equal(['cheap', 'dear', 'none', 'none_sold']);
  });

  it('follow the best candidates of a phase, and stay above those that it does not look at', async () => {
    await start(
      '  - { use: score, as: first, with: { value: "coalesce(product.price, 3)" } }\n  - { use: score, unscored: last, top: 2, with: { value: model:score } }\n',
    );
    // The phase works on dear (5) and none (3).
    expect(await order()).to.deep.equal(['dear', 'none', 'none_sold', 'cheap']);
  });

  it('say why they are last, in explanations and events', async () => {
    const { app, run } = await start('  - { use: score, unscored: last, with: { value: model:score } }\n');
    const explained = await app.pipelines[0]?.explain(body, { requestId: 'r' });
    expect(explained?.page.map(({ candidate_id, changes }) => [candidate_id, changes])).to.deep.equal([
      ['cheap', [{ step: 2, as: 'score', before: 0, after: -1 }]],
      ['dear', [{ step: 2, as: 'score', before: 0, after: -5 }]],
      ['none', [{ step: 2, as: 'score', put_below: true, moved_from: 1, moved_to: 3, rules: ['unscored'] }]],
      [
        'none_sold',
        [{ step: 2, as: 'score', put_below: true, moved_from: 2, moved_to: 4, rules: ['unscored'] }],
      ],
    ]);
    const { events } = await run({ ...body, include_events: true });
    const moved = (
      events as { readonly event_type: string; readonly event_data: { readonly rules?: unknown } }[]
    ).filter(({ event_data }) => event_data.rules !== undefined);
    expect(moved.map(({ event_data }) => event_data)).to.deep.equal(
      [
        { entity_identifier: 'none', moved_from: 1, moved_to: 3 },
        { entity_identifier: 'none_sold', moved_from: 2, moved_to: 4 },
      ].map((one) => ({
        ...{ entity_identifier_type: 'product', business_logic_pipeline_order: 2 },
        ...{ business_logic_name: 'score', old_score: null, new_score: null, rules: ['unscored'] },
        ...one,
      })),
    );
  });
});
