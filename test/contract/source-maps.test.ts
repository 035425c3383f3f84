import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import type { SourceMessage } from '../../runtime/ground/api/source.js';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { targetOf } from '../../runtime/serve/app/project/sources.js';
import type { ReadyMap } from '../../runtime/project/config/project/ready-maps.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { intakeOf } from '../../runtime/serve/sources/intake-of.js';
import type { Totals } from '../../runtime/serve/sources/intake.js';
import { Pace } from '../../runtime/serve/sources/pace.js';
import { writeProject } from '../support/project.js';

const FILES = {
  'millrace.yaml': 'events: { impression: {}, click: {}, cart: {}, order: { revenue: float } }\n',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'schemas/counters/live.yaml':
    'counter: live\nof: [product]\nfeatures: { carts: { event: cart, window: 7d } }\n',
  'pipelines/all.yaml': `pipeline: all
rank: product
request: { user: user }
features: [live]
components:
  - use: interaction
    as: history
    with:
      of: user
      with: product
      outputs:
        shown: { event: impression, window: 7d }
        clicks: { event: click, window: 7d }
        carts: { event: cart, window: 7d }
        orders: { event: order, window: 7d }
  - use: score
    with: { value: 'history:shown + history:clicks + history:carts + history:orders + live:carts' }
`,
};

const now = Date.now();
const ago = (ms: number): string => new Date(now - ms).toISOString();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What becomes of one message. */
interface Becomes {
  readonly totals: Totals;
  readonly reason?: string | RegExp;
  readonly skipped?: string;
}
type Case = readonly [title: string, message: object | string, becomes: Becomes];

const stored = (count: number): Becomes => ({ totals: { stored: count } });
const rejected = (reason: string | RegExp): Becomes => ({ totals: { rejected: 1 }, reason });
const skipped = (kind: string): Becomes => ({ totals: { skipped: 1 }, skipped: kind });

