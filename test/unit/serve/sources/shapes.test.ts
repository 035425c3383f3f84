/** What becomes of the messages that other systems write: typical ones, the smallest, and odd ones. */
import { expect } from 'chai';
import type { SourceMessage } from '../../../../runtime/ground/api/source.js';
import type { JsonObject, JsonValue } from '../../../../runtime/ground/api/types.js';
import type { ReadyMap } from '../../../../runtime/project/config/project/ready-maps.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { checkFeedback, type CheckedFeedback } from '../../../../runtime/serve/feedback/check-feedback.js';
import { FeedbackIntake } from '../../../../runtime/serve/sources/feedback-intake.js';
import type { Stored } from '../../../../runtime/serve/sources/intake.js';
import { Pace } from '../../../../runtime/serve/sources/pace.js';
import { RowIntake } from '../../../../runtime/serve/sources/row-intake.js';
import { entityType } from '../../../support/entity-types.js';

const NOW = Date.UTC(2026, 10, 20, 10);
const MICROS = NOW * 1000;
const ISO = new Date(NOW).toISOString();
/** Messages are added later than what they tell. */
const ADDED = NOW + 7000;

const ENTITIES = new Map(['product', 'user'].map((name) => [name, entityType(name)]));
const EVENTS = new Map(
  ['impression', 'click', 'cart', 'order'].map((name) => [
    name,
    { name, values: new Map(name === 'order' ? [['revenue', { kind: 'float' as const }]] : []) },
  ]),
);
const PROJECT = { entities: ENTITIES, events: EVENTS };

const messageOf = (content: unknown, id = '7'): SourceMessage => ({
  ...{ partition: '0', id, time: ADDED, headers: {} },
  content: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
});

interface Found extends Stored {
  readonly bodies: readonly CheckedFeedback[];
}

async function read(
  map: ReadyMap | JsonObject,
  messages: readonly SourceMessage[],
  positionsFrom: 0 | 1 = 1,
): Promise<Found> {
  const bodies: CheckedFeedback[] = [];
  const intake = new FeedbackIntake(
    {
      ...{ into: { kind: 'feedback', name: undefined }, map, about: 'product' },
      ...{ event: undefined, values: {}, where: undefined, positionsFrom },
    } as never,
    PROJECT,
    {
      feedback: (body: JsonObject) => {
        const checked = atOnce(checkFeedback(body, { entities: ENTITIES, kinds: EVENTS }, ADDED, 0));
        bodies.push(checked);
        return Promise.resolve({
          stored: checked.events.length,
          duplicates: 0,
          too_old: 0,
          unused: 0,
          uncounted: 0,
        });
      },
    },
  );
  return { ...(await intake.store(messages, new Pace())), bodies };
}

/** `u1 click a ×2 =39.5 @3 +5s`: user, kind, item, quantity, revenue, position, seconds after NOW. */
function linesOf({ bodies }: Found): string[] {
  return bodies.flatMap(({ owners, events }) =>
    events.map(({ kind, subject, quantity, position, time, values }) =>
      [
        ...[owners.map(({ id }) => id).join('+') || 'nobody', kind.name, subject.id],
        ...(quantity === 1 ? [] : [`×${quantity}`]),
        ...[...values.values()].map((value) => `=${JSON.stringify(value)}`),
        ...(position === undefined ? [] : [`@${position}`]),
        ...(time === NOW ? [] : [`+${(time - NOW) / 1000}s`]),
      ].join(' '),
    ),
  );
}

function identities({ bodies }: Found): string[] {
  return bodies.flatMap(({ requestId, owners, events }) =>
    events.map(({ id, kind, subject }) =>
      JSON.stringify([id ?? requestId, kind.name, subject.id, id === undefined ? owners : []]),
    ),
  );
}

type Expected = readonly string[] | { readonly reason: string } | { readonly skipped: readonly string[] };
type Case = readonly [title: string, content: unknown, expected: Expected];

