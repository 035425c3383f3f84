import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { Deadline } from '../../runtime/ground/core/deadline.js';
import { idsOf, pluginFiles, scoresOf, startProject, type TestProject } from '../support/project.js';

/** Interactions of steps: scopes, pins and buries, conditions, definitions, failures. */

const FILES = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), price: float }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { rating: float, owner: ref(brand) }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { age: int, favourite: ref(brand) }\n',
  ...pluginFiles(
    'writes_later',
    'feature',
    `return { outputs: { value: 'number' }, async compute(input, output) {
       const { values, status } = output.number('value');
       const column = output.number('value');
       setTimeout(() => {
         for (let row = 0; row < input.count; row++) {
           values[row] = column.values[row] = 99;
           status[row] = column.status[row] = Status.present;
         }
       }, 1);
       throw new Error('one of two batches failed');
     } };`,
  ),
  ...pluginFiles(
    'waits',
    'feature',
    `return { outputs: { one: 'number' }, async compute(input, output) {
       await new Promise((done) => setTimeout(done, 10));
       const { values, status } = output.number('one');
       for (const row of input.rows) { values[row] = 1; status[row] = Status.present; }
     } };`,
  ),
  ...pluginFiles(
    'breaks_after_writing',
    'rule',
    `return { apply(input, ranking) {
       for (const row of input.rows) ranking.scores[row] = 1000;
       ranking.bury(0); ranking.pin(1, 1);
       throw new Error('half way');
     } };`,
  ),
  ...pluginFiles(
    'changes_later',
    'rule',
    `return { async apply(input, ranking) {
       const { scores } = ranking;
       setTimeout(() => {
         for (let row = 0; row < input.count; row++) scores[row] = ranking.scores[row] = 1000 - row;
         ranking.bury(4); ranking.pin(1, 1);
       }, 1);
       throw new Error('one of two calls failed');
     } };`,
  ),
  ...pluginFiles(
    'pins_later',
    'rule',
    `return { async apply(input, ranking) {
       setTimeout(() => { ranking.bury(4); ranking.pin(0, 1); }, 1);
       return { applied: 0, skipped: 0 };
     } };`,
  ),
  ...pluginFiles(
    'pins_nowhere',
    'rule',
    `return { apply(input, ranking) { ranking.pin(0, 0); return { applied: 1, skipped: 0 }; } };`,
  ),
  ...pluginFiles(
    'writes_elsewhere',
    'rule',
    `return { apply(input, ranking) {
       for (let row = 0; row < input.count; row++) ranking.scores[row] = NaN;
       return { applied: input.count, skipped: 0 };
     } };`,
  ),
  ...pluginFiles(
    'model_of_one',
    'model',
    `return { outputs: { score: 'number' }, compute(input, output) {
       const { values, status } = output.number('score');
       for (const row of input.rows) { values[row] = 0; status[row] = Status.present; }
     } };`,
  ),
  ...pluginFiles(
    'reads_by_identifier',
    'rule',
    `for (const name of ['user.age', 'user.favourite.rating', 'product.brand.rating', 'request.device', 'twice']) build.need(name);
     return { apply(input, ranking) {
       const user = { type: 'user', id: 'u' };
       const read = (of, name) => { const { value, status } = input.getFeature(of, name); return status === 'present' ? value : -1; };
       for (const row of input.rows) {
         const own = input.candidate(row);
         if (read(own, 'request.device') !== 'kiosk') throw new Error('no device');
         if (read(user, 'user.age') !== read(own, 'user.age')) throw new Error('two ages');
         ranking.scores[row] = 1000 * read(own, 'user.age') + 100 * read(user, 'user.favourite.rating') + 10 * read(own, 'product.brand.rating') + read(own, 'twice');
       }
       if (read({ type: 'user', id: 'nobody' }, 'user.age') !== -1) throw new Error('it made one up');
       return { applied: 0, skipped: 0 };
     } };`,
  ),
};

const pipeline = (components: readonly string[], more = ''): string => `pipeline: ranking
rank: product
request:
  candidates: { search_score: float }
  user: optional(user)
  device: optional(string)
${more}
components:
${components.join('\n')}
`;

const step = (use: string, more = '', options = ''): string =>
  `  - use: ${use}\n${more === '' ? '' : `    ${more}\n`}${options === '' ? '' : `    with: ${options}\n`}`;
const score = (value: string): string => step('score', '', `{ value: "${value}" }`);
const bySearch = score('product.search_score');

