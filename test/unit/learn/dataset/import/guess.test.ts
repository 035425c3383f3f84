import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../../../../runtime/ground/api/types.js';
import type { FileGuess } from '../../../../../runtime/learn/dataset/import/file-guess.js';
import { guessSource } from '../../../../../runtime/learn/dataset/import/guess.js';
import { draws } from '../../../../support/draws.js';

const TARGET = { candidateType: 'product' };

function guess(file: string, rows: readonly JsonObject[]): FileGuess {
  return guessSource({ file, rows }, TARGET);
}

/** Rows of lists of three, one row a candidate. */
const impressions = (of: (list: number, place: number) => JsonObject): JsonObject[] =>
  Array.from({ length: 300 }, (_, at) => of(Math.floor(at / 3), (at % 3) + 1));

describe('the guess of a mapping', () => {
  it('finds items, impressions and clicks in files of their own', () => {
    expect(
      guess('items.csv', [
        { sku: 'a', price: '1' },
        { sku: 'b', price: '2' },
      ]).sources,
    ).to.deep.equal([{ files: ['items.csv'], into: 'entities', map: { product: 'sku' } }]);
    const shown = impressions((list, place) => ({
      searchId: `s${list}`,
      ts: String(1_700_000_000 + list),
      visitorId: `u${list % 9}`,
      'Product ID': `p${(list * 7 + place) % 50}`,
      rank: String(place - 1),
      device: list % 2 === 0 ? 'phone' : 'desktop',
      price: String(place + list),
    }));
    expect(guess('shown.csv', shown).sources).to.deep.equal([
      {
        files: ['shown.csv'],
        into: 'rankings',
        map: { request: 'searchId', time: 'ts', user: 'visitorId', product: 'Product ID', position: 'rank' },
        positions_from: 0,
        send: { device: 'device' },
        carry: { price: 'price' },
      },
    ]);
    const clicks = [{ searchId: 's1', ts: '1700000003', visitorId: 'u1', 'Product ID': 'p8' }];
    expect(guess('clicks.csv', clicks).sources).to.deep.equal([
      {
        files: ['clicks.csv'],
        into: 'feedback',
        map: { request: 'searchId', time: 'ts', user: 'visitorId', product: 'Product ID' },
        event: 'click',
      },
    ]);
  });

  it('knows other words for an id, a number and a time', () => {
    const shown = impressions((list, place) => ({
      searchUUID: `s${list}`,
      servedAt: 1_700_000_000 + list,
      visitorRef: `u${list % 9}`,
      articleNumber: `a${(list * 7 + place) % 50}`,
      slotNo: place,
    }));
    expect(guess('serve_log.csv', shown).sources[0]?.map).to.deep.equal({
      request: 'searchUUID',
      time: 'servedAt',
      user: 'visitorRef',
      product: 'articleNumber',
      position: 'slotNo',
    });
    const taps = [{ searchUUID: 's1', tappedAt: 1_700_000_003, article: { articleNumber: 'a8' } }];
    expect(guess('taps.jsonl', taps).sources).to.deep.equal([
      {
        files: ['taps.jsonl'],
        into: 'feedback',
        map: { request: 'searchUUID', time: 'tappedAt', product: 'article.articleNumber' },
        event: 'click',
      },
    ]);
  });

  it('is not changed by a few cells that do not fit', () => {
    const rows = impressions((list, place) => ({
      request_id: `r${list}`,
      time: 1_700_000_000 + list,
      item_id: `p${(list * 7 + place) % 50}`,
      position: place,
      click: list % 2,
    }));
    const whole = guess('log.csv', rows);
    const [first] = rows;
    const broken = [
      ...rows,
      { ...first, time: 'yesterday', position: 'top', click: 'maybe' },
      { ...first, time: 'NULL' },
    ];
    expect(guess('log.csv', broken)).to.deep.equal(whole);
  });

  it('keeps a column whose few values are in rows with a click by chance', () => {
    const rows = impressions((list, place) => ({
      request_id: `r${list}`,
      item_id: `p${(list * 7 + place) % 50}`,
      click: list % 2,
      rare: list === 1 && place === 1 ? 0.25 : 0,
    }));
    expect(guess('log.csv', rows).sources[0]).to.deep.include({ carry: { rare: 'rare' } });
  });

  it('takes rows of one session and time as a request, and says so', () => {
    const rows = impressions((list, place) => ({
      session_id: `s${list % 5}`,
      time: 1_700_000_000_000 + list * 1000,
      item_id: `p${(list + 11 * place) % 40}`,
      position: place,
      clicked: place === 1 ? 1 : 0,
    }));
    const { sources, notes } = guess('log.jsonl', rows);
    expect(sources[0]).to.deep.include({
      map: {
        request: ['session_id', 'time'],
        time: 'time',
        user: 'session_id',
        product: 'item_id',
        position: 'position',
      },
      feedback: { click: 'clicked' },
    });
    expect(notes.join(' ')).to.contain('rows with the same session_id and time count as one request');
  });

  it('pools rows that tell no request, and leaves out what is not known before a list is shown', () => {
    const rows = Array.from({ length: 500 }, (_, at): JsonObject => ({
      timestamp: `2019-11-24 00:${String(at % 60).padStart(2, '0')}:${String(at % 59).padStart(2, '0')}.${at}`,
      item_id: String((at * 7) % 34),
      position: String((at % 3) + 1),
      click: at % 50 === 0 ? '1' : '0',
      dwell: at % 50 === 0 ? String(at) : '0',
      propensity_score: String(1 / (1 + (at % 5))),
      user_feature_0: `f${at % 4}`,
    }));
    const { sources, notes } = guess('men.csv', rows);
    expect(sources).to.deep.equal([
      {
        files: ['men.csv'],
        into: 'rankings',
        map: { time: 'timestamp', product: 'item_id', position: 'position' },
        feedback: { click: 'click' },
        carry: { user_feature_0: 'user_feature_0' },
        pool: 17,
      },
    ]);
    expect(notes.join(' ')).to.contain('dwell, propensity_score');
  });

  it('splits a log of several types of events', () => {
    const rows = [
      ...impressions((list, place) => ({
        type: 'impression',
        request_id: `r${list}`,
        ts: 1.7e9 + list,
        item: `p${place}`,
      })),
      { type: 'click', request_id: 'r1', ts: 1.7e9 + 2, item: 'p1' },
      { type: 'addToCart', request_id: 'r1', ts: 1.7e9 + 3, item: 'p1' },
      { type: 'login', ts: 1.7e9 + 3 },
    ];
    const [shown, acts] = guess('events.jsonl', rows).sources;
    expect(shown).to.deep.include({ into: 'rankings', where: { type: ['impression'] } });
    expect(acts).to.deep.include({
      into: 'feedback',
      event: { impression: null, click: 'click', addToCart: 'cart', login: null },
    });
  });

  it('finds lists in rows', () => {
    const rows = Array.from({ length: 20 }, (_, at): JsonObject => ({
      query_id: `q${at}`,
      time: 1.7e12 + at,
      query: `word ${at % 3}`,
      results: [
        { id: `a${at}`, score: 2, price: at },
        { id: 'b', score: 1, price: 2 },
      ],
      clicked: [`a${at}`],
    }));
    expect(guess('searches.jsonl', rows).sources).to.deep.equal([
      {
        files: ['searches.jsonl'],
        into: 'rankings',
        map: { request: 'query_id', time: 'time', items: 'results', product: 'id', score: 'score' },
        feedback: { click: 'clicked' },
        send: { query: 'query' },
        carry: { price: 'price' },
      },
    ]);
  });

  it('splits a log whose rows of some types hold lists', () => {
    const rows = Array.from({ length: 50 }, (_, at): JsonObject[] => {
      const products = [1, 2, 3].map((place) => ({
        product_id: `p${(at + place) % 9}`,
        position: place,
        price: place / 2,
      }));
      const common = { type: 'track', userId: `u${at % 7}`, timestamp: 1_700_000_000 + at };
      return [
        { ...common, event: 'Product List Viewed', properties: { list_id: `l${at}`, products } },
        { ...common, event: 'Product Clicked', properties: { list_id: `l${at}`, product_id: 'p1' } },
        {
          ...common,
          event: 'Order Completed',
          properties: { products: [{ product_id: 'p1', quantity: 2 }] },
        },
        { ...common, event: 'Page Loaded' },
        { ...common, type: 'page' },
      ];
    }).flat();
    const { sources, notes } = guess('events.ndjson', rows);
    expect(sources).to.deep.equal([
      {
        files: ['events.ndjson'],
        into: 'rankings',
        where: { event: ['Product List Viewed'] },
        map: {
          request: 'properties.list_id',
          time: 'timestamp',
          user: 'userId',
          items: 'properties.products',
          product: 'product_id',
          position: 'position',
        },
        carry: { price: 'price' },
      },
      {
        files: ['events.ndjson'],
        into: 'feedback',
        map: {
          request: 'properties.list_id',
          time: 'timestamp',
          user: 'userId',
          product: 'properties.product_id',
          type: 'event',
        },
        event: { 'Product Clicked': 'click' },
        where: { event: ['Product Clicked'] },
      },
      {
        files: ['events.ndjson'],
        into: 'feedback',
        map: {
          time: 'timestamp',
          user: 'userId',
          items: 'properties.products',
          product: 'product_id',
          quantity: 'quantity',
          type: 'event',
        },
        event: { 'Order Completed': 'order' },
        where: { event: ['Order Completed'] },
      },
    ]);
    expect(notes.join(' ')).to.contain(
      'Rows without event are not used. Rows with event Page Loaded are not used.',
    );
  });

  it('finds numbered columns of one list, and the position that was clicked', () => {
    const rows = Array.from({ length: 60 }, (_, at) => ({
      impression_id: `i${at}`,
      ts: 1_700_000_000 + at,
      item_1: `a${at % 5}`,
      price_1: '1',
      item_2: `b${at % 5}`,
      price_2: '2',
      clicked_index: at % 3 === 0 ? '' : String((at % 3) - 1),
    }));
    expect(guess('wide.csv', rows).sources).to.deep.equal([
      {
        files: ['wide.csv'],
        into: 'rankings',
        map: { request: 'impression_id', time: 'ts', items: 'places', product: 'item' },
        positions_from: 0,
        feedback_at: { click: 'clicked_index' },
        carry: { price: 'price' },
        places: ['item', 'price'],
      },
    ]);
    const from1 = rows.map((row) => ({ ...row, clicked_index: row.clicked_index === '' ? 0 : 2 }));
    expect(guess('wide.csv', from1).sources[0]).not.to.have.property('positions_from');
  });

  it('finds positions of clicks that start with 0', () => {
    const clicks = Array.from({ length: 30 }, (_, at) => ({
      ts: 1_700_000_000 + at,
      sku: `p${at % 4}`,
      slot: at % 3,
    }));
    expect(guess('clicks.csv', clicks).sources[0]).to.deep.include({ positions_from: 0 });
  });

  it('finds numbers with a decimal comma', () => {
    const rows = impressions((list, place) => ({
      request_id: `r${list}`,
      item_id: `p${(list * 7 + place) % 50}`,
      click: list % 2,
      discount: `${list},5${place}`,
    }));
    expect(guess('log.csv', rows).sources[0]).to.deep.include({
      carry: { discount: 'discount' },
      decimal_comma: ['discount'],
    });
  });

  it('finds other names of feedback', () => {
    const rows = Array.from({ length: 60 }, (_, at) => ({
      session_id: `s${at}`,
      started_at: 1_700_000_000 + at,
      shown_items: [1, 2, 3],
      clicked_items: [1],
      bought_items: at % 2 === 0 ? [1] : [],
    }));
    expect(guess('log.parquet', rows).sources[0]).to.deep.include({
      feedback: { click: 'clicked_items', order: 'bought_items' },
    });
  });

  it('knows events of Metarank and of Google Analytics', () => {
    expect(guess('m.jsonl', [{ event: 'item', id: 'e', timestamp: '1', item: 'i' }]).sources).to.deep.equal([
      { files: ['m.jsonl'], map: 'metarank' },
    ]);
    expect(guess('g.jsonl', [{ event_name: 'page_view', event_timestamp: '1' }]).sources).to.deep.equal([
      { files: ['g.jsonl'], map: 'ga4' },
    ]);
  });

  it('says that a file is not read if it does not know what its rows are', () => {
    const { sources, notes } = guess('weather.csv', [{ day: 'monday', rain: '1' }]);
    expect(sources).to.deep.equal([]);
    expect(notes.join(' ')).to.contain('the file is not read. Its columns are day, rain.');
  });

  it('never throws', () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    const name = fc.constantFrom(
      'item_id',
      'items',
      'time',
      'type',
      'position',
      'click',
      'user',
      'request_id',
      'x',
      '',
      '__proto__',
      'a.b',
    );
    fc.assert(
      fc.property(fc.array(fc.dictionary(name, value), { maxLength: 12 }), (rows) => {
        expect(guess('any.jsonl', rows as JsonObject[]).notes).to.be.an('array');
      }),
      { numRuns: draws(100) },
    );
  });
});
