import { expect } from 'chai';
import { withFiles } from '../support/temporary-files.js';
import { call, post, start, type Answer } from './harness.js';
import { serveProject } from './serve-project.js';

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), price: float }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {}, user: optional(user) }
components:
  - use: interaction
    with:
      of: user
      with: product.brand
      outputs: { clicks: { event: click, window: 7d }, orders: { event: order, window: 7d } }
  - use: score
    with: { value: "coalesce(interaction:clicks, 0)" }
`,
};

/** The clock of the served project. */
const NOW = Date.parse('2026-01-31T12:00:00Z');

const click = { type: 'click', product: { product_id: 'p1' } };
const body = { request_id: 'r1', user: { user_id: 'u' }, events: [click] };

describe('POST /api/v1/feedback', () => {
  const serve = (
    use: (send: (body: unknown) => Promise<Answer>, url: string) => Promise<void>,
  ): Promise<void> =>
    withFiles(FILES, (root) =>
      serveProject(root, (url) => use((sent) => post(`${url}/api/v1/feedback`, sent), url)),
    );

  const wrong: readonly [what: string, body: unknown, pointer: string, code: string][] = [
    ['no object', [], '', 'wrong_type'],
    ['no request, time or id of the event', { ...body, request_id: undefined }, '/events/0', 'missing_field'],
    [
      'no request, no owner and no event id',
      { user: null, events: [{ ...click, time: NOW }] },
      '/events/0',
      'missing_field',
    ],
    ['a request that is no whole number', { ...body, request_id: 7.5 }, '/request_id', 'invalid_id'],
    ['nobody whose events they are', { request_id: 'r', events: [] }, '', 'missing_field'],
    ['an entity without an id', { ...body, user: {} }, '/user/user_id', 'missing_id'],
    ['an entity that is a text', { ...body, user: 'u' }, '/user', 'wrong_type'],
    ['an unknown field', { ...body, usr: null }, '/usr', 'unknown_field'],
    [
      'a prototype',
      '{"request_id":"r","user":null,"events":[],"__proto__":{}}',
      '/__proto__',
      'unknown_field',
    ],
    ['no events', { ...body, events: undefined }, '/events', 'missing_field'],
    ['too many events', { ...body, events: new Array(1001).fill(click) }, '/events', 'too_many'],
    ['an event that is a text', { ...body, events: [click, 'click'] }, '/events/1', 'wrong_type'],
    ['no type', { ...body, events: [{ product: click.product }] }, '/events/0/type', 'missing_field'],
    ['a misspelt type', { ...body, events: [{ ...click, type: 'clik' }] }, '/events/0/type', 'wrong_type'],
    ['what it is not of', { ...body, events: [{ type: 'click' }] }, '/events/0', 'missing_field'],
    [
      'two entities',
      { ...body, events: [{ ...click, brand: { brand_id: 'b' } }] },
      '/events/0/brand',
      'too_many',
    ],
    [
      'an id that is no whole number',
      { ...body, events: [{ type: 'click', product: { product_id: 1.5 } }] },
      '/events/0/product/product_id',
      'invalid_id',
    ],
    [
      'an attribute of another type',
      { ...body, events: [{ type: 'click', product: { product_id: 'p', price: 'low' } }] },
      '/events/0/product/price',
      'wrong_type',
    ],
    [
      'two spellings that differ',
      { ...body, events: [{ type: 'click', product: { product_id: 'p', brand: 'a', brand_id: 'b' } }] },
      '/events/0/product/brand_id',
      'conflicting_reference',
    ],
    ['no time', { ...body, events: [{ ...click, time: 'soon' }] }, '/events/0/time', 'wrong_type'],
    [
      'a time that is to come',
      { ...body, events: [{ ...click, time: NOW + 301_000 }] },
      '/events/0/time',
      'in_the_future',
    ],
    [
      'a time in seconds',
      { ...body, events: [{ ...click, time: NOW / 1000 }] },
      '/events/0/time',
      'too_long_ago',
    ],
    ['no item', { ...body, events: [{ ...click, quantity: 0 }] }, '/events/0/quantity', 'out_of_range'],
    [
      'half a position',
      { ...body, events: [{ ...click, position: 1.5 }] },
      '/events/0/position',
      'out_of_range',
    ],
    ['a misspelt field', { ...body, events: [{ ...click, tme: NOW }] }, '/events/0/tme', 'unknown_field'],
  ];

  it('refuses what is wrong with its place, and then counts nothing of the body', () =>
    serve(async (send, url) => {
      for (const [what, sent, pointer, code] of wrong) {
        const { status, json } = await send(sent);
        expect(status, what).to.equal(422);
        const errors = json?.['errors'] as readonly { pointer: string; code: string }[];
        expect(
          errors.map((one) => [one.pointer, one.code]),
          what,
        ).to.deep.equal([[pointer, code]]);
      }
      const ranking = { user: body.user, candidates: [{ product_id: 'p1', brand: 'b' }] };
      const { json } = await post(`${url}/api/v1/ranking`, ranking);
      expect(json).to.deep.equal({ ranked_candidates: [{ candidate_id: 'p1', ranked_score: 0 }] });
    }));

  it('tells all that is wrong at once, with the nearest names', () =>
    serve(async (send) => {
      const { json } = await send({ request_id: '', usr: null, events: [{ type: 'clik', product: {} }] });
      const errors = json?.['errors'] as readonly { detail: string }[];
      expect(errors).to.have.length(4);
      expect(errors.map(({ detail }) => detail).join('\n'))
        .to.contain('did you mean "user"?')
        .and.contain('"click"');
    }));

  it('counts from the next ranking on, on what the index or the body says', () =>
    serve(async (send, url) => {
      const product = { product_id: 'p1', brand: 'b' };
      await post(`${url}/api/v1/entities/upload`, { entity_type: 'product', entities: [product] });
      const events = [
        click,
        { type: 'click', product: { product_id: 'p2', brand: 'b' }, time: NOW + 60_000 },
      ];
      const { status, json } = await send({ ...body, events });
      expect([status, json]).to.deep.equal([
        200,
        { request_id: 'r1', stored: 2, duplicates: 0, too_old: 0, unused: 0, uncounted: 0 },
      ]);
      const ranking = { user: body.user, candidates: [{ product_id: 'p1' }] };
      const ranked = await post(`${url}/api/v1/ranking`, ranking);
      expect(ranked.json).to.deep.equal({ ranked_candidates: [{ candidate_id: 'p1', ranked_score: 2 }] });
    }));

  it('takes whole numbers as ids: a number and its decimal text are one', () =>
    serve(async (send, url) => {
      const events = [
        { type: 'click', product: { product_id: 7, brand: 3 } },
        { type: 'click', product: { product_id: '7', brand: '3' } },
        { type: 'click', product: { product_id: 8, brand_id: '3' } },
      ];
      const { status, json } = await send({ request_id: 1, user: { user_id: 5 }, events });
      expect([status, json]).to.deep.equal([
        200,
        { request_id: '1', stored: 2, duplicates: 1, too_old: 0, unused: 0, uncounted: 0 },
      ]);
      const ranking = { user: { user_id: '5' }, candidates: [{ product_id: 9, brand: 3 }] };
      const ranked = await post(`${url}/api/v1/ranking`, ranking);
      expect(ranked.json).to.deep.equal({ ranked_candidates: [{ candidate_id: '9', ranked_score: 2 }] });
    }));

  it('shows in the metrics what became of the events, by kind', () =>
    serve(async (send, url) => {
      await send({
        ...body,
        events: [click, click, { ...click, time: NOW - 400 * 86_400_000 }, { ...click, type: 'impression' }],
      });
      await send({ ...body, events: [{ ...click, type: 'order', time: NOW - 8 * 86_400_000 }] });
      const { text } = await call(`${url}/metrics`);
      const lines = text.split('\n').filter((line) => line.startsWith('millrace_feedback_events_total'));
      expect(lines).to.have.members([
        'millrace_feedback_events_total{type="click",outcome="stored"} 1',
        'millrace_feedback_events_total{type="click",outcome="duplicate"} 2',
        'millrace_feedback_events_total{type="impression",outcome="unused"} 1',
        'millrace_feedback_events_total{type="order",outcome="too_old"} 1',
      ]);
    }));

  it('takes other methods for mistakes', async () => {
    const app = await start();
    try {
      expect((await call(`${app.url}/api/v1/feedback`)).status).to.equal(405);
    } finally {
      await app.close();
    }
  });
});