describe('steps together', () => {
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  async function start(components: readonly string[], more = ''): Promise<TestProject> {
    project = await startProject({ ...FILES, 'pipelines/ranking.yaml': pipeline(components, more) });
    return project;
  }

  const five = {
    candidates: [1, 2, 3, 4, 5].map((search_score) => ({ product_id: `p${search_score}`, search_score })),
  };

  async function failure(service: TestProject, body: object): Promise<MillraceError> {
    const error = await service.rank(body).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    if (error instanceof MillraceError) return error;
    throw new Error(`no MillraceError: ${String(error)}`);
  }

  it('top: within a smaller top:, and a wider one after a narrower one', async () => {
    const inner = await start([
      bySearch,
      step('boost', 'top: 3', '{ add: -10 }'),
      step('boost', 'top: 1', '{ add: -10 }'),
    ]);
    expect(idsOf(await inner.rank(five))).to.deep.equal(['p5', 'p4', 'p3', 'p2', 'p1']);
    expect(scoresOf(await inner.rank(five))).to.deep.equal({ p5: -15, p4: -15, p3: -15, p2: -15, p1: -15 });
    await inner.close();
    const outer = await start([
      bySearch,
      step('score', 'top: 2', '{ value: "0 - product.search_score" }'),
      step('boost', 'top: 4', '{ multiply: 2 }'),
    ]);
    expect(idsOf(await outer.rank(five))).to.deep.equal(['p4', 'p5', 'p3', 'p2', 'p1']);
  });

  it('bury, top: and pin together; returned scores never increase', async () => {
    const { rank } = await start([
      bySearch,
      step('bury', '', '{ where: product.search_score == 5 }'),
      step('boost', 'top: 2', '{ add: 1 }'),
      step('pin', '', '{ positions: { 2: p1, 3: p5 } }'),
    ]);
    const ranked = await rank(five);
    expect(idsOf(ranked)).to.deep.equal(['p4', 'p1', 'p5', 'p3', 'p2']);
    expect(ranked.map(({ ranked_score }) => ranked_score)).to.deep.equal([5, 4, 4, 4, 2]);
  });

  it('a step that when: skips sets no scope and produces no output', async () => {
    const { run } = await start([
      bySearch,
      step('model_of_one', 'when: request.device == "kiosk"\n    top: 1'),
      score('coalesce(model_of_one:score + 50, 6 - score)'),
    ]);
    const { ranked, events } = await run({ ...five, include_events: true });
    expect(idsOf(ranked)).to.deep.equal(['p1', 'p2', 'p3', 'p4', 'p5']);
    const models = (found: readonly unknown[]): unknown[] =>
      found.filter((event) => (event as { event_type: string }).event_type === 'MODEL');
    expect(models(events)).to.deep.equal([]);
    const asked = await run({ ...five, device: 'kiosk', include_events: true });
    expect(asked.ranked[0]).to.deep.equal({ candidate_id: 'p5', ranked_score: 50 });
    expect(models(asked.events)).to.have.length(5);
  });

  it('a definition first used by a skipped step is computed for later steps', async () => {
    const define = 'define:\n  doubled: product.search_score * 2\n  more: doubled + 1';
    const { rank } = await start(
      [step('boost', 'when: request.device == "kiosk"', '{ add: more }'), score('more + doubled')],
      define,
    );
    expect(scoresOf(await rank(five))).to.deep.equal({ p1: 5, p2: 9, p3: 13, p4: 17, p5: 21 });
  });

  it('on_error: skip rolls back what a rule wrote, including its scope', async () => {
    const { rank } = await start([
      bySearch,
      step('breaks_after_writing', 'on_error: skip\n    top: 2'),
      score('0 - score'),
    ]);
    expect(scoresOf(await rank(five))).to.deep.equal({ p1: -1, p2: -2, p3: -3, p4: -4, p5: -5 });
  });

  it('a late write of a skipped step reaches no other step and no later request', async () => {
    const steps = [
      step('writes_later', 'on_error: skip'),
      step('waits'),
      score('coalesce(writes_later:value, product.search_score)'),
    ];
    const { rank } = await start(steps);
    const ranked = await rank(five);
    expect(scoresOf(ranked)).to.deep.equal({ p1: 1, p2: 2, p3: 3, p4: 4, p5: 5 });
    const both = await Promise.all([rank(five), rank(five), pause(2).then(() => rank(five))]);
    for (const one of both) expect(one).to.deep.equal(ranked);
  });

  it('a change of the ranking after the step of a rule has no effect', async () => {
    for (const late of [step('changes_later', 'on_error: skip'), step('pins_later')]) {
      const service = await start([bySearch, late, step('waits'), score('10 * score')]);
      const both = await Promise.all([service.rank(five), pause(2).then(() => service.rank(five))]);
      for (const ranked of both) {
        expect(idsOf(ranked)).to.deep.equal(['p5', 'p4', 'p3', 'p2', 'p1']);
        expect(scoresOf(ranked)).to.deep.equal({ p1: 10, p2: 20, p3: 30, p4: 40, p5: 50 });
      }
      await service.close();
    }
  });

  it('a pin to an invalid position is an error of the step, and loses no candidate', async () => {
    const failing = await start([bySearch, step('pins_nowhere')]);
    expect((await failure(failing, five)).code).to.equal('component_failed');
    await failing.close();
    const skipping = await start([bySearch, step('pins_nowhere', 'on_error: skip')]);
    expect(await skipping.rank(five)).to.have.length(5);
  });

  it('a score that is not finite is rolled back even outside the scope of the step', async () => {
    const { rank } = await start([bySearch, step('writes_elsewhere', 'top: 2')]);
    expect(scoresOf(await rank(five))).to.deep.equal({ p1: 1, p2: 2, p3: 3, p4: 4, p5: 5 });
  });

  it('reads attributes of the request and of every candidate by identifier', async () => {
    const { upload, rank } = await start(
      [step('reads_by_identifier')],
      'define:\n  twice: product.search_score * 2',
    );
    await upload('user', { user_id: 'u', age: 3, favourite: 'b' });
    await upload('brand', { brand_id: 'b', rating: 4 }, { brand_id: 'c', rating: 5 });
    await upload('product', { product_id: 'p1', brand: 'b' }, { product_id: 'p2', brand: 'c' });
    const scores = scoresOf(await rank({ ...five, user: { user_id: 'u' }, device: 'kiosk' }));
    expect(scores).to.deep.equal({ p1: 3442, p2: 3454, p3: 3396, p4: 3398, p5: 3400 });
  });

  it('ends immediately if the client disconnected before it started', async () => {
    const { app } = await start([step('waits'), bySearch]);
    const [first] = app.pipelines;
    const deadline = new Deadline(60_000);
    deadline.abort(new MillraceError('deadline_exceeded', 'the client closed the connection'));
    const error: unknown = await first?.run(five, { requestId: 'r', deadline }).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    deadline.end();
    expect((error as MillraceError).code).to.equal('deadline_exceeded');
  });

  it('gives fifty concurrent requests the same answers as sequential ones', async () => {
    const { upload, rank } = await start([
      step('waits'),
      score('coalesce(product.brand.rating, 0) * waits:one + product.search_score'),
    ]);
    const brands = Array.from({ length: 20 }, (_, i) => ({ brand_id: `b${i}`, rating: i * 100 }));
    await upload('brand', ...brands);
    await upload(
      'product',
      ...Array.from({ length: 60 }, (_, i) => ({ product_id: `p${i}`, brand: `b${i % 20}` })),
    );
    const bodies = Array.from({ length: 50 }, (_, n) => ({
      candidates: Array.from({ length: 1 + ((n * 7) % 60) }, (_row, i) => ({
        product_id: `p${(i + n) % 60}`,
        search_score: n,
        ...(i % 3 === 0 ? { brand: { rating: n } } : {}),
      })),
    }));
    const expected = [];
    for (const body of bodies) expected.push(await rank(body));
    expect(await Promise.all(bodies.map((body) => rank(body)))).to.deep.equal(expected);
  });
});