const payload = (events: JsonValue, more: object = {}): object => ({
  ...{ client_id: '3141.5926', timestamp_micros: MICROS, non_personalized_ads: false },
  ...{ events, ...more },
});
const act = (name: string, items: unknown, more: object = {}): JsonObject => ({
  name,
  params: { currency: 'EUR', session_id: '77', engagement_time_msec: 100, items, ...more } as JsonObject,
});
const TEE = { item_id: 'tee', item_name: 'Tee', price: 12.5, quantity: 2, index: 1 };

const PAYLOADS: readonly Case[] = [
  [
    'a purchase of two items beside a page view',
    payload([act('page_view', []), act('purchase', [TEE, { item_id: 'cap', price: '4' }])]),
    ['3141.5926 order tee ×2 =25 @1', '3141.5926 order cap =4'],
  ],
  [
    'a list that was shown, with positions from 0',
    payload([
      act('view_item_list', [
        { item_id: 'a', index: 0 },
        { item_id: 'b', index: 1 },
      ]),
    ]),
    ['3141.5926 impression a @1', '3141.5926 impression b @2'],
  ],
  [
    'the smallest click',
    { client_id: 'c', events: [{ name: 'select_item', params: { items: [{ item_id: 'a' }] } }] },
    ['c click a +7s'],
  ],
  [
    'items beside the params',
    payload([{ name: 'add_to_cart', items: [{ item_id: 'a' }] }]),
    ['3141.5926 cart a'],
  ],
  [
    'an app',
    { app_instance_id: 'app', events: [act('add_to_cart', [{ item_id: 'a' }])] },
    ['app cart a +7s'],
  ],
  [
    'a time of the event, as text',
    payload([{ ...act('select_item', [{ item_id: 'a' }]), timestamp_micros: String(MICROS + 2e6) }]),
    ['3141.5926 click a +2s'],
  ],
  [
    'a null time of the event',
    payload([{ ...act('select_item', [TEE]), timestamp_micros: null }]),
    ['3141.5926 click tee ×2 @1'],
  ],
  [
    'a user who signed in',
    payload([act('select_item', [{ item_id: 'a' }])], { user_id: 'u1' }),
    ['u1 click a'],
  ],
  [
    'a null user',
    payload([act('select_item', [{ item_id: 'a' }])], { user_id: null }),
    ['3141.5926 click a'],
  ],
  ['nobody', payload([act('select_item', [{ item_id: 'a' }])], { client_id: null }), ['nobody click a']],
  [
    'one item on two lines',
    payload([act('purchase', [{ item_id: 'a' }, { item_id: 'a' }])]),
    ['3141.5926 order a', '3141.5926 order a'],
  ],
  [
    'the same act twice',
    payload([act('select_item', [{ item_id: 'a' }]), act('select_item', [{ item_id: 'a' }])]),
    ['3141.5926 click a', '3141.5926 click a'],
  ],
  [
    'ids and prices as texts and numbers',
    payload([act('purchase', [{ item_id: 9, price: 'x', quantity: '3' }])]),
    ['3141.5926 order 9 ×3'],
  ],
  ['no event', payload([]), { skipped: ['an empty events'] }],
  ['other events', payload([act('page_view', null)]), { skipped: ['page_view'] }],
  [
    'an item without an id',
    payload([act('page_view', null), act('purchase', [TEE, { item_name: 'x' }])]),
    { reason: 'no_id: events[1]: items.item_id is missing' },
  ],
  [
    'items that are none',
    payload([act('purchase', 'tee')]),
    { reason: 'no_candidates: events[0]: the event has no products' },
  ],
  [
    'an event that is a text',
    payload(['purchase']),
    { reason: 'unreadable: events[0]: expected an object, found "purchase"' },
  ],
  [
    'an event without a name',
    payload([{ params: {} }]),
    { reason: 'unknown_event: events[0]: name is null' },
  ],
  [
    'a time that is none',
    payload([act('select_item', [TEE])], { timestamp_micros: 'now' }),
    { reason: 'bad_time: events[0]: timestamp_micros: "now" is not a time' },
  ],
];

