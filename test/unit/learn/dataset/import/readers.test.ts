import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../../../../runtime/ground/api/types.js';
import { entityReader } from '../../../../../runtime/project/foreign/entity-reader.js';
import {
  REJECT_REASONS,
  type ForeignEvent,
  type RowReader,
} from '../../../../../runtime/project/foreign/foreign-event.js';
import { feedbackReader } from '../../../../../runtime/project/foreign/feedback-reader.js';
import { ga4Reader } from '../../../../../runtime/project/foreign/ga4.js';
import type { RankingSource } from '../../../../../runtime/project/foreign/mapping.js';
import { metarankReader } from '../../../../../runtime/project/foreign/metarank.js';
import { rankingReader } from '../../../../../runtime/learn/dataset/import/ranking-reader.js';
import { foreignTime } from '../../../../../runtime/project/foreign/read-values.js';
import { rowShaper } from '../../../../../runtime/project/foreign/row-shape.js';

const TIME = Date.UTC(2026, 0, 31, 9, 30);

interface Read {
  readonly events: ForeignEvent[];
  readonly rejects: string[];
}

function read(reader: RowReader, ...rows: readonly JsonObject[]): Read {
  const events: ForeignEvent[] = [];
  const rejects: string[] = [];
  const output = {
    event: (event: ForeignEvent) => events.push(event),
    reject: (reason: string, detail: string) => rejects.push(`${reason}: ${detail}`),
  };
  for (const row of rows) reader.read(row, output);
  reader.end?.(output);
  return { events, rejects };
}

const shown = (more: Partial<RankingSource> = {}): RowReader =>
  rankingReader(
    {
      files: ['log.csv'],
      into: 'rankings',
      map: { request: 'req', time: 'ts', user: 'uid', product: 'item', position: 'pos' },
      feedback: { click: 'clicked' },
      ...more,
    },
    'product',
    1,
  );
const row = (more: JsonObject = {}): JsonObject => ({
  req: 'r1',
  ts: '2026-01-31T09:30:00Z',
  uid: 'u1',
  item: 'p1',
  pos: '2',
  ...more,
});