describe('an effect', () => {
  it('does not delay or fail a ranking, and can read its request until it ends', async () => {
    const saw = ((globalThis as { sinkSaw?: string[] }).sinkSaw = []) as string[];
    const project = await startProject({
      'package.json': '{ "type": "module" }',
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
      ...pluginFiles(
        'sink',
        'effect',
        `const price = build.need('product.price');
         return { async run(input) {
           await new Promise((done) => setTimeout(done, 50));
           const { values } = input.column(price);
           globalThis.sinkSaw.push(Array.from(input.rows, (row) => input.candidate(row).id + values[row]).join());
           throw new Error('the stream is away');
         } };`,
      ),
      ...pluginFiles('broken_sink', 'effect', `return { run() { throw new Error('at once'); } };`),
      'pipelines/ranking.yaml':
        'pipeline: ranking\nrank: product\nlimits: { time: 40ms }\ncomponents:\n  - use: sink\n  - use: broken_sink\n',
    });
    try {
      const candidates = [
        { product_id: 'a', price: 1 },
        { product_id: 'b', price: 2 },
      ];
      const { ranked, report } = await project.run({ candidates });
      expect(idsOf(ranked)).to.deep.equal(['a', 'b']);
      expect(report.skippedSteps).to.deep.equal(['broken_sink']);
      await project.rank({ candidates: [{ product_id: 'z', price: 9 }] });
      while (saw.length < 2) await pause(10);
      expect(saw).to.deep.equal(['a1,b2', 'z9']);
    } finally {
      await project.close();
    }
  });
});