const exported = (name: string, items: unknown, more: object = {}): JsonObject =>
  ({
    ...{ event_name: name, event_timestamp: String(MICROS), user_pseudo_id: '1.2', user_id: null, items },
    ...more,
  }) as JsonObject;
const EXPORT: readonly Case[] = [
  [
    'rows of two users in a list',
    [
      exported('select_item', [{ item_id: 'a' }]),
      exported('select_item', [{ item_id: 'a' }], { user_pseudo_id: '9.9' }),
    ],
    ['1.2 click a', '9.9 click a'],
  ],
  ['a user who signed in', exported('select_item', [{ item_id: 'a' }], { user_id: 'u1' }), ['u1 click a']],
  ['no time', exported('add_to_cart', [{ item_id: 'a' }], { event_timestamp: null }), ['1.2 cart a +7s']],
  [
    'lines of JSON',
    [exported('select_item', [{ item_id: 'a' }]), exported('purchase', [{ item_id: 'b', item_revenue: '3' }])]
      .map((one) => JSON.stringify(one))
      .join('\n'),
    ['1.2 click a', '1.2 order b =3'],
  ],
  [
    'one of two rows that is wrong',
    [exported('select_item', [{ item_id: 'a' }]), exported('select_item', [])],
    { reason: 'no_candidates: [1]: items is empty or not a list' },
  ],
  ['a list with a number', [1], { reason: '[0]: expected a JSON object, found a number' }],
];

const call = (event: string, properties: unknown, more: object = {}): JsonObject =>
  ({
    ...{ type: 'track', messageId: `m-${event}`, event, userId: 'u1', anonymousId: 'x1', timestamp: ISO },
    ...{ properties, ...more },
  }) as JsonObject;
const SEGMENT: readonly Case[] = [
  [
    'a batch of two users and other calls',
    {
      batch: [
        { type: 'identify', userId: 'u1', traits: {} },
        call('Product Clicked', { product_id: 'a', position: 2 }),
        call('Product Clicked', { product_id: 'a' }, { userId: 'u2', messageId: 'm2' }),
        call('Product Added', { product_id: 'a', quantity: '2' }),
      ],
      ...{ context: {}, sentAt: ISO, writeKey: 'k' },
    },
    ['u1 click a @2', 'u1 cart a ×2', 'u2 click a'],
  ],
  [
    'a list of calls',
    [call('Product Clicked', { product_id: 'a' }), call('Product Added', { product_id: 'b' })],
    ['u1 click a', 'u1 cart b'],
  ],
  [
    'the smallest batch',
    {
      batch: [
        { type: 'track', event: 'Product Clicked', anonymousId: 'x1', properties: { product_id: 'a' } },
      ],
    },
    ['x1 click a +7s'],
  ],
  [
    'the time of the batch',
    {
      batch: [call('Product Clicked', { product_id: 'a' }, { timestamp: null })],
      sentAt: new Date(NOW + 3000).toISOString(),
    },
    ['u1 click a +3s'],
  ],
  ['version 1: a cart', call('Added Product', { id: 'a', sku: 's', price: 3, quantity: 1 }), ['u1 cart a']],
  [
    'version 1: an order',
    call('Completed Order', {
      orderId: 7,
      total: 30,
      products: [{ id: 'a', price: '3', quantity: 2 }, { productId: 'b' }],
    }),
    ['u1 order a ×2 =6', 'u1 order b'],
  ],
  [
    'one product on two lines of an order',
    call('Order Completed', { products: [{ product_id: 'a' }, { product_id: 'a' }] }),
    ['u1 order a', 'u1 order a'],
  ],
  [
    'two calls that nobody named',
    {
      batch: [
        call('Product Clicked', { product_id: 'a' }, { messageId: null }),
        call('Product Clicked', { product_id: 'a' }, { messageId: null }),
      ],
    },
    ['u1 click a', 'u1 click a'],
  ],
  [
    'nobody',
    call('Product Clicked', { product_id: 'a' }, { userId: null, anonymousId: null }),
    ['nobody click a'],
  ],
  ['an empty batch', { batch: [], sentAt: ISO }, { skipped: ['an empty batch'] }],
  [
    'a wrong call in a batch',
    { batch: [call('Product Clicked', { product_id: 'a' }), call('Product Clicked', {})] },
    { reason: 'no_id: batch[1]: product_id is missing' },
  ],
  [
    'a call that is null',
    { batch: [null] },
    { reason: 'unreadable: batch[0]: expected an object, found null' },
  ],
  [
    'a user that is a list',
    call('Product Clicked', { product_id: 'a' }, { userId: ['u'] }),
    { reason: 'bad_id: userId: an id is a text or a whole number up to 2^53 - 1' },
  ],
];