/** Calls as the pages "Spec: Common fields" and "Spec: V2 ecommerce events" of Segment show them. */
const track = (event: string, properties: unknown, more: object = {}): object => ({
  ...{ anonymousId: '507f191e810c19729de860ea', channel: 'browser', event, integrations: { All: true } },
  context: { ip: '8.8.8.8', userAgent: 'Mozilla/5.0', library: { name: 'analytics.js', version: '2.11.1' } },
  ...{
    messageId: `022bb90c-${event}-${JSON.stringify(more)}`,
    properties,
    receivedAt: ago(1),
    sentAt: ago(3),
  },
  ...{ timestamp: ago(2), type: 'track', userId: '97980cfea0067', version: 2, ...more },
});
const PRODUCT = {
  ...{
    product_id: '507f1f77bcf86cd799439011',
    sku: 'G-32',
    category: 'Games',
    name: 'Monopoly: 3rd Edition',
  },
  ...{ brand: 'Hasbro', variant: '200 pieces', price: 18.99, quantity: 1, coupon: 'MAYDEALS', position: 3 },
};
const SEGMENT: readonly Case[] = [
  ['a click', track('Product Clicked', PRODUCT), stored(1)],
  [
    'a list',
    track('Product List Viewed', { list_id: 'hot', products: [PRODUCT, { ...PRODUCT, product_id: 'b' }] }),
    stored(2),
  ],
  [
    'a product that is listed twice',
    track('Product List Viewed', { products: [PRODUCT, PRODUCT] }, { messageId: 'twice' }),
    stored(2),
  ],
  [
    'an order',
    track('Order Completed', {
      order_id: '5',
      revenue: 25,
      products: [PRODUCT, { product_id: 7, quantity: '2' }],
    }),
    stored(2),
  ],
  ['a cart', track('Product Added', PRODUCT), stored(1)],
  [
    'a call without a user',
    track('Product Clicked', PRODUCT, { userId: null, anonymousId: null }),
    { totals: { unused: 1 } },
  ],
  [
    'a cart without a user, which counts for its product',
    track('Product Added', PRODUCT, { userId: null, anonymousId: null }),
    stored(1),
  ],
  ['an anonymous call', track('Product Clicked', PRODUCT, { userId: null }), stored(1)],
  ['an id that is a number', track('Product Clicked', { product_id: 42 }), stored(1)],
  ['other calls', { type: 'identify', messageId: 'i', userId: 'u', traits: {} }, skipped('identify')],
  ['other events', track('Checkout Started', { products: [PRODUCT] }), skipped('Checkout Started')],
  ['a late click', track('Product Clicked', PRODUCT, { timestamp: ago(DAY) }), stored(1)],
  [
    'a click that is older than any window',
    track('Product Clicked', PRODUCT, { timestamp: ago(8 * DAY) }),
    { totals: { too_old: 1 } },
  ],
  [
    'a cart that is too old for counters',
    track('Product Added', PRODUCT, { timestamp: ago(HOUR) }),
    { totals: { stored: 1, uncounted: 1 } },
  ],
  [
    'a clock that is ahead',
    track('Product Clicked', PRODUCT, { timestamp: ago(-HOUR) }),
    rejected(/^time: expected a time at most/),
  ],
  ['no message id', track('Product Clicked', PRODUCT, { messageId: null }), stored(1)],
  ['no time', track('Product Clicked', PRODUCT, { timestamp: null, sentAt: null }), stored(1)],
  [
    'a product without id',
    track('Product Clicked', { sku: 'G-32' }),
    rejected('no_id: product_id is missing'),
  ],
  [
    'an order with one product without id',
    track('Order Completed', { products: [PRODUCT, { sku: 'x' }] }),
    rejected('no_id: product_id is missing'),
  ],
  [
    'products that are none',
    track('Order Completed', { products: [null, 'x'] }),
    rejected('no_id: product_id is missing'),
  ],
  ['an empty list', track('Product List Viewed', { products: [] }), skipped('a list without products')],
  ['properties that are none', track('Product Clicked', 'x'), rejected('no_id: product_id is missing')],
  ['a nested id', track('Product Clicked', { product_id: { id: 'a' } }), rejected(/^bad_id: product_id/)],
  [
    'a batch whose call came before',
    { batch: [track('Product Clicked', PRODUCT)] },
    { totals: { duplicates: 1 } },
  ],
  ['a list of calls', '[{"type":"track"}]', rejected('unknown_event: event is null')],
];

/** Rows as "BigQuery Export schema" of Google Analytics shows them; its JSON has 64-bit numbers as texts. */
const row = (event_name: string, items: unknown, more: object = {}): object => ({
  ...{ event_date: '20261122', event_timestamp: String((now - 5000) * 1000), event_name, items },
  event_params: [
    {
      key: 'ga_session_id',
      value: { string_value: null, int_value: '17', float_value: null, double_value: null },
    },
  ],
  ...{
    user_pseudo_id: '1234.5678',
    user_id: null,
    event_bundle_sequence_id: '11',
    stream_id: '3',
    platform: 'WEB',
    ...more,
  },
});
const ITEM = {
  ...{
    item_id: 'SKU_12345',
    item_name: 'Stan and Friends Tee',
    item_brand: '(not set)',
    price: 10.01,
    quantity: '3',
  },
  ...{
    item_revenue: '30.03',
    item_list_id: 'related_products',
    item_list_name: 'Related',
    item_list_index: '0',
  },
};
const GA4: readonly Case[] = [
  ['a list', row('view_item_list', [ITEM, { ...ITEM, item_id: 'b', item_list_index: '1' }]), stored(2)],
  ['a click', row('select_item', [ITEM]), stored(1)],
  ['a cart', row('add_to_cart', [ITEM]), stored(1)],
  ['a purchase of two items', row('purchase', [ITEM, { ...ITEM, item_id: 'b' }]), stored(2)],
  ['the same click of another user', row('select_item', [ITEM], { user_pseudo_id: '9.9' }), stored(1)],
  ['the same click again', row('select_item', [ITEM]), { totals: { duplicates: 1 } }],
  [
    'a click of the same time, with another place in the batch',
    row('select_item', [ITEM], { batch_event_index: '2' }),
    stored(1),
  ],
  ['a user who signed in', row('select_item', [ITEM], { user_pseudo_id: null, user_id: 'u9' }), stored(1)],
  ['other events', row('session_start', []), skipped('session_start')],
  [
    'an item without id',
    row('select_item', [{ ...ITEM, item_id: '(not set)' }]),
    rejected('no_id: items.item_id is missing'),
  ],
  [
    'one of two items without id',
    row('purchase', [ITEM, { item_name: 'x' }]),
    rejected('no_id: items.item_id is missing'),
  ],
  ['no items', row('purchase', []), rejected('no_candidates: items is empty or not a list')],
  ['no time', row('purchase', [ITEM], { event_timestamp: null }), stored(1)],
  [
    'an old purchase',
    row('purchase', [ITEM], { event_timestamp: (now - 9 * DAY) * 1000 }),
    { totals: { too_old: 1 } },
  ],
  ['no name', row('', [ITEM]), rejected('unknown_event: event_name is ""')],
];

