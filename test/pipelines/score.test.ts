import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import type { JsonObject } from '../../runtime/ground/api/types.js';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import type { Explanation } from '../../runtime/request/pipeline/explain/explanation.js';
import type { RunReport } from '../../runtime/request/pipeline/types.js';
import type { PipelineAnswer } from '../../runtime/request/pipeline/answer-types.js';
import { pluginFiles, startProject, writeProject, type TestProject } from '../support/project.js';

/** Pipelines that compute one score of one entity. */

const SCHEMAS = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/order.yaml': `entity: order
attributes: { amount: float, placed_at: timestamp, shop: ref(shop), rush: bool, tags: list(string), note: string }
`,
  'schemas/entities/shop.yaml': 'entity: shop\nattributes: { country: string }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { country: string }\n',
  'schemas/features/order_stats.yaml': 'view: order_stats\nof: [order]\nfeatures: { changes: int }\n',
  'schemas/features/user_shop.yaml': 'view: user_shop\nof: [user, shop]\nfeatures: { orders: int }\n',
  ...pluginFiles(
    'breaks',
    'model',
    `return { outputs: { score: 'number' }, compute() { throw new Error('no model today'); } };`,
  ),
  ...pluginFiles(
    'takes_long',
    'model',
    `return { outputs: { score: 'number' }, compute() { return new Promise((done) => setTimeout(done, 200)); } };`,
  ),
};

const RISK = `pipeline: risk
score: order
request:
  order: { basket: float }
  user: optional(user)
  channel: optional(string)
limits: { time: 500ms }
features:
  - order_stats
  - bought: user_shop(user, order.shop)
define:
  abroad: order.shop.country != user.country
components:
  - use: linear
    as: model
    with: { weights: { order.amount: 0.01, order.basket: 1, order_stats:changes: 0.5 } }
  - use: score
    with: { value: 'model:score' }
  - use: boost
    when: request.channel == "phone"
    with: { add: 10 }
  - use: boost
    with: { where: abroad, multiply: 2 }
answer:
  abroad: abroad
  amount: order.amount
  country: order.shop.country
  placed_at: order.placed_at
  tags: order.tags
  bought: bought:orders
  large: score > 5