const iglu = (name: string, data: unknown): object => ({ schema: `iglu:${name}/jsonschema/1-0-0`, data });
const VENDOR = 'com.snowplowanalytics.snowplow';
const ACTION = iglu(
  `${VENDOR}/unstruct_event`,
  iglu(`${VENDOR}.ecommerce/snowplow_ecommerce_action`, { type: 'add_to_cart' }),
);
const CONTEXTS = iglu(`${VENDOR}/contexts`, [
  iglu(`${VENDOR}.ecommerce/product`, { id: 'a', quantity: 2 }),
  iglu(`${VENDOR}/web_page`, { id: 'page' }),
  iglu(`${VENDOR}.ecommerce/product`, { id: 'b' }),
]);
const enriched = (more: object): JsonObject => ({
  event_id: 'e1',
  collector_tstamp: ISO,
  event: 'unstruct',
  user_id: 'u1',
  domain_userid: 'd1',
  ...more,
});
const positioned = (type: string, position: number): JsonObject =>
  enriched({
    unstruct_event: iglu(
      `${VENDOR}/unstruct_event`,
      iglu(`${VENDOR}.ecommerce/snowplow_ecommerce_action`, { type }),
    ),
    contexts: iglu(`${VENDOR}/contexts`, [iglu(`${VENDOR}.ecommerce/product`, { id: 'a', position })]),
  });
const SNOWPLOW: readonly Case[] = [
  [
    'self-describing parts as objects',
    enriched({ unstruct_event: ACTION, contexts: CONTEXTS }),
    ['u1 cart a ×2', 'u1 cart b'],
  ],
  [
    'self-describing parts as JSON texts',
    enriched({ unstruct_event: JSON.stringify(ACTION), contexts: JSON.stringify(CONTEXTS) }),
    ['u1 cart a ×2', 'u1 cart b'],
  ],
  [
    'keys of the SDKs with JSON texts',
    enriched({
      unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1:
        '{"type":"list_click"}',
      contexts_com_snowplowanalytics_snowplow_ecommerce_product_1: '[{"id":"a","position":"4"}]',
    }),
    ['u1 click a @4'],
  ],
  [
    'a line of an older order',
    enriched({ event: 'transaction_item', ti_orderid: '9', ti_sku: 'a', ti_price: '2.5', ti_quantity: '2' }),
    ['u1 order a ×2 =5'],
  ],
  [
    'the head of an older order',
    enriched({ event: 'transaction', tr_orderid: '9', tr_total: '5' }),
    { skipped: ['transaction'] },
  ],
  [
    'an older cart',
    enriched({
      unstruct_event: iglu(
        `${VENDOR}/unstruct_event`,
        iglu(`${VENDOR}/add_to_cart`, { sku: 'a', unitPrice: 2, quantity: 3 }),
      ),
    }),
    ['u1 cart a ×3'],
  ],
  [
    'the smallest event, by nobody',
    { event_id: 'e', collector_tstamp: null, event_name: 'transaction_item', ti_sku: 'a' },
    ['nobody order a +7s'],
  ],
  [
    'events of two users',
    [
      enriched({ event: 'transaction_item', ti_sku: 'a' }),
      enriched({ event: 'transaction_item', ti_sku: 'a', event_id: 'e2', user_id: null }),
    ],
    ['u1 order a', 'd1 order a'],
  ],
  [
    'contexts that are cut',
    enriched({ unstruct_event: ACTION, contexts: '{"schema":' }),
    { reason: 'no_candidates: the event has no products' },
  ],
  [
    'an event that is cut',
    enriched({ unstruct_event: '{"schema":', contexts: CONTEXTS }),
    { skipped: ['unstruct'] },
  ],
  [
    'a line without a product',
    enriched({ event: 'transaction_item', ti_sku: null }),
    { reason: 'no_id: ti_sku is missing' },
  ],
];

