import { expect } from 'chai';
import { explanationText } from '../../runtime/cli/report/explanation-text.js';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import { pluginFiles, startProject, type TestProject } from '../support/project.js';

/** Explanations of rankings: `<route>/explain` and `millrace rank --explain`. */

const NOW = Date.parse('2026-03-01T12:00:00Z');

const FILES = {
  'package.json': '{ "type": "module" }',
  ...pluginFiles(
    'ship',
    'effect',
    'return { run() { globalThis.shipped = (globalThis.shipped ?? 0) + 1; } };',
  ),
  ...pluginFiles(
    'faulty',
    'feature',
    `return { outputs: { value: 'number' }, compute() { throw new Error('out of order'); } };`,
  ),
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes: { title: string, stock: int, price: float, tags: list(string), taste: vector(20), brand: ref(brand) }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { rating: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { age: int }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nttl: 1d\nfeatures: { ctr: { type: float, default: 0.1 }, clicks: int }\n',
  'models/m.json': '{ "weights": { "margin": 2 } }',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { user: optional(user), device: optional(string) }
features: [stats]
define: { margin: product.price / 10, adult: user.age >= 18 }
components:
  - use: filter
    with: { keep: product.stock > 0 }
  - use: linear
    as: value
    with: { model: models/m.json }
  - use: faulty
    on_error: skip
  - use: score
    with: { value: 'value:score + stats:clicks + count(product.tags) + product.brand.rating + if(known(product.taste), 0, 0)' }
  - use: score
    as: again
    with: { value: value:score + stats:ctr }
  - use: boost
    as: adults
    with: { where: adult and product.title != "", add: 1 }
  - use: boost
    as: kiosk
    when: request.device == "kiosk"
    with: { add: 100 }
  - use: bury
    with: { where: product.title == "dull" }
  - use: pin
    with: { positions: { 1: last } }
  - use: rank_within
    top: 2
    with: { value: product.price }
  - use: ship
page: { size: 3 }
`,
};

describe('an explanation', () => {
  let project: TestProject;
  let told: Explanation;

  const explain = async (body: object): Promise<Explanation> => {
    const [pipeline] = project.app.pipelines;
    if (pipeline === undefined) throw new Error('the project has no pipeline');
    return pipeline.explain(body, { requestId: 'made-up', runId: 'run-1' });
  };
  const body = {
    request_id: 'r1',
    user: { user_id: 'u' },
    colour: 'red',
    candidates: ['gone', 'rich', 'old', 'dull', 'last', 'unknown'].map((product_id) => ({
      product_id,
      shade: 1,
    })),
  };

  before(async () => {
    project = await startProject(FILES, { now: () => NOW });
    const product = (product_id: string, price: number, more: object = {}): object => ({
      product_id,
      title: 'A product',
      stock: 1,
      price,
      tags: ['a'],
      ...more,
    });
    await project.upload(
      'product',
      product('gone', 9, { stock: 0 }),
      product('rich', 30, { title: 'x'.repeat(600), taste: Array.from({ length: 20 }, (_, i) => i) }),
      product('old', 20),
      product('dull', 50, { title: 'dull' }),
      product('last', 1),
    );
    await project.upload('user', { user_id: 'u', age: 30 });
    await project.push('stats', { product_id: 'rich', ctr: 0.5, clicks: null });
    await project.push('stats', { product_id: 'old', ctr: 0.9, clicks: 3, event_time: NOW - 3 * 86_400_000 });
    told = await explain(body);
  });
  after(() => project.close());

  const candidate = (id: string): Explanation['page'][number] => {
    const found = told.page.find((one) => one.candidate_id === id);
    if (found === undefined) throw new Error(`${id} is not on the page`);
    return found;
  };
  const step = (as: string): Explanation['steps'][number] => {
    const found = told.steps.find((one) => one.as === as);
    if (found === undefined) throw new Error(`there is no step ${as}`);
    return found;
  };

  it('contains the answer of the route, and identifies the request', async () => {
    const { ranked } = await project.run(body);
    expect(told.answer).to.deep.equal({ ranked_candidates: ranked });
    expect(told.page.map((one) => one.candidate_id)).to.deep.equal(ranked.map((one) => one.candidate_id));
    expect(told).to.include({
      request_id: 'r1',
      run_id: 'run-1',
      pipeline: 'ranking',
      route: '/api/v1/ranking',
    });
    expect(told.candidates).to.deep.equal({
      sent: 6,
      duplicates: { count: 0, ids: [] },
      left: 5,
      missing: 1,
    });
  });

  it('contains every value with its status, and every default with its cause', () => {
    const { values } = candidate('old');
    expect(values['product.price']).to.deep.equal({ value: 20, status: 'present' });
    expect(values['stats:ctr']).to.deep.equal({ value: 0.1, status: 'defaulted', cause: 'expired' });
    expect(values['stats:clicks']).to.deep.equal({ value: null, status: 'expired' });
    expect(values.margin).to.deep.equal({ value: 2, status: 'present' });
    expect(values['value:score']).to.deep.equal({ value: 4, status: 'present' });
    expect(values['faulty:value']).to.deep.equal({ value: null, status: 'failed' });
    expect(values['product.taste']).to.deep.equal({ value: null, status: 'absent' });
    expect(candidate('rich').values['stats:clicks']).to.deep.equal({ value: null, status: 'null' });
    expect(candidate('last').values['stats:ctr']).to.include({ cause: 'missing_feature' });
    expect(told.request['user.age']).to.deep.equal({ value: 30, status: 'present' });
    expect(told.request.adult).to.deep.equal({ value: 1, status: 'present' });
    expect(told.request['request.device']).to.deep.equal({ value: null, status: 'absent' });
  });

  it('truncates long values and gives their length', () => {
    const { values } = candidate('rich');
    expect(values['product.title']).to.deep.equal({
      value: 'x'.repeat(500),
      status: 'present',
      length: 600,
    });
    expect(values['product.taste']).to.deep.equal({
      value: Array.from({ length: 16 }, (_, i) => i),
      status: 'present',
      length: 20,
    });
  });

  it('distinguishes score and ranked_score, and lists the changes of each step', () => {
    const last = candidate('last');
    expect(last.place).to.equal(1);
    expect(last.score).to.be.closeTo(1.3, 1e-9);
    expect(last.ranked_score).to.be.closeTo(candidate('rich').score ?? NaN, 1e-9);
    expect(last.changes.map(({ as }) => as)).to.deep.equal(['again', 'adults', 'pin', 'rank_within']);
    expect(last.changes[2]).to.deep.equal({ step: 9, as: 'pin', pinned_to: 1, moved_from: 3 });
    expect(last.changes[3]).to.deep.equal({ step: 10, as: 'rank_within', put_below: true });
    expect(candidate('rich').changes).to.deep.equal([
      { step: 5, as: 'again', before: 0, after: 6.5 },
      { step: 6, as: 'adults', before: 6.5, after: 7.5 },
    ]);
  });

  it('describes what each step did, in execution order', () => {
    expect(told.steps.map(({ as, outcome }) => `${as} ${outcome}`)).to.deep.equal([
      'filter ran',
      'value ran',
      'faulty failed',
      'score ran',
      'again ran',
      'adults ran',
      'kiosk not_asked_for',
      'bury ran',
      'pin ran',
      'rank_within ran',
      'ship not_asked_for',
    ]);
    expect(step('filter')).to.deep.include({ removed: { count: 1, ids: ['gone'] }, undecided: 1 });
    expect(step('filter').reason).to.contain('product.stock > 0');
    expect(step('value').version).to.match(/^[0-9a-f]{12}$/);
    expect(step('value').outputs).to.deep.equal({ score: { present: 4, missing_entity: 1 } });
    expect(step('faulty').reason).to.equal('out of order');
    expect(step('score')).to.include({ applied: 0, skipped: 5 });
    expect(step('kiosk').when).to.equal('request.device == "kiosk"');
    expect(step('kiosk').reason).to.equal('when: is not known (absent)');
    expect(step('ship').reason).to.equal('an explanation has no effects');
  });

  it('lists the unknown values that a rule or filter reads, with the reasons', async () => {
    expect(step('filter').not_known).to.deep.equal({ 'product.stock': { missing_entity: 1 } });
    expect(step('score').not_known?.['stats:clicks']).to.deep.equal({
      null: 1,
      missing_feature: 3,
      expired: 1,
    });
    expect(step('score').not_known?.['value:score']).to.deep.equal({ missing_entity: 1 });
    expect(step('pin').not_known).to.equal(undefined);
    const kiosk = await explain({ ...body, device: 'phone' });
    expect(kiosk.steps.find(({ as }) => as === 'kiosk')?.reason).to.equal('when: is false');
  });

  it('gives the scope of a step with `top:`', () => {
    expect(step('rank_within').top).to.equal(2);
  });

  it('counts the values of each view by status', () => {
    expect(told.features).to.have.deep.members([
      { view: 'stats', status: 'present', values: 1 },
      { view: 'stats', status: 'null', values: 1 },
      { view: 'stats', status: 'missing_feature', values: 4 },
      { view: 'stats', status: 'expired', values: 1 },
      { view: 'stats', status: 'defaulted', cause: 'missing_feature', values: 4 },
      { view: 'stats', status: 'defaulted', cause: 'expired', values: 1 },
    ]);
  });

  it('lists undeclared fields, stages and reads', () => {
    expect(told.unknown_fields).to.deep.equal([
      { field: 'candidates.shade', times: 6 },
      { field: 'colour', times: 1 },
    ]);
    expect(told.stages.map(({ stage }) => stage)).to.deep.equal([
      'read',
      'hydrate',
      'features',
      'components',
      'page',
    ]);
    expect(told.store.keys_read).to.be.above(0);
    expect(told.outside).to.deep.equal({ round_trips: 0, keys_read: 0 });
  });

  it('runs no effects, and is valid JSON', async () => {
    const counter = globalThis as { shipped?: number };
    counter.shipped = 0;
    const again = await explain(body);
    expect(counter.shipped).to.equal(0);
    await project.run(body);
    expect(counter.shipped).to.equal(1);
    expect(JSON.parse(JSON.stringify(again))).to.deep.equal(again);
  });

  it('lists some of many removed candidates, and counts all of them', async () => {
    await project.upload(
      'product',
      ...Array.from({ length: 60 }, (_, i) => ({ product_id: `no${i}`, stock: 0 })),
    );
    const many = await explain({
      candidates: Array.from({ length: 60 }, (_, i) => ({ product_id: `no${i}` })),
    });
    expect(many.steps[0]?.removed?.count).to.equal(60);
    expect(many.steps[0]?.removed?.ids).to.have.length(20);
    expect(many.page).to.deep.equal([]);
  });

  it('rejects what the route rejects', async () => {
    const error = await explain({ candidates: [{ product_id: 7.5 }] }).catch((caught: unknown) => caught);
    expect(error).to.include({ code: 'invalid_body' });
  });

  it('is text of at most 80 columns', () => {
    const text = explanationText(told, 80);
    for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(80);
    expect(text).to.contain('ranking: 6 candidates sent, 5 left, 3 on this page');
    expect(text).to.match(/stats:ctr +defaulted \(expired\) +0\.1/);
    expect(text).to.contain('step 6, adults, changed its score from 6.5 to 7.5');
    expect(text).to.contain('step 9, pin, pinned it to position 1');
    expect(text).to.contain('kept 1 whose condition is unknown (');
    expect(text.replace(/\s+/g, ' ')).to.contain(
      'left 5 unchanged because a value is unknown or not finite (value:score: 1 missing_entity; stats:clicks: 1 null,',
    );
    expect(text).to.contain('because: when: is not known (absent)');
    expect(text).to.contain('removed 1: gone');
    expect(text).to.contain('Fields that nothing declares: candidates.shade (6), colour (1)');
  });
});