describe('rows of foreign logs', () => {
  it('become impressions, with ids as text and positions from 1', () => {
    const { events, rejects } = read(
      shown({ send: { device: 'dev' }, carry: { price: 'price' }, positions_from: 0 }),
      row({ item: 7, pos: 0, dev: 'phone', price: '9.5', clicked: '1' }),
    );
    expect(rejects).to.deep.equal([]);
    expect(events).to.deep.equal([
      {
        is: 'impression',
        request: 'r1',
        time: TIME,
        owners: { user: 'u1' },
        sent: { device: 'phone' },
        candidate: {
          id: '7',
          position: 1,
          carried: { price: '9.5' },
          acts: [{ event: 'click', time: TIME, quantity: 1 }],
        },
      },
    ]);
  });

  it('join several columns to the id of a request, so that different values give different ids', () => {
    const reader = shown({ map: { request: ['a', 'b'], time: 'ts', product: 'item' } });
    const { events } = read(
      reader,
      row({ a: 'x', b: 'y|z' }),
      row({ a: 'x|y', b: 'z' }),
      row({ a: 'x', b: 'y|z' }),
    );
    const [one, two, three] = events.map((event) => (event.is === 'impression' ? event.request : ''));
    expect(one).to.equal(three);
    expect(one).not.to.equal(two);
  });

  it('read flags as yes or no, a quantity, or a time', () => {
    const acts = (clicked: JsonObject[string]): unknown => {
      const { events, rejects } = read(shown(), row({ clicked }));
      const [event] = events;
      return event?.is === 'impression' ? event.candidate.acts : rejects;
    };
    const click = { event: 'click', time: TIME, quantity: 1 };
    for (const yes of [true, 1, '1', 'true', 'Yes', '1.0']) expect(acts(yes)).to.deep.equal([click]);
    for (const no of [false, 0, '0', 'no', 'NaN', '', null]) expect(acts(no)).to.deep.equal([]);
    expect(acts(3)).to.deep.equal([{ ...click, quantity: 3 }]);
    expect(acts('2026-01-31 09:31:00')).to.deep.equal([{ ...click, time: TIME + 60_000 }]);
    expect(acts(TIME / 1000 + 60)).to.deep.equal([{ ...click, time: TIME + 60_000 }]);
    expect(acts('perhaps')).to.deep.equal([
      'bad_flag: clicked: "perhaps" is not yes or no, a number or a time',
    ]);
  });

  it('read lists of objects, lists of ids, and lists in a cell', () => {
    const lists = (items: JsonObject[string], product: string): unknown => {
      const reader = shown({
        map: { request: 'req', time: 'ts', items: 'list', product },
        feedback: { click: 'clicks' },
      });
      const { events } = read(reader, row({ list: items, clicks: ['b'] }));
      const [event] = events;
      return event?.is === 'ranking'
        ? event.candidates.map(({ id, position, acts }) => [id, position, acts.length])
        : undefined;
    };
    const expected = [
      ['a', 1, 0],
      ['b', 2, 1],
    ];
    expect(lists([{ id: 'a' }, { id: 'b' }], 'id')).to.deep.equal(expected);
    expect(lists(['a', 'b'], '.')).to.deep.equal(expected);
    expect(lists('["a","b"]', '.')).to.deep.equal(expected);
    expect(lists('a|b', '.')).to.deep.equal(expected);
    expect(lists('a b', '.')).to.deep.equal(expected);
  });

  it('are pooled into lists without a repeated id, and clicks count as of the time of the list', () => {
    const reader = shown({ map: { time: 'ts', product: 'item', position: 'pos' }, pool: 2 });
    const { events } = read(
      reader,
      row({ item: 'a', pos: 1 }),
      row({ item: 'a', pos: 3 }),
      row({ item: 'b', pos: 1, ts: '2026-01-31T09:40:00Z', clicked: 1 }),
      row({ item: 'c', pos: 2 }),
    );
    const lists = events.map((event) => (event.is === 'ranking' ? event : undefined));
    expect(lists.map((list) => list?.candidates.map(({ id }) => id))).to.deep.equal([
      ['a', 'b'],
      ['a', 'c'],
    ]);
    expect(lists[0]?.candidates[1]?.acts).to.deep.equal([{ event: 'click', time: TIME, quantity: 1 }]);
    expect(lists[0]?.pooled).to.equal(true);
  });

  it('without a time count as a second later than the row before', () => {
    const { events } = read(shown({ map: { request: 'req', product: 'item' } }), row(), row());
    const [one, two] = events.map((event) => (event.is === 'impression' ? event.time : NaN));
    expect((two ?? 0) - (one ?? 0)).to.equal(1000);
  });

  it('become feedback of the kind that their type names', () => {
    const reader = feedbackReader(
      {
        files: ['acts.jsonl'],
        into: 'feedback',
        map: { request: 'req', time: 'ts', user: 'uid', product: 'item', type: 'kind', quantity: 'n' },
        event: { bought: 'order', opened: null },
        values: { revenue: 'sum' },
      },
      'product',
    );
    const { events, rejects } = read(
      reader,
      row({ kind: 'bought', n: 2, sum: 19.5 }),
      row({ kind: 'opened' }),
      row({ kind: 'bought', req: '' }),
      row({ kind: 'sneezed' }),
    );
    expect(rejects).to.deep.equal(['unknown_event: kind is "sneezed"']);
    expect(
      events.map((event) =>
        event.is === 'feedback' ? [event.event, event.request, event.quantity, event.values] : [],
      ),
    ).to.deep.equal([
      ['order', 'r1', 2, { revenue: 19.5 }],
      ['order', undefined, 1, {}],
    ]);
  });

  it('become entities', () => {
    const reader = entityReader({ files: ['items.csv'], into: 'entities', map: { product: 'item' } });
    const [event] = read(reader, { item: 'p1', price: '2' }).events;
    expect(event).to.deep.equal({
      is: 'entity',
      type: 'product',
      id: 'p1',
      time: NaN,
      values: { price: '2' },
    });
  });

  it('become entities whose attributes have names of Millrace, those of nested objects too', () => {
    const reader = entityReader({ files: ['items.csv'], into: 'entities', map: { product: 'itemId' } });
    const [event] = read(reader, {
      itemId: 'p1',
      unitPrice: '2',
      'Stock Level': '7',
      size: { width: 3 },
      a__b: '1',
    }).events;
    expect(event).to.deep.include({
      values: { unit_price: '2', stock_level: '7', size: { width: 3 }, size_width: 3, a__b: '1' },
    });
  });

  it('hold positions that were clicked, of a list in numbered columns', () => {
    const source: RankingSource = {
      files: ['wide.csv'],
      into: 'rankings',
      map: { request: 'req', time: 'ts', items: 'places', product: 'item_id' },
      positions_from: 0,
      feedback_at: { click: 'clicked_index' },
      carry: { price: 'price' },
      places: ['item_id', 'price'],
      decimal_comma: ['price_10'],
    };
    const reader = rankingReader(source, 'product', 1);
    const wide = {
      req: 'r1',
      ts: '2026-01-31T09:30:00Z',
      item_10_id: 'c',
      price_10: '1.234,5',
      item_2_id: '',
    };
    const shape = rowShaper(source);
    const { events, rejects } = read(
      reader,
      shape({ ...wide, item_1_id: 'a', clicked_index: '2' }),
      shape({ ...wide, item_1_id: 'a', clicked_index: 'NaN' }),
      shape({ ...wide, item_1_id: 'a', clicked_index: 'first' }),
      shape({ req: 'r2', ts: wide.ts, item_1_id: '' }),
    );
    expect(rejects).to.deep.equal([
      'bad_flag: clicked_index: "first" is not a position',
      'no_candidates: places is empty',
    ]);
    expect(events.map((event) => (event.is === 'ranking' ? event.candidates : []))).to.deep.equal([
      [
        { id: 'a', position: 1, carried: {}, acts: [] },
        {
          id: 'c',
          position: 3,
          carried: { price: '1234.5' },
          acts: [{ event: 'click', time: TIME, quantity: 1 }],
        },
      ],
      [
        { id: 'a', position: 1, carried: {}, acts: [] },
        { id: 'c', position: 3, carried: { price: '1234.5' }, acts: [] },
      ],
    ]);
  });

  it('become feedback of each item of a list', () => {
    const reader = feedbackReader(
      {
        files: ['orders.jsonl'],
        into: 'feedback',
        map: { time: 'ts', user: 'uid', items: 'lines', product: 'sku', quantity: 'qty' },
        event: 'order',
      },
      'product',
    );
    const { events, rejects } = read(
      reader,
      { ts: '2026-01-31T09:30:00Z', uid: 'u1', lines: [{ sku: 'a', qty: 2 }, { sku: 'b' }, { qty: 1 }] },
      { ts: '2026-01-31T09:30:00Z', uid: 'u1' },
    );
    expect(
      events.map((event) => (event.is === 'feedback' ? [event.candidate, event.quantity] : [])),
    ).to.deep.equal([
      ['a', 2],
      ['b', 1],
    ]);
    expect(rejects).to.deep.equal(['no_id: sku is missing', 'no_candidates: lines is not a list']);
  });

  const refused: readonly (readonly [RowReader, JsonObject, string])[] = [
    [shown(), row({ item: '' }), 'no_id: item is missing'],
    [shown(), row({ req: null }), 'no_id: req is missing'],
    [shown(), row({ item: { id: 1 } }), 'bad_id: item: an id is a text or a whole number up to 2^53 - 1'],
    [shown(), row({ uid: 1.5 }), 'bad_id: uid: an id is a text or a whole number up to 2^53 - 1'],
    [shown(), row({ ts: '' }), 'no_time: ts is missing'],
    [shown(), row({ ts: 'yesterday' }), 'bad_time: ts: "yesterday" is not a time'],
    [shown(), row({ pos: 0 }), 'bad_position: pos: 0 is not a whole number from 1'],
    [shown(), row({ pos: 'top' }), 'bad_position: pos: "top" is not a whole number from 1'],
    [
      shown({ map: { request: 'req', time: 'ts', items: 'list', product: '.' } }),
      row(),
      'no_candidates: list is not a list',
    ],
    [
      shown({ map: { request: 'req', time: 'ts', items: 'list', product: '.' } }),
      row({ list: [] }),
      'no_candidates: list is empty',
    ],
    [metarankReader('product'), { event: 'ping' }, 'unknown_event: event is "ping"'],
    [
      metarankReader('product'),
      { event: 'ranking', id: 'r', timestamp: '1' },
      'no_candidates: items is not a list',
    ],
    [ga4Reader(), {}, 'unknown_event: event_name is null'],
  ];
  for (const [reader, bad, reason] of refused)
    it(`are rejected: ${reason}`, () => {
      expect(read(reader, bad)).to.deep.equal({ events: [], rejects: [reason] });
    });
});