const ACTION = 'unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1';
const PRODUCTS = 'contexts_com_snowplowanalytics_snowplow_ecommerce_product_1';
/** Enriched events as the analytics SDKs write them, with the e-commerce plugin of "Ecommerce tracking". */
const enriched = (type: string, products: unknown, more: object = {}): object => ({
  ...{ app_id: 'shop', platform: 'web', event: 'unstruct', event_name: 'snowplow_ecommerce_action' },
  ...{
    event_id: `c6ef3124-${type}`,
    collector_tstamp: ago(1),
    derived_tstamp: ago(2).replace('T', ' ').replace('Z', ''),
  },
  ...{
    domain_userid: 'bc2e92ec6c204a14',
    user_id: null,
    [ACTION]: { type, name: 'search results' },
    [PRODUCTS]: products,
    ...more,
  },
});
const TEE = {
  id: '12345',
  name: 'Baseball T',
  category: 'apparel',
  price: 200,
  currency: 'EUR',
  quantity: 2,
  position: 1,
};
const SNOWPLOW: readonly Case[] = [
  ['a list', enriched('list_view', [TEE, { ...TEE, id: 'b', position: 2 }]), stored(2)],
  ['a click', enriched('list_click', [TEE]), stored(1)],
  ['a cart', enriched('add_to_cart', [TEE]), stored(1)],
  ['an order of two products', enriched('transaction', [TEE, { ...TEE, id: 'b' }]), stored(2)],
  ['other actions', enriched('checkout_step', [TEE]), skipped('checkout_step')],
  [
    'other events',
    { event_id: 'p', collector_tstamp: ago(1), event: 'page_view', event_name: 'page_view' },
    skipped('page_view'),
  ],
  ['a product without id', enriched('list_click', [{ name: 'x' }]), rejected('no_id: product.id is missing')],
  ['no products', enriched('transaction', null), rejected('no_candidates: the event has no products')],
  ['no event id', enriched('list_click', [TEE], { event_id: null }), rejected(/^unknown_event: event_id/)],
  [
    'an old order',
    enriched('transaction', [TEE], { event_id: 'old', derived_tstamp: '2020-01-01 00:00:00.000' }),
    { totals: { too_old: 1 } },
  ],
  [
    'a line that is cut',
    'shop\tweb\t2026-11-22',
    rejected('neither JSON nor a line of enriched events with 131 columns'),
  ],
];

