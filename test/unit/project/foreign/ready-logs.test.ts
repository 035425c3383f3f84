import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { JsonObject } from '../../../../runtime/ground/api/types.js';
import { READY_MAPS, type ReadyMap } from '../../../../runtime/project/config/project/ready-maps.js';
import type { ForeignEvent } from '../../../../runtime/project/foreign/foreign-event.js';
import { guessSource } from '../../../../runtime/learn/dataset/import/guess.js';
import { readyReader } from '../../../../runtime/project/foreign/ready-logs.js';
import { enrichedRow } from '../../../../runtime/project/foreign/snowplow.js';
import { repositoryPath } from '../../../support/repository.js';

const TIME = '2026-11-20T10:00:00.000Z';
const AT = Date.parse(TIME);

function read(map: ReadyMap, ...rows: readonly JsonObject[]): { events: ForeignEvent[]; rejects: string[] } {
  const events: ForeignEvent[] = [];
  const rejects: string[] = [];
  const reader = readyReader(map, 'product');
  for (const row of rows)
    reader.read(row, {
      event: (event) => events.push(event),
      reject: (reason, detail) => rejects.push(`${reason}: ${detail}`),
    });
  return { events, rejects };
}

describe('calls of Segment', () => {
  const call = (event: string, properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    ...{ type: 'track', messageId: `m-${event}`, event, anonymousId: 'anon', timestamp: TIME },
    ...{ properties, ...more },
  });

  it('become a list that was shown, clicks, carts and orders', () => {
    const { events, rejects } = read(
      'segment',
      call('Product List Viewed', {
        list_id: 'hot',
        products: [
          { product_id: 'a', position: 0, price: 5 },
          { product_id: 'b', position: 1 },
        ],
      }),
      call('Product Clicked', { product_id: 'b', position: 2 }, { userId: 'u1' }),
      call('Product Added', { product_id: 7, quantity: 2 }),
      call('order completed', { products: [{ product_id: 'b', price: '4.5', quantity: 3 }, { id: 'c' }] }),
      call('Product Viewed', { product_id: 'b' }),
      { type: 'identify', messageId: 'm9', userId: 'u1' },
    );
    expect(rejects).to.deep.equal([]);
    const act = { is: 'feedback', time: AT, request: undefined, owners: { user: 'anon' } };
    expect(events).to.deep.equal([
      {
        ...{ is: 'ranking', request: 'm-Product List Viewed', time: AT, owners: { user: 'anon' } },
        sent: { item_list: 'hot' },
        candidates: [
          { id: 'a', position: 1, carried: { price: 5 }, acts: [] },
          { id: 'b', position: 2, carried: {}, acts: [] },
        ],
      },
      {
        ...{ ...act, id: 'm-Product Clicked', event: 'click', owners: { user: 'u1' }, candidate: 'b' },
        ...{ position: 2, quantity: 1, values: {} },
      },
      {
        ...{ ...act, id: 'm-Product Added', event: 'cart', candidate: '7' },
        ...{ position: undefined, quantity: 2, values: {} },
      },
      {
        ...{ ...act, id: 'm-order completed', event: 'order', candidate: 'b' },
        ...{ position: undefined, quantity: 3, values: { revenue: 13.5 } },
      },
      {
        ...{ ...act, id: 'm-order completed', event: 'order', candidate: 'c' },
        ...{ position: undefined, quantity: 1, values: {} },
      },
    ]);
  });

  it('are rejected if they cannot be read', () => {
    const { events, rejects } = read(
      'segment',
      {},
      call('Product Clicked', {}),
      call('Product Clicked', { product_id: 'a' }, { timestamp: 'soon' }),
      call('Order Completed', { products: 'a' }),
      call('Product List Viewed', { product_id: 'a' }),
    );
    expect(events).to.deep.equal([]);
    expect(rejects).to.deep.equal([
      'unknown_event: type is null',
      'no_id: product_id is missing',
      'bad_time: timestamp: "soon" is not a time',
      'no_id: product_id is missing',
      'no_candidates: the event has no products',
    ]);
  });
});

const ECOMMERCE = 'com.snowplowanalytics.snowplow.ecommerce';