describe('times of foreign logs', () => {
  it('are read in the unit that their size tells', () => {
    for (const value of [
      TIME,
      String(TIME),
      TIME / 1000,
      TIME * 1000,
      `${TIME * 1000}`,
      '2026-01-31T09:30:00Z',
      '2026-01-31 09:30:00 UTC',
      '2026-01-31 09:30:00.000000+00:00',
    ])
      expect(foreignTime(value), String(value)).to.equal(TIME);
    for (const value of ['', 'soon', -5, null, true, '31/01/2026']) expect(foreignTime(value)).to.be.NaN;
  });
});

describe('events of Metarank', () => {
  it('become entities, rankings and feedback', () => {
    const { events, rejects } = read(
      metarankReader('product'),
      {
        event: 'item',
        id: 'e1',
        timestamp: '1599391467000',
        item: 'item1',
        fields: [
          { name: 'title', value: 'You favourite cat' },
          { name: 'color', value: ['white', 'black'] },
        ],
      },
      {
        event: 'ranking',
        id: 'r1',
        timestamp: '1599391467000',
        user: 'user1',
        session: 'session1',
        fields: [{ name: 'query', value: 'cat' }],
        items: [{ id: 'item3', relevancy: 2 }, { id: 'item1' }],
      },
      {
        event: 'interaction',
        id: 'e3',
        ranking: 'r1',
        timestamp: '1599391468000',
        user: 'user1',
        type: 'purchase',
        item: 'item1',
        fields: [
          { name: 'count', value: 2 },
          { name: 'shipping', value: 'DHL' },
        ],
      },
      {
        event: 'user',
        id: 'e4',
        user: 'user1',
        timestamp: 1599391467000,
        fields: [{ name: 'age', value: 33 }],
      },
    );
    expect(rejects).to.deep.equal([]);
    expect(events).to.deep.equal([
      {
        is: 'entity',
        type: 'product',
        id: 'item1',
        time: 1599391467000,
        values: { title: 'You favourite cat', color: ['white', 'black'] },
      },
      {
        is: 'ranking',
        request: 'r1',
        time: 1599391467000,
        owners: { user: 'user1' },
        sent: { query: 'cat' },
        candidates: [
          { id: 'item3', position: 1, score: 2, carried: { relevancy: 2 }, acts: [] },
          { id: 'item1', position: 2, carried: {}, acts: [] },
        ],
      },
      {
        is: 'feedback',
        id: 'e3',
        event: 'order',
        time: 1599391468000,
        request: 'r1',
        owners: { user: 'user1' },
        candidate: 'item1',
        position: undefined,
        quantity: 2,
        values: { shipping: 'DHL' },
      },
      { is: 'entity', type: 'user', id: 'user1', time: 1599391467000, values: { age: 33 } },
    ]);
  });
});