/** Events of the page "Supported events" of Metarank. */
const metarank = (event: string, more: object): object => ({
  ...{
    event,
    id: `81f46c34-${JSON.stringify(more)}`,
    timestamp: String(now - 1000),
    user: 'user1',
    session: 'session1',
    ...more,
  },
});
const METARANK: readonly Case[] = [
  [
    'a ranking',
    metarank('ranking', {
      fields: [{ name: 'query', value: 'jedi' }],
      items: [{ id: 'item3', relevancy: 2 }, { id: 'item1' }],
    }),
    stored(2),
  ],
  ['a click', metarank('interaction', { item: 'item1', type: 'click', ranking: '81f46c34' }), stored(1)],
  ['a purchase without a ranking', metarank('interaction', { item: 'item1', type: 'purchase' }), stored(1)],
  [
    'a session without a user',
    metarank('interaction', { item: 'item1', type: 'click', user: null }),
    stored(1),
  ],
  [
    'a type that the project does not declare',
    metarank('interaction', { item: 'item1', type: 'like' }),
    skipped('like'),
  ],
  [
    'an item',
    metarank('item', { item: 'item1', fields: [{ name: 'price', value: 10 }] }),
    skipped('entity product'),
  ],
  ['no item', metarank('interaction', { type: 'click' }), rejected('no_id: item is missing')],
  ['no type', metarank('interaction', { item: 'item1' }), rejected('unknown_event: type is null')],
  ['an empty ranking', metarank('ranking', { items: [] }), rejected('no_candidates: items is empty')],
  [
    'an item of a ranking without id',
    metarank('ranking', { items: [{ id: 'a' }, { relevancy: 1 }] }),
    rejected('no_id: items.id is missing'),
  ],
  [
    'a time that is none',
    metarank('interaction', { item: 'a', type: 'click', timestamp: 'today' }),
    rejected(/^bad_time/),
  ],
  [
    'an old click',
    metarank('interaction', { item: 'a', type: 'click', timestamp: 1599391467000 }),
    { totals: { too_old: 1 } },
  ],
  ['an item of version 0.4', metarank('metadata', { item: 'a' }), skipped('entity product')],
  ['other events', metarank('view', { item: 'a' }), rejected('unknown_event: event is "view"')],
];

describe('the events of other systems in a source', () => {
  let root = '';
  let data = '';
  let app: App;

  before(async () => {
    root = await writeProject(FILES);
    data = await mkdtemp(join(tmpdir(), 'millrace-maps-'));
    const settings = loadSettings({ MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: data }, { project: root });
    app = await createApp(settings, { logger: pino({ level: 'silent' }) });
  });
  after(async () => {
    await app.close();
    for (const folder of [root, data]) await rm(folder, { recursive: true, force: true });
  });

  const CASES: Readonly<Record<ReadyMap, readonly Case[]>> = {
    segment: SEGMENT,
    ga4: GA4,
    snowplow: SNOWPLOW,
    metarank: METARANK,
  };
  for (const [map, cases] of Object.entries(CASES))
    describe(map, () => {
      for (const [i, [title, content, becomes]] of cases.entries())
        it(`${title}: ${becomes.skipped === undefined ? JSON.stringify(becomes.totals) : 'skipped'}`, async () => {
          const intake = intakeOf(
            {
              ...{ into: { kind: 'feedback', name: undefined }, map, about: 'product' },
              ...{ event: undefined, values: undefined, where: undefined, positionsFrom: undefined },
            } as never,
            app.config,
            targetOf(app),
          );
          const text = typeof content === 'string' ? content : JSON.stringify(content);
          const message: SourceMessage = {
            ...{ partition: map, id: String(i), time: now, headers: {}, content: Buffer.from(text) },
          };
          const found = await intake.store([message], new Pace());
          expect(found.totals).to.deep.equal(becomes.totals);
          expect(found.skipped).to.deep.equal(becomes.skipped === undefined ? [] : [becomes.skipped]);
          const [refused] = found.rejected;
          if (becomes.reason instanceof RegExp) expect(refused?.reason).to.match(becomes.reason);
          else expect(refused?.reason).to.equal(becomes.reason);
        });
    });
});
