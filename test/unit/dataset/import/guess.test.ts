import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../../../runtime/api/types.js';
import { guessSources, type FileGuess } from '../../../../runtime/dataset/import/guess.js';

const TARGET = { candidateType: 'product' };

function guess(file: string, rows: readonly JsonObject[]): FileGuess {
  const [found] = guessSources([{ file, rows }], TARGET);
  if (found === undefined) throw new Error('there is no guess');
  return found;
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
    expect(notes.join(' ')).to.contain('the file is not read');
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
      { numRuns: 400 },
    );
  });
});