`;

describe('a pipeline that scores', () => {
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function start(pipeline: string): Promise<TestProject> {
    const [, name = ''] = /^pipeline: (\w+)/.exec(pipeline) ?? [];
    project = await startProject({ ...SCHEMAS, [`pipelines/${name}.yaml`]: pipeline });
    return project;
  }

  async function run(body: unknown): Promise<{ answer: PipelineAnswer; report: RunReport }> {
    const [pipeline] = project?.app.pipelines ?? [];
    if (pipeline === undefined) throw new Error('the project has no pipeline');
    return await pipeline.run(body, { requestId: 'made-up' });
  }

  async function explain(body: unknown): Promise<Explanation> {
    const [pipeline] = project?.app.pipelines ?? [];
    if (pipeline === undefined) throw new Error('the project has no pipeline');
    return await pipeline.explain(body, { requestId: 'made-up' });
  }

  async function refusal(body: unknown): Promise<readonly string[]> {
    try {
      await run(body);
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      expect(error.code).to.equal('invalid_body');
      return error.violations.map(({ pointer, code }) => `${pointer} ${code}`);
    }
    return expect.fail('the body was accepted');
  }

  /** A pipeline with these steps, which also returns the values of `answer`. */
  const steps = (text: string, answer = ''): string =>
    `pipeline: one\nscore: order\nlimits: { time: 100ms }\ncomponents:\n${text}\n${answer}`;

  it('returns the score of one hydrated entity, with automatically bound features', async () => {
    const { upload, push } = await start(RISK);
    await upload('shop', { shop_id: 's', country: 'FR' });
    await upload('user', { user_id: 'u', country: 'DE' });
    await upload('order', {
      order_id: 'o',
      amount: 100,
      placed_at: '2026-01-31T12:00:00Z',
      shop: 's',
      tags: ['a', 'b'],
    });
    await push('order_stats', { order_id: 'o', changes: 2 });
    await push('user_shop', { user_id: 'u', shop_id: 's', orders: 7 });
    const body = { order: { order_id: 'o', basket: 0.5 }, user: { user_id: 'u' } };
    const first = await run(body);
    expect(first.report).to.include({ candidates: 1, roundTrips: 2 });
    expect(first.answer).to.deep.equal({
      order_id: 'o',
      score: 5,
      abroad: true,
      amount: 100,
      country: 'FR',
      placed_at: Date.UTC(2026, 0, 31, 12),
      tags: ['a', 'b'],
      bought: 7,
      large: false,
    });
    const phone = await run({ ...body, order: { order_id: 'o', basket: 0.5, amount: 0 }, channel: 'phone' });
    expect(phone.answer).to.include({ score: 23, amount: 0, large: true });
  });

  it('has no score until a step sets it, and never 0 instead', async () => {
    await start(RISK);
    const body = { order: { order_id: 'unknown', basket: 1 }, user: { user_id: 'u' }, channel: 'phone' };
    const { answer, report } = await run(body);
    const absent = { abroad: null, amount: null, country: null, placed_at: null, tags: null, bought: null };
    expect(answer).to.deep.equal({ order_id: 'unknown', score: null, ...absent, large: null });
    expect(report.skippedSteps).to.deep.equal([]);
    const told = await explain(body);
    expect(told.answer).to.deep.equal(answer);
    expect(told.answered).to.deep.include({
      amount: { value: null, status: 'missing_entity' },
      large: { value: null, status: 'absent' },
    });
    expect(told.page).to.have.length(1);
    expect(told.page[0]).to.deep.include({
      candidate_id: 'unknown',
      place: 1,
      score: null,
      ranked_score: null,
      changes: [],
    });
    // The boosts had no score to raise.
    expect(told.steps.slice(1).map(({ applied, skipped }) => [applied, skipped])).to.deep.equal([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
    expect(told.page[0]?.values['order.basket']).to.deep.equal({ value: 1, status: 'present' });
  });

  it('keeps a score that is 0, or that a later step could not set', async () => {
    await start(
      steps(
        '  - use: score\n    with: { value: order.amount }\n  - use: score\n    with: { value: log(order.amount) }',
      ),
    );
    expect((await run({ order: { order_id: 'o', amount: 0 } })).answer).to.deep.equal({
      order_id: 'o',
      score: 0,
    });
    expect((await run({ order: { order_id: 'o', amount: 1 } })).answer).to.deep.equal({
      order_id: 'o',
      score: 0,
    });
    expect((await run({ order: { order_id: 'o', amount: null } })).answer).to.include({ score: null });
  });

  it('reads the score of earlier steps as absent until there is one', async () => {
    const known = `answer: { was: "order.rush" }`;
    await start(
      steps(
        `  - use: score\n    when: order.rush\n    with: { value: 2 }\n  - use: score\n    with: { value: "coalesce(score, -1)" }`,
        known,
      ),
    );
    const scored = async (order: object) => (await run({ order: { order_id: 'o', ...order } })).answer;
    expect(await scored({})).to.deep.equal({ order_id: 'o', score: -1, was: null });
    expect(await scored({ rush: false })).to.deep.equal({ order_id: 'o', score: -1, was: false });
    expect(await scored({ rush: true })).to.deep.equal({ order_id: 'o', score: 2, was: true });
  });

  it('asks `when:` with the score of the steps before it, in every request', async () => {
    const score = '  - use: score\n    with: { value: order.amount }\n';
    await start(steps(`${score}  - use: boost\n    when: score > 5\n    with: { add: 100 }`));
    const scored = async (amount: number): Promise<unknown> => {
      const { answer } = await run({ order: { order_id: 'o', amount } });
      return (answer as unknown as JsonObject)['score'];
    };
    const first = [await scored(1), await scored(9)];
    expect([...first, await scored(1), await scored(9)]).to.deep.equal([1, 109, 1, 109]);
  });

  it('continues without a failed model, and reports it; coalesce provides a fallback', async () => {
    const skipped = `  - use: breaks\n    as: deep\n    on_error: skip\n  - use: score\n    with: { value: "VALUE" }`;
    const answers = 'answer: { deep: deep:score }';
    const { app } = await start(steps(skipped.replace('VALUE', 'deep:score'), answers));
    const body = { order: { order_id: 'o', amount: 3 } };
    const { answer, report } = await run(body);
    expect(answer).to.deep.equal({ order_id: 'o', score: null, deep: null });
    expect(report.skippedSteps).to.deep.equal(['deep']);
    expect((await explain(body)).answered?.['deep']).to.deep.equal({ value: null, status: 'failed' });
    await app.close();
    await start(steps(skipped.replace('VALUE', 'coalesce(deep:score, order.amount)'), answers));
    expect((await run(body)).answer).to.deep.equal({ order_id: 'o', score: 3, deep: null });
  });

  it('fails if a step fails, and at its deadline', async () => {
    const failure = async (): Promise<unknown> =>
      await run({ order: { order_id: 'o' } }).then(
        () => expect.fail('the request did not fail'),
        (error: unknown) => (error as MillraceError).code,
      );
    const { app } = await start(steps('  - use: breaks'));
    expect(await failure()).to.equal('component_failed');
    await app.close();
    await start(steps('  - use: takes_long\n    on_error: skip'));
    expect(await failure()).to.equal('deadline_exceeded');
  });

  it('returns events for features, predictions, scores and answered values, but no impression', async () => {
    await start(
      steps(
        '  - use: linear\n    as: model\n    with: { weights: { order.amount: 2 } }\n  - use: score\n    with: { value: model:score }\n  - use: boost\n    with: { add: 1 }',
        'answer: { double: 2 * score, missing: order.note }',
      ),
    );
    const { answer } = await run({
      order: { order_id: 'o', amount: 3 },
      include_events: true,
      request_id: 'r',
    });
    const events = (answer.events?.toJSON() ?? []) as unknown as {
      event_type: string;
      event_data: JsonObject;
      request_id: string;
    }[];
    expect(events.every(({ request_id: id }) => id === 'r')).to.equal(true);
    const of = (type: string) =>
      events.filter((one) => one.event_type === type).map(({ event_data: data }) => data);
    const identifier = { entity_identifier: 'o', entity_identifier_type: 'order' };
    const feature = { feature_identifier: 'o', feature_identifier_type: 'order' };
    expect(of('MODEL')).to.deep.equal([
      {
        model_name: 'model',
        model_version: null,
        model_output: 6,
        model_output_status: 'present',
        ...identifier,
      },
    ]);
    expect(of('FEATURE')).to.deep.equal([
      { ...feature, feature_name: 'order.amount', feature_value: 3, feature_status: 'present' },
      { ...feature, feature_name: 'order.note', feature_value: null, feature_status: 'missing_entity' },
      { ...feature, feature_name: 'double', feature_value: 14, feature_status: 'present' },
      { ...feature, feature_name: 'missing', feature_value: null, feature_status: 'missing_entity' },
    ]);
    expect(of('BUSINESS_LOGIC').map(({ old_score: from, new_score: to }) => [from, to])).to.deep.equal([
      [null, 6],
      [6, 7],
    ]);
    expect(of('CANDIDATE')).to.deep.equal([{ ...identifier, candidate_score: 7, candidate_order: 0 }]);
    expect(of('IMPRESSION')).to.deep.equal([]);
    expect(answer).to.include({ order_id: 'o', score: 7, double: 14, missing: null });
  });

  it('rejects a body without its entity, and invalid fields of the entity', async () => {
    await start(RISK);
    expect(await refusal({})).to.deep.equal(['/order missing']);
    expect(await refusal({ order: null })).to.deep.equal(['/order missing']);
    expect(await refusal({ order: 'o' })).to.deep.equal(['/order wrong_type']);
    expect(await refusal({ order: [{ order_id: 'o' }] })).to.deep.equal(['/order wrong_type']);
    expect(await refusal({ order: {} })).to.have.length(1);
    expect(await refusal({ order: { order_id: 'o', amount: 'much', basket: [] }, user: {} })).to.have.length(
      3,
    );
  });

  it('counts the fields of a ranking as unknown fields', async () => {
    await start(RISK);
    const body = { order: { order_id: 'o', colour: 'red' }, candidates: [], user_page: -1 };
    const { report } = await run(body);
    expect([...report.unknownFields.keys()].sort()).to.deep.equal([
      'candidates',
      'order.colour',
      'user_page',
    ]);
  });

  it('accepts values of the entity in options for request values', async () => {
    const match =
      '  - use: text_match\n    as: match\n    with: { query: order.note, field: order.shop.country }';
    const { upload } = await start(steps(match, 'answer: { overlap: match:overlap }'));
    await upload('shop', { shop_id: 's', country: 'the red house' });
    const scored = async (note: string): Promise<PipelineAnswer> =>
      (await run({ order: { order_id: 'o', shop: 's', note } })).answer;
    expect(await scored('red car')).to.include({ overlap: 0.5 });
    expect(await scored('house')).to.include({ overlap: 1 });
  });

  it('scores a query, even an empty one', async () => {
    await start(
      'pipeline: intent\nscore: query\ncomponents:\n  - use: score\n    with: { value: 1 }\nanswer: { text: query.query }\n',
    );
    expect((await run({ query: { query: 'lamp' } })).answer).to.deep.equal({
      query: 'lamp',
      score: 1,
      text: 'lamp',
    });
    expect((await run({ query: { query: '' } })).answer).to.deep.equal({ query: '', score: 1, text: '' });
  });

  it('is described by its plan and its schemas', async () => {
    await start(RISK);
    const [pipeline] = project?.app.pipelines ?? [];
    const plan = pipeline?.describe();
    expect(plan).to.include({ score: 'order' }).and.not.to.have.property('rank');
    expect(plan?.answer).to.include({ large: 'score > 5', amount: 'order.amount' });
    const { required, properties } = pipeline?.requestSchema as {
      required: string[];
      properties: JsonObject;
    };
    expect(required).to.deep.equal(['order']);
    expect(properties).to.have.property('order');
    expect(properties).to.not.have.any.keys('candidates', 'user_page', 'candidate_page_size');
    const answered = new Ajv2020({ strict: false }).compile(pipeline?.answerSchema ?? {});
    for (const order of [{ order_id: 'o' }, { order_id: 'o', amount: 1, basket: 2, tags: ['a'] }])
      for (const include_events of [true, false])
        expect(
          answered(JSON.parse(JSON.stringify((await run({ order, include_events })).answer))),
          JSON.stringify(answered.errors),
        ).to.equal(true);
    expect(answered({ order_id: 'o', score: 'high' })).to.equal(false);
  });

  it('reports steps that need candidates and invalid answers, all at once', async () => {
    const withoutPlugins = Object.entries(SCHEMAS).filter(([path]) => path.startsWith('schemas/'));
    const root = await writeProject({
      ...Object.fromEntries(withoutPlugins),
      'pipelines/one.yaml': steps(
        [
          '  - use: filter\n    with: { keep: order.rush }',
          '  - use: pin\n    with: { positions: { 1: o } }',
          '  - use: bury\n    with: { where: order.rush }',
          '  - use: rank_within\n    with: { value: order.amount }',
        ].join('\n'),
        'answer: { amount: order.amuont, twice: 2 * missing }',
      ),
    });
    try {
      const { diagnostics } = await compileProject(root);
      expect(
        diagnostics.map(({ code, message }) => `${code} ${/`[^`]+`/.exec(message)?.[0] ?? ''}`),
      ).to.deep.equal([
        'ranking_only `filter`',
        'ranking_only `pin`',
        'ranking_only `bury`',
        'ranking_only `rank_within`',
        'unknown_attribute `order`',
        'unknown_name `missing`',
      ]);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