describe('rows of the export of Google Analytics 4', () => {
  const event = (name: string, more: JsonObject = {}): JsonObject => ({
    event_name: name,
    event_timestamp: '1599391467000000',
    user_pseudo_id: 'u.1',
    event_params: [
      { key: 'ga_session_id', value: { int_value: '77' } },
      { key: 'search_term', value: { string_value: 'cat' } },
    ],
    ...more,
  });

  it('become rankings and feedback, and other events are not used', () => {
    const { events, rejects } = read(
      ga4Reader(),
      event('page_view'),
      event('view_item_list', {
        device: { category: 'mobile' },
        items: [
          { item_id: 'A', item_list_index: '0', item_list_id: 'search', price: 9.5 },
          { item_id: 'B', item_list_index: '1', item_list_id: 'search' },
        ],
      }),
      event('select_item', { items: [{ item_id: 'B' }] }),
      event('purchase', { items: [{ item_id: 'B', quantity: 3, item_revenue: 28.5 }] }),
    );
    expect(rejects).to.deep.equal([]);
    const act = {
      is: 'feedback',
      time: 1599391467000,
      request: undefined,
      owners: { user: 'u.1' },
      candidate: 'B',
      position: undefined,
    };
    expect(events).to.deep.equal([
      {
        is: 'ranking',
        request: 'u.1.77.search.1599391467000000',
        time: 1599391467000,
        owners: { user: 'u.1' },
        sent: { query: 'cat', item_list: 'search', device: 'mobile' },
        candidates: [
          { id: 'A', position: 1, carried: { price: 9.5 }, acts: [] },
          { id: 'B', position: 2, carried: {}, acts: [] },
        ],
      },
      { ...act, id: 'click.1599391467000000.u.1', event: 'click', quantity: 1, values: {} },
      { ...act, id: 'order.1599391467000000.u.1', event: 'order', quantity: 3, values: { revenue: 28.5 } },
    ]);
  });
});

