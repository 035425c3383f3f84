import { expect } from 'chai';
import fc from 'fast-check';
import { ProjectInvalidError } from '../../runtime/serve/app/project/compile-project.js';
import type { FeedbackAnswer } from '../../runtime/serve/feedback/feedback.js';
import { historyKey } from '../../runtime/state/store/keys.js';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const TYPES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes:\n  kind: string\n  price: float\n  brand: ref(brand)\n  tags: list(string)\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { country: string }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { household: ref(household) }\n',
  'schemas/entities/household.yaml': 'entity: household\n',
};

/** An interaction step, followed by a score from its outputs. */
const counting = (
  options: string,
  value: string,
  request = 'user: optional(user)',
): Record<string, string> => ({
  ...TYPES,
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: { shelf: string }, ${request} }
components:
  - use: interaction
    as: history
    with: ${options}
  - use: score
    with: { value: "${value}" }
`,
});

const clicks = (by: string): Record<string, string> =>
  counting(
    `{ of: user, with: ${by}, outputs: { clicks: { event: click, window: 7d } } }`,
    'coalesce(history:clicks, -1)',
  );

const PRODUCTS = [
  { product_id: 'a', kind: 'lamp', brand: 'lumen', tags: ['x', 'y'] },
  { product_id: 'b', kind: 'lamp', brand: 'halcyon', tags: ['y', 'z'] },
  { product_id: 'c', kind: 'sofa', brand: 'lumen', tags: [] },
];

describe('the interaction plugin in a pipeline', () => {
  let project: TestProject | undefined;
  let now = 0;

  async function start(files: Record<string, string>): Promise<TestProject> {
    now = Date.now();
    project = await startProject(files, { now: () => now });
    await project.upload('product', ...PRODUCTS);
    await project.upload(
      'brand',
      { brand_id: 'lumen', country: 'FR' },
      { brand_id: 'halcyon', country: 'FR' },
    );
    return project;
  }

  const send = async (
    events: readonly object[],
    over: Readonly<Record<string, unknown>> = {},
  ): Promise<Omit<FeedbackAnswer, 'request_id'>> => {
    const body = { request_id: 'r1', user: { user_id: 'u' }, events, ...over };
    const sent: unknown = JSON.parse(JSON.stringify(body)); // drops members that are undefined
    const { answer } = (await project?.app.feedback.record(sent)) ?? {};
    const { stored, duplicates, too_old, unused } = answer as FeedbackAnswer;
    return { stored, duplicates, too_old, unused };
  };
  const did = (type: string, product_id: string, over: object = {}): object => ({
    type,
    product: { product_id },
    ...over,
  });
  const scores = async (over: object = {}): Promise<Record<string, number>> => {
    const candidates = ['a', 'b', 'c', 'lost'].map((product_id) => ({ product_id }));
    return scoresOf((await project?.rank({ candidates, user: { user_id: 'u' }, ...over })) ?? []);
  };

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  it('counts by brand, which feedback reads from the index', async () => {
    await start(clicks('product.brand'));
    expect(await scores()).to.deep.equal({ a: 0, b: 0, c: 0, lost: -1 });
    expect(await send([did('click', 'a'), did('click', 'c'), did('impression', 'b')])).to.deep.equal({
      stored: 2,
      duplicates: 0,
      too_old: 0,
      unused: 1,
    });
    expect(await scores()).to.deep.equal({ a: 2, b: 0, c: 2, lost: -1 });
    expect(await scores({ user: { user_id: 'another' } })).to.deep.equal({ a: 0, b: 0, c: 0, lost: -1 });
    expect(await scores({ user: undefined })).to.deep.equal({ a: -1, b: -1, c: -1, lost: -1 });
  });

  it('counts by the candidate itself, even if it is not in the index', async () => {
    await start(clicks('product'));
    await send([did('click', 'lost'), did('click', 'b')]);
    expect(await scores()).to.deep.equal({ a: 0, b: 1, c: 0, lost: 1 });
  });

  it('counts by an attribute of a referenced entity', async () => {
    await start(clicks('product.brand.country'));
    await send([did('click', 'a'), did('click', 'b')]);
    expect(await scores()).to.deep.equal({ a: 2, b: 2, c: 2, lost: -1 });
  });

  it('counts an event once for a list, and uses the list value with the highest count', async () => {
    await start(clicks('product.tags'));
    await send([did('click', 'a'), did('click', 'b', { product: { product_id: 'b' } })]);
    // x: 1, y: 2, z: 1
    expect(await scores()).to.deep.equal({ a: 2, b: 2, c: 0, lost: -1 });
  });

  it('prefers attributes in the feedback, in every spelling of a reference', async () => {
    await start(clicks('product.brand'));
    await send([
      { type: 'click', product: { product_id: 'a', brand: 'halcyon' } },
      { type: 'click', product: { product_id: 'b', brand_id: 'halcyon' } },
      { type: 'click', product: { product_id: 'x', brand: { brand_id: 'halcyon' } } },
      { type: 'click', product: { product_id: 'c', brand: null } },
    ]);
    expect(await scores()).to.deep.equal({ a: 1, b: 3, c: 1, lost: -1 });
  });

  it('outputs counts, items, existence and time since the last event, of one or several kinds', async () => {
    await start(
      counting(
        `{ of: user, with: product, outputs: {
      both: { event: [cart, order], window: 7d }, units: { event: order, window: 7d, value: items },
      bought: { event: order, window: 7d, value: has }, ago: { event: cart, window: 7d, value: seconds_since } } }`,
        'history:both + 10 * history:units + if(history:bought, 1000, 0) + 10000 * coalesce(history:ago, 0)',
      ),
    );
    await send([
      did('cart', 'a', { time: now - 3 * SECOND }),
      did('order', 'a', { quantity: 4 }),
      did('cart', 'b', { time: new Date(now - 7 * SECOND).toISOString() }),
    ]);
    await send([did('cart', 'b', { time: now - 90 * SECOND })], { request_id: 'r2' });
    expect(await scores()).to.deep.equal({ a: 31_042, b: 70_002, c: 0, lost: 0 });
  });

  it('ends a window exactly to the millisecond', async () => {
    await start(clicks('product'));
    await send([did('click', 'a', { time: now - 7 * DAY }), did('click', 'b', { time: now - 7 * DAY + 1 })]);
    expect(await scores()).to.deep.include({ a: 0, b: 1 });
    now += 1;
    expect(await scores()).to.deep.include({ a: 0, b: 0 });
  });

  it('counts a repeated event once, and reports the duplicate', async () => {
    await start(clicks('product'));
    const events = [
      did('click', 'a', { time: now - HOUR }),
      did('click', 'a', { time: now }),
      did('click', 'b'),
    ];
    expect(await send(events)).to.deep.include({ stored: 2, duplicates: 1 });
    now += HOUR;
    expect(await send(events)).to.deep.include({ stored: 0, duplicates: 3 });
    expect(await send(events.slice(1), { request_id: 'r2' })).to.deep.include({ stored: 2, duplicates: 0 });
    expect(await scores()).to.deep.include({ a: 2, b: 2 });
  });

  it('drops events that are older than every window, and keeps late events', async () => {
    await start(clicks('product'));
    await send([did('click', 'a', { time: now })]);
    const late = [did('click', 'a', { time: now - 6 * DAY }), did('click', 'a', { time: now - 8 * DAY })];
    expect(await send(late.slice(0, 1), { request_id: 'r2' })).to.deep.include({ stored: 1, too_old: 0 });
    expect(await send(late.slice(1), { request_id: 'r3' })).to.deep.include({ stored: 0, too_old: 1 });
    expect(await scores()).to.deep.include({ a: 2 });
  });

  it('accepts feedback without an owner, and feedback that no step counts', async () => {
    await start(clicks('product'));
    expect(await send([did('click', 'a')], { user: null })).to.deep.include({ unused: 1 });
    expect(await send([{ type: 'click', brand: { brand_id: 'lumen' } }])).to.deep.include({ unused: 1 });
    expect(await send([], {})).to.deep.equal({ stored: 0, duplicates: 0, too_old: 0, unused: 0 });
    const household = { user: undefined, household: { household_id: 'h' } };
    expect(await send([did('click', 'a')], household)).to.deep.include({ unused: 1 });
  });

  it('counts for an entity that the request refers to through another entity', async () => {
    await start(
      counting(
        '{ of: user.household, with: product, outputs: { clicks: { event: click, window: 7d } } }',
        'coalesce(history:clicks, -1)',
      ),
    );
    await project?.upload('user', { user_id: 'u', household: 'h' });
    await send([did('click', 'a')], { user: undefined, household: { household_id: 'h' } });
    expect(await scores()).to.deep.equal({ a: 1, b: 0, c: 0, lost: 0 });
    expect(await scores({ user: { user_id: 'single' } })).to.deep.include({ a: -1 });
  });

  it('adds events to the history of each owner', async () => {
    const files = clicks('product');
    files['pipelines/other.yaml'] = (files['pipelines/ranking.yaml'] ?? '')
      .replace('pipeline: ranking', 'pipeline: other')
      .replace('user: optional(user)', 'household: household')
      .replace('of: user', 'of: household');
    await start(files);
    await send([did('click', 'a')]);
    const both = { household: { household_id: 'h' } };
    expect(await send([did('click', 'a'), did('click', 'b')], both)).to.deep.include({
      stored: 2,
      duplicates: 0,
    });
    expect(await send([did('click', 'a'), did('click', 'b')], both)).to.deep.include({
      stored: 0,
      duplicates: 2,
    });
    const other = project?.app.pipelines.find(({ name }) => name === 'other');
    const candidates = [{ product_id: 'a' }, { product_id: 'b' }];
    const run = await other?.run({ candidates, household: { household_id: 'h' } }, { requestId: 'r' });
    expect(scoresOf(run?.answer.ranked_candidates ?? [])).to.deep.equal({ a: 1, b: 1 });
  });

  it('reads the history in the round trip of its level, and only if a step needs it', async () => {
    const { run } = await start(clicks('product.brand'));
    const body = { candidates: [{ product_id: 'a' }], user: { user_id: 'u' } };
    const reads = async (of: object): Promise<number[]> => {
      const { report } = await run(of);
      return [report.roundTrips, report.keysRead];
    };
    const described = project?.app.pipelines[0]
      ?.describe()
      .reads.map(({ level, what, wants }) => [level, what, wants]);
    expect(described).to.deep.include([1, 'feedback history of user', ['clicks by product.brand']]);
    expect(await reads(body)).to.deep.equal([1, 2]);
    // The product is now in a resident table; a history never is.
    expect(await reads(body)).to.deep.equal([1, 1]);
    expect(await reads({ candidates: body.candidates })).to.deep.equal([0, 0]);
  });

  it('is failed if the history is damaged, and restarts with the next feedback', async () => {
    await start(clicks('product'));
    const damaged = Buffer.from('not a history, but long enough for one');
    damaged[16] = 1; // its format
    await project?.app.store.write([{ key: historyKey('millrace', 'user', 'u'), value: damaged }]);
    expect(await scores()).to.deep.include({ a: -1 });
    await send([did('click', 'a')]);
    expect(await scores()).to.deep.include({ a: 1, b: 0 });
  });

  it('keeps the newest thousand events of a kind, and reports evicted ones', async () => {
    await start(clicks('product'));
    const events = (from: number, count: number): object[] =>
      Array.from({ length: count }, (_, i) =>
        did('click', `p${from + i}`, { time: now - 10_000 + from + i }),
      );
    await send(events(0, 1000));
    const body = { request_id: 'r', user: { user_id: 'u' }, events: events(1000, 30) };
    const recorded = await project?.app.feedback.record(body);
    expect(recorded?.counts).to.deep.include({ type: 'click', outcome: 'evicted', count: 30 });
    const candidates = ['p29', 'p30', 'p1029'].map((product_id) => ({ product_id }));
    const ranked = await project?.rank({ candidates, user: { user_id: 'u' } });
    expect(scoresOf(ranked ?? [])).to.deep.equal({ p29: 0, p30: 1, p1029: 1 });
  });

  it('counts like a plain list of events for any feedback in any order', async () => {
    const files = counting(
      `{ of: user, with: product.brand, outputs: {
      clicks: { event: click, window: 2d }, all: { event: [impression, click, order], window: 1d },
      units: { event: order, window: 3d, value: items }, any: { event: order, window: 1h, value: has } } }`,
      'history:clicks + 100 * history:all + 10000 * history:units + if(history:any, 0.5, 0)',
    );
    await start(files);
    const brands: Readonly<Record<string, string>> = { a: 'lumen', b: 'halcyon', c: 'lumen' };
    const sent = fc.record({
      request: fc.constantFrom('r1', 'r2', 'r3'),
      type: fc.constantFrom<('impression' | 'click' | 'order')[]>('impression', 'click', 'order'),
      product: fc.constantFrom('a', 'b', 'c'),
      age: fc.integer({ min: -60 * SECOND, max: 4 * DAY }),
      quantity: fc.integer({ min: 1, max: 9 }),
    });
    type Sent = typeof sent extends fc.Arbitrary<infer T> ? T : never;
    let users = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(sent, { maxLength: 8 }), { maxLength: 6 }), async (batches) => {
        const user_id = `model-${users++}`;
        const model = new Map<string, Sent>();
        for (const batch of batches) {
          for (const request of ['r1', 'r2', 'r3']) {
            const its = batch.filter((one) => one.request === request);
            for (const one of its) {
              const window = { impression: 1, click: 2, order: 3 }[one.type];
              const key = [one.request, one.type, one.product].join();
              if (one.age < window * DAY && !model.has(key)) model.set(key, one);
            }
            const events = its.map(({ type, product, age, quantity }) =>
              did(type, product, { time: now - age, quantity }),
            );
            await send(events, { request_id: request, user: { user_id } });
          }
        }
        const expected = (product: string): number => {
          const its = [...model.values()].filter((one) => brands[one.product] === brands[product]);
          const within = (type: string, window: number): Sent[] =>
            its.filter((one) => one.type === type && one.age < window);
          const all = ['impression', 'click', 'order'].flatMap((type) => within(type, DAY)).length;
          const units = within('order', 3 * DAY).reduce((sum, one) => sum + one.quantity, 0);
          const any = within('order', HOUR).length > 0 ? 0.5 : 0;
          return within('click', 2 * DAY).length + 100 * all + 10_000 * units + any;
        };
        const found = await scores({ user: { user_id } });
        expect(found).to.deep.equal({ a: expected('a'), b: expected('b'), c: expected('c'), lost: 0 });
      }),
      { numRuns: 60 },
    );
  });

  const mistakes: readonly [what: string, options: string, message: string][] = [
    [
      'an unknown entity',
      '{ of: device, with: product, outputs: { x: { event: click, window: 1d } } }',
      'device: nothing here is called `device`',
    ],
    [
      'a value of the request instead of an entity',
      '{ of: request.place, with: product, outputs: { x: { event: click, window: 1d } } }',
      'request.place: `request.place` is not an entity of the request, such as `user`',
    ],
    [
      'a number to count by',
      '{ of: user, with: product.price, outputs: { x: { event: click, window: 1d } } }',
      'product.price: `product.price` is neither an id nor a text',
    ],
    [
      'an expression to count by',
      '{ of: user, with: lower(product.kind), outputs: { x: { event: click, window: 1d } } }',
      'lower(product.kind): `lower(product.kind)` is not a path of a candidate',
    ],
    [
      'an attribute that only rankings carry',
      '{ of: user, with: product.shelf, outputs: { x: { event: click, window: 1d } } }',
      'product.shelf: `product.shelf` is only sent with rankings, so feedback does not have it',
    ],
    [
      'an invalid window',
      '{ of: user, with: product, outputs: { x: { event: click, window: 7 days } } }',
      '7 days: expected a time up to 366d, found `7 days`',
    ],
    [
      'a window that is too long',
      '{ of: user, with: product, outputs: { x: { event: click, window: 400d } } }',
      '400d: expected a time up to 366d, found `400d`',
    ],
  ];
  for (const [what, options, message] of mistakes) {
    it(`rejects ${what} at load`, async () => {
      const files = counting(options, '1', 'user: optional(user), place: optional(string)');
      const error: unknown = await startProject(files).catch((caught: unknown) => caught);
      if (!(error instanceof ProjectInvalidError)) throw new Error('the project has no mistake');
      const found = error.diagnostics
        .filter(({ severity }) => severity === 'error')
        .map(({ at, message: text }) => `${at.file.text.slice(at.start, at.end)}: ${text}`);
      expect(found).to.deep.equal([message]);
    });
  }
});