const metarank = (event: string, more: object): JsonObject => ({
  event,
  id: 'i1',
  timestamp: String(NOW),
  user: 'u1',
  session: 's1',
  ...more,
});
const METARANK: readonly Case[] = [
  [
    'an interaction with its ranking',
    metarank('interaction', { item: 'a', type: 'click', ranking: 'r1' }),
    ['u1 click a'],
  ],
  [
    'an interaction of version 0.4',
    metarank('interaction', {
      item: 'a',
      type: 'purchase',
      impression: 'r1',
      tenant: 'default',
      fields: [
        { name: 'count', value: 2 },
        { name: 'revenue', value: 9 },
      ],
    }),
    ['u1 order a ×2 =9'],
  ],
  [
    'a list of events of two users',
    [
      metarank('ranking', { id: 'r1', items: [{ id: 'a', relevancy: 1 }, { id: 'b' }] }),
      metarank('interaction', { item: 'b', type: 'click', ranking: 'r1' }),
      metarank('interaction', { id: 'i2', item: 'b', type: 'click', user: 'u2' }),
    ],
    ['u1 impression a @1', 'u1 impression b @2', 'u1 click b', 'u2 click b'],
  ],
  [
    'lines of JSON',
    `${JSON.stringify(metarank('interaction', { item: 'a', type: 'click' }))}\n${JSON.stringify(metarank('interaction', { id: 'i2', item: 'a', type: 'click' }))}\n`,
    ['u1 click a', 'u1 click a'],
  ],
  ['the smallest interaction', { event: 'interaction', item: 'a', type: 'click' }, ['nobody click a +7s']],
  [
    'a time in ISO 8601',
    metarank('interaction', { item: 'a', type: 'click', timestamp: ISO, user: null }),
    ['s1 click a'],
  ],
  [
    'a count that is a text',
    metarank('interaction', { item: 'a', type: 'cart', fields: [{ name: 'quantity', value: '3' }] }),
    ['u1 cart a ×3'],
  ],
  [
    'fields that are none',
    metarank('interaction', { item: 'a', type: 'click', fields: null }),
    ['u1 click a'],
  ],
  [
    'an interaction without an item',
    metarank('interaction', { type: 'click' }),
    { reason: 'no_id: item is missing' },
  ],
  [
    'a ranking without items',
    metarank('ranking', { items: null }),
    { reason: 'no_candidates: items is not a list' },
  ],
  [
    'an item of version 0.4',
    metarank('metadata', { item: 'a', fields: [] }),
    { skipped: ['entity product'] },
  ],
];

const SHAPES: readonly (readonly [string, ReadyMap, readonly Case[]])[] = [
  ['payloads of Google Analytics 4', 'ga4', PAYLOADS],
  ['rows of Google Analytics 4', 'ga4', EXPORT],
  ['calls of Segment', 'segment', SEGMENT],
  ['events of Snowplow', 'snowplow', SNOWPLOW],
  ['events of Metarank', 'metarank', METARANK],
];

for (const [title, map, cases] of SHAPES)
  describe(`${title} in a source`, () => {
    for (const [name, content, expected] of cases)
      it(name, async () => {
        const found = await read(map, [messageOf(content)]);
        const reasons = found.rejected.map(({ reason }) => reason);
        if ('reason' in expected) expect(reasons).to.deep.equal([expected.reason]);
        else if ('skipped' in expected) {
          expect(found.totals).to.deep.equal({ skipped: 1 });
          expect(found.skipped).to.deep.equal(expected.skipped);
        } else {
          expect(reasons).to.deep.equal([]);
          expect(linesOf(found)).to.deep.equal(expected);
          const first = identities(found);
          expect(new Set(first).size, 'each event counts').to.equal(first.length);
          const again = await read(map, [messageOf(content)]);
          expect(identities(again), 'a second delivery').to.deep.equal(first);
        }
      });
  });