describe('any row', () => {
  const readers = (): readonly RowReader[] => [
    metarankReader('product'),
    ga4Reader(),
    shown({ carry: { x: 'a.b' }, send: { y: 'c' } }),
    shown({ map: { request: ['a', 'b'], time: 'ts', items: 'items', product: 'id' } }),
    shown({ map: { product: 'item' }, pool: 3 }),
    feedbackReader(
      {
        files: [],
        into: 'feedback',
        map: { product: 'item', type: 'type', time: 'timestamp' },
        event: { a: 'b' },
      },
      'product',
    ),
    entityReader({ files: [], into: 'entities', map: { product: 'id' } }),
  ];
  const names = [
    'event',
    'id',
    'item',
    'items',
    'timestamp',
    'ts',
    'user',
    'uid',
    'req',
    'pos',
    'clicked',
    'fields',
    'event_name',
    'event_timestamp',
    'event_params',
    'ranking',
    'type',
    'a',
    'b',
    '__proto__',
    'name',
    'value',
    'key',
  ];
  const words = fc.constantFrom(
    'item',
    'ranking',
    'interaction',
    'view_item_list',
    'select_item',
    'purchase',
    '1',
    '2026-01-31',
    '',
  );
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      words,
      fc.string(),
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 8 }),
    ),
  })).value;

  it('is read or rejected with a known reason, and never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.constantFrom(...names), value), { maxLength: 6 }), (rows) => {
        for (const reader of readers()) {
          const { events, rejects } = read(reader, ...(rows as JsonObject[]));
          for (const reject of rejects)
            expect(REJECT_REASONS).to.have.property(reject.split(':', 1)[0] ?? '');
          for (const event of events) {
            expect(JSON.parse(JSON.stringify(event))).to.be.an('object');
            if (event.is !== 'entity') expect(event.time).to.satisfy(Number.isFinite);
          }
        }
      }),
      { numRuns: 400 },
    );
  });
});