describe('events of Snowplow', () => {
  const flat = (type: string, products: readonly JsonObject[]): JsonObject => ({
    ...{ event_id: `e-${type}`, collector_tstamp: '2026-11-20 10:00:01.000', derived_tstamp: TIME },
    ...{ user_id: null, domain_userid: 'd1' },
    unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1: {
      type,
      name: 'results',
    },
    contexts_com_snowplowanalytics_snowplow_ecommerce_product_1: products,
  });

  it('become a list that was shown, clicks, carts and orders', () => {
    const { events, rejects } = read(
      'snowplow',
      flat('list_view', [
        { id: 'a', position: 1 },
        { id: 'b', position: 2, price: 3 },
      ]),
      flat('list_click', [{ id: 'b', position: 2 }]),
      flat('transaction', [{ id: 'b', price: 3, quantity: 2 }]),
      flat('product_view', [{ id: 'b' }]),
      { event_id: 'x', collector_tstamp: TIME, event_name: 'page_view' },
    );
    expect(rejects).to.deep.equal([]);
    expect(
      events.map((event) => (event.is === 'feedback' ? [event.event, event.candidate] : [event.is])),
    ).to.deep.equal([['ranking'], ['click', 'b'], ['order', 'b']]);
    expect(events[0]).to.deep.include({ owners: { user: 'd1' }, sent: { item_list: 'results' }, time: AT });
    expect(events[2]).to.deep.include({ id: 'e-transaction', quantity: 2, values: { revenue: 6 } });
  });

  it('can hold events of Metarank', () => {
    const { events } = read('snowplow', {
      ...{ event_id: 'e', collector_tstamp: TIME },
      unstruct_event_ai_metarank_interaction_1: {
        ...{ event: 'interaction', id: 'i1', item: 'a', user: 'u', type: 'click', timestamp: String(AT) },
      },
    });
    expect(events).to.have.length(1);
    expect(events[0]).to.deep.include({ id: 'i1', event: 'click', candidate: 'a', time: AT });
  });

  it('can be lines of the enriched stream', () => {
    const cells = Array.from({ length: 131 }, () => '');
    const described = (schema: string, data: unknown): object => ({ schema: `iglu:${schema}`, data });
    [cells[3], cells[6], cells[12], cells[124]] = [
      '2026-11-20 10:00:01.000',
      'e1',
      'u1',
      '2026-11-20 10:00:00.000',
    ];
    cells[52] = JSON.stringify(
      described('com.snowplowanalytics.snowplow/contexts/jsonschema/1-0-0', [
        described(`${ECOMMERCE}/product/jsonschema/1-0-0`, { id: 'a', quantity: 2 }),
        described(`${ECOMMERCE}/product/jsonschema/1-0-0`, { id: 'b' }),
      ]),
    );
    cells[58] = JSON.stringify(
      described(
        'com.snowplowanalytics.snowplow/unstruct_event/jsonschema/1-0-0',
        described(`${ECOMMERCE}/snowplow_ecommerce_action/jsonschema/1-0-2`, { type: 'add_to_cart' }),
      ),
    );
    const row = enrichedRow(`${cells.join('\t')}\n`) ?? expect.fail('no row');
    const { events, rejects } = read('snowplow', row);
    expect(rejects).to.deep.equal([]);
    const act = { event: 'cart', id: 'e1', time: AT, owners: { user: 'u1' } };
    expect(events).to.have.length(2);
    expect(events[0]).to.deep.include({ ...act, candidate: 'a', quantity: 2 });
    expect(events[1]).to.deep.include({ ...act, candidate: 'b', quantity: 1 });
    expect(enrichedRow('a\tb')).to.equal(undefined);
  });
});

describe('logs that are known', () => {
  it('are guessed from their rows', () => {
    const rows = [{ type: 'track', messageId: 'm', event: 'x', anonymousId: 'a' }];
    const target = {
      candidateType: 'product',
      known: { fields: new Set<string>(), carried: new Set<string>() },
    };
    expect(guessSource({ file: 'log.jsonl', rows }, target).sources).to.deep.equal([
      { files: ['log.jsonl'], map: 'segment' },
    ]);
  });

  it('are those of the schema of imports', () => {
    const text = readFileSync(repositoryPath('schemas/import-map.schema.json'), 'utf8');
    expect(text).to.include(`"enum": [${READY_MAPS.map((map) => `"${map}"`).join(', ')}]`);
  });
});