describe('events that came together', () => {
  it('have the ids that they have alone, if the log names them', async () => {
    const calls = [
      call('Product Clicked', { product_id: 'a' }),
      call('Product Clicked', { product_id: 'a' }, { messageId: 'm2' }),
    ];
    const together = identities(await read('segment', [messageOf({ batch: calls })]));
    const alone = identities(
      await read(
        'segment',
        calls.map((one, i) => messageOf(one, String(i))),
      ),
    );
    expect(together).to.deep.equal(alone);
  });

  it('count once if a batch has the same call twice', async () => {
    const one = call('Product Clicked', { product_id: 'a' });
    expect(new Set(identities(await read('segment', [messageOf({ batch: [one, one] })]))).size).to.equal(1);
  });

  it('keep their users apart, beside other messages of these users', async () => {
    const click = (userId: string, item: string): JsonObject =>
      call('Product Clicked', { product_id: item }, { userId, messageId: `${userId} ${item}` });
    const { bodies } = await read('segment', [
      messageOf({ batch: [click('u1', 'a'), click('u2', 'b'), click('u1', 'c')] }, '1'),
      messageOf(click('u2', 'd'), '2'),
    ]);
    const items = new Map<string, string[]>();
    for (const { owners, events } of bodies) {
      const id = owners[0]?.id ?? '';
      items.set(id, [...(items.get(id) ?? []), ...events.map(({ subject }) => subject.id)]);
    }
    expect(Object.fromEntries(items)).to.deep.equal({ u1: ['a', 'c'], u2: ['b', 'd'] });
  });

  it('are sent in bodies of at most 1,000', async () => {
    const batch = Array.from({ length: 2001 }, (_, i) =>
      call('Product Clicked', { product_id: `p${i}` }, { messageId: `m${i}` }),
    );
    const { bodies, totals } = await read('segment', [messageOf({ batch })]);
    expect(bodies.map(({ events }) => events.length)).to.deep.equal([1000, 1000, 1]);
    expect(totals).to.deep.equal({ stored: 2001 });
  });

  it('can be a list for a map of columns, and are known by their places', async () => {
    const map = { type: 'kind', user: 'uid', product: 'item' };
    const rows = [
      { kind: 'click', uid: 'u1', item: 'a' },
      { kind: 'click', uid: 'u2', item: 'a' },
      { kind: 'click', item: 'a' },
    ];
    const found = await read(map, [messageOf(rows)]);
    expect(linesOf(found)).to.deep.equal(['u1 click a +7s', 'u2 click a +7s', 'nobody click a +7s']);
    expect(new Set(identities(found)).size).to.equal(3);
    expect((await read(map, [messageOf([])])).totals).to.deep.equal({ skipped: 1 });
  });

  it('are skipped if they tell of a list without products, and do not spoil their batch', async () => {
    const click = call('Product Clicked', { product_id: 'a' });
    const empty = call('Product List Viewed', { list_id: 'l', products: [] });
    const found = await read('segment', [messageOf({ batch: [empty, click] }), messageOf(empty, '8')]);
    expect(linesOf(found)).to.deep.equal(['u1 click a']);
    expect(found.rejected).to.deep.equal([]);
    expect([found.totals, found.skipped]).to.deep.equal([
      { stored: 1, skipped: 1 },
      ['a list without products'],
    ]);
    const lists = [exported('view_item_list', []), payload([act('view_item_list', [])])];
    expect(
      (
        await read(
          'ga4',
          lists.map((one) => messageOf(one)),
        )
      ).totals,
    ).to.deep.equal({ skipped: 2 });
  });

  it('are rejected if they nest too deep, in JSON and in texts of JSON, and do not block the others', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const put = (text: string): string => text.replace('"DEEP"', deep);
    const click = call('Product Clicked', { product_id: 'a' });
    const texts = [
      put(JSON.stringify({ ...click, timestamp: 'DEEP' })),
      put(JSON.stringify([{ ...click, event: 'DEEP' }])),
      `${put(JSON.stringify({ ...click, type: 'DEEP' }))}\n${JSON.stringify(click)}`,
      JSON.stringify(click),
    ];
    const found = await read(
      'segment',
      texts.map((text, i) => messageOf(text, String(i))),
    );
    expect(linesOf(found)).to.deep.equal(['u1 click a']);
    expect(found.rejected.map(({ reason }) => reason)).to.deep.equal(
      Array.from({ length: 3 }, () => 'lists and objects nest deeper than 100 levels'),
    );
    const native = new FeedbackIntake(
      { into: { kind: 'feedback', name: undefined }, map: undefined, about: 'product' } as never,
      PROJECT,
      { feedback: () => expect.fail('sent') },
    );
    const body = messageOf(put('{"user":{"user_id":"DEEP"},"events":[]}'));
    expect((await native.store([body], new Pace())).totals).to.deep.equal({ rejected: 1 });
    const cell = enriched({ unstruct_event: deep, contexts: deep, event_name: 'page_view' });
    expect((await read('snowplow', [messageOf(cell)])).skipped).to.deep.equal(['page_view']);
  });

  it('have positions from 0, if the source says so', async () => {
    const lists: Readonly<Record<string, unknown>> = {
      segment: {
        batch: [
          call('Product List Viewed', { products: [{ product_id: 'a', position: 24 }] }),
          call('Product Clicked', { product_id: 'a', position: 0 }),
          call('Clicked Product', { product_id: 'a', position: 24 }),
        ],
      },
      ga4: [
        exported('view_item_list', [{ item_id: 'a', item_list_index: '24' }]),
        exported('select_item', [{ item_id: 'a', item_list_index: '0' }]),
        payload([act('select_item', [{ item_id: 'a', index: 24 }])], { client_id: '1.2' }),
      ],
      snowplow: [
        positioned('list_view', 24),
        positioned('list_click', 0),
        { ...positioned('list_click', 24), event_id: 'e2' },
      ],
    };
    for (const [map, content] of Object.entries(lists)) {
      const positions = async (from: 0 | 1): Promise<unknown> =>
        (await read(map as ReadyMap, [messageOf(content)], from)).bodies.flatMap(({ events }) =>
          events.map(({ kind, position }) => [kind.name, position]),
        );
      expect(await positions(0), map).to.deep.equal([
        ['impression', 25],
        ['click', 1],
        ['click', 25],
      ]);
      expect(await positions(1), map).to.deep.equal([
        ['impression', 24],
        ['click', undefined],
        ['click', 24],
      ]);
    }
  });

  it('tell what is left out beside what is stored', async () => {
    const { skipped } = await read('ga4', [
      messageOf(payload([act('page_view', null), act('select_item', [{ item_id: 'a' }])])),
    ]);
    expect(skipped).to.deep.equal(['page_view']);
  });
});

describe('entities that came together', () => {
  it('are stored in their order', async () => {
    const stored: string[] = [];
    const intake = new RowIntake(
      { into: { kind: 'entities', name: 'product' }, map: 'metarank', about: 'product' } as never,
      PROJECT,
      {
        push: () => expect.fail('pushed'),
        update: () => expect.fail('updated'),
        upload: (_type, rows) => {
          stored.push(...rows.map(({ value }) => JSON.stringify(value.product_id)));
          return Promise.resolve();
        },
      },
    );
    const items = [
      metarank('item', { item: 'a' }),
      metarank('metadata', { item: 'b' }),
      metarank('item', { item: 'a' }),
    ];
    const found = await intake.store([messageOf(items)], new Pace());
    expect(stored).to.deep.equal(['"a"', '"b"', '"a"']);
    expect(found.totals).to.deep.equal({ stored: 3 });
    const wrong = await intake.store([messageOf([items[0], { event: 'item' }])], new Pace());
    expect(wrong.rejected.map(({ reason }) => reason)).to.deep.equal(['no_id: [1]: item is missing']);
  });
});
