import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import type { JsonObject, ValueType } from '../../../../runtime/ground/api/types.js';
import { FeatureStore } from '../../../../runtime/state/index/feature-store.js';
import { viewLayout } from '../../../../runtime/state/index/stored-views.js';
import { rowKeys } from '../../../../runtime/state/index/row-keys.js';
import { decodeSegment, segmentsOf } from '../../../../runtime/state/store/codec/feature-record.js';
import { featureKey } from '../../../../runtime/state/store/keys.js';
import { KnownLayouts } from '../../../../runtime/state/store/codec/known-layouts.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import { ANY_EVENT_TIME } from '../../../support/any-event-time.js';
import { entityType, featureView } from '../../../support/entity-types.js';
import { MemoryStore } from '../../../support/memory-store.js';

const INT: ValueType = { kind: 'int' };
const TYPES = new Map(
  [
    entityType('product'),
    entityType('user'),
    entityType('brand', {}, 'code'),
    entityType('query', {}, 'query'),
  ].map((type) => [type.name, type]),
);
const DAY = 86_400_000;
const STATS = featureView('product_stats', ['product'], {
  clicks: INT,
  seen: { kind: 'timestamp' },
  label: { kind: 'string' },
  tags: { kind: 'list', of: { kind: 'string' } },
});
const AFFINITY = featureView('affinity', ['user', 'brand'], { score: { kind: 'float' } }, { group: 'slow' });
const FRIENDS = featureView('friends', ['user', 'user'], { score: { kind: 'float' } });
const GLOBAL = featureView('totals', [], { orders: INT });
const DAILY = featureView('daily', ['product'], { clicks: INT }, { ttl: DAY });
const STALE = featureView('old', ['product'], { clicks: INT }, { ttl: DAY, expired: 'stale' });
const NOW = 1_700_000_000_000;

interface Bench {
  readonly store: MemoryStore;
  readonly features: FeatureStore;
}

function bench(clock: () => number = () => NOW, eventTimes = ANY_EVENT_TIME): Bench {
  const store = new MemoryStore();
  const features = new FeatureStore({
    store,
    layouts: new LayoutRegistry(store, 'm', new KnownLayouts()),
    prefix: 'm',
    views: new Map([STATS, AFFINITY, FRIENDS, GLOBAL, DAILY, STALE].map((view) => [view.name, view])),
    types: TYPES,
    eventTimes,
    clock,
  });
  return { store, features };
}

/** The one segment at a key, decoded. */
function stored(store: MemoryStore, view: typeof STATS, ids: readonly string[]): JsonObject | undefined {
  const record = store.records.get(featureKey('m', view.group, view.of, ids));
  const segment = record && segmentsOf(record)[0];
  if (record === undefined || segment === undefined) return undefined;
  return { ...decodeSegment(record, segment, viewLayout(view)), event_time: segment.eventTime };
}

/** How many views have a row at a key. */
function rowsOf(store: MemoryStore, view: typeof STATS, ids: readonly string[]): number {
  const record = store.records.get(featureKey('m', view.group, view.of, ids));
  const noLayout = '0'.repeat(16);
  return record === undefined ? 0 : segmentsOf(record).filter(({ layoutId }) => layoutId !== noLayout).length;
}

async function failure(attempt: Promise<unknown>): Promise<MillraceError> {
  const error: unknown = await attempt.catch((reason: unknown) => reason);
  if (!(error instanceof MillraceError)) throw new Error(`expected a MillraceError, got ${String(error)}`);
  return error;
}

async function violations(view: string, rows: unknown): Promise<string[]> {
  const { store, features } = bench();
  const error = await failure(features.push({ view, rows }));
  expect(error.code).to.equal('invalid_body');
  expect(store.records.size).to.equal(0);
  return error.violations.map(({ pointer, code }) => `${pointer} ${code}`);
}

describe('the feature store', () => {
  it('stores rows under the ids of their entities, with their event times', async () => {
    const { store, features } = bench();
    const rows = [
      { product_id: 'p1', clicks: 3, label: null, event_time: '2026-01-31T00:00:00Z' },
      { product_id: 'p2', clicks: 0, seen: '1970-01-01T00:00:01Z', tags: ['a'] },
    ];
    expect(await features.push({ view: 'product_stats', rows })).to.deep.equal({
      view: 'product_stats',
      stored: 2,
      older: 0,
      expired: 0,
    });
    expect(stored(store, STATS, ['p1'])).to.deep.equal({
      clicks: 3,
      label: null,
      event_time: Date.UTC(2026, 0, 31),
    });
    expect(stored(store, STATS, ['p2'])).to.deep.equal({
      clicks: 0,
      seen: 1000,
      tags: ['a'],
      event_time: NOW,
    });
  });

  it('stores rows of composites and of no entity', async () => {
    const { store, features } = bench();
    await features.push({ view: 'affinity', rows: [{ user_id: 'a:b', code: 'c', score: 1 }] });
    await features.push({ view: 'friends', rows: [{ user_id: 'a', user_id_2: 'b', score: 2 }] });
    await features.push({ view: 'totals', rows: [{ orders: 9 }] });
    expect(stored(store, AFFINITY, ['a:b', 'c'])?.score).to.equal(1);
    expect(stored(store, AFFINITY, ['a', 'b:c'])).to.equal(undefined);
    expect(stored(store, FRIENDS, ['a', 'b'])?.score).to.equal(2);
    expect(stored(store, FRIENDS, ['b', 'a'])).to.equal(undefined);
    expect(stored(store, GLOBAL, [])?.orders).to.equal(9);
  });

  it('names the ids of a row after the keys of the entity types, and numbers a repeated name', () => {
    expect(rowKeys(AFFINITY, TYPES)).to.deep.equal(['user_id', 'code']);
    expect(rowKeys(FRIENDS, TYPES)).to.deep.equal(['user_id', 'user_id_2']);
    expect(rowKeys(GLOBAL, TYPES)).to.deep.equal([]);
    const { features } = bench();
    expect(features.columnsOf('friends').keys).to.deep.equal(['user_id', 'user_id_2']);
  });

  it('replaces a row as a whole but never with an older one, and counts both', async () => {
    const { store, features } = bench();
    await features.push({
      view: 'product_stats',
      rows: [{ product_id: 'p', clicks: 1, label: 'x', event_time: 100 }],
    });
    const answer = await features.push({
      view: 'product_stats',
      rows: [
        { product_id: 'p', clicks: 2, event_time: 200 },
        { product_id: 'p', clicks: 3, event_time: 150 },
        { product_id: 'q', clicks: 4, event_time: 1 },
      ],
    });
    expect(answer).to.deep.equal({ view: 'product_stats', stored: 2, older: 1, expired: 0 });
    expect(stored(store, STATS, ['p'])).to.deep.equal({ clicks: 2, event_time: 200 });
  });

  it('accepts whole numbers as ids, and applies rows of one key in order', async () => {
    const { store, features } = bench();
    const rows = [
      { user_id: 5, code: 7, score: 1, event_time: 100 },
      { user_id: '5', code: '7', score: 2, event_time: 100 },
    ];
    expect(await features.push({ view: 'affinity', rows })).to.deep.equal({
      view: 'affinity',
      stored: 2,
      older: 0,
      expired: 0,
    });
    expect(stored(store, AFFINITY, ['5', '7'])).to.deep.equal({ score: 2, event_time: 100 });
  });

  it('accepts no rows, and a thousand', async () => {
    const { features } = bench();
    expect(await features.push({ view: 'product_stats', rows: [] })).to.deep.equal({
      view: 'product_stats',
      stored: 0,
      older: 0,
      expired: 0,
    });
    const rows = Array.from({ length: 1000 }, (_, i) => ({ product_id: String(i), clicks: i }));
    expect((await features.push({ view: 'product_stats', rows })).stored).to.equal(1000);
  });

  it('reports each wrong field with its pointer, and stores nothing', async () => {
    expect(
      await violations('product_stats', [
        { product_id: 'p', clicks: 1.5, seen: 'soon', tags: ['a', 1], label: 'x\ud800' },
        { clicks: 1 },
        { product_id: 7.5 },
        { product_id: 'p', event_time: 'now' },
        { product_id: 'p', event_time: null },
        { product_id: 'p', clicsk: 1 },
        { product_id: 'p', tags: ['a', '\udc00'] },
        { product_id: '\ud800' },
        'row',
        JSON.parse('{"product_id":"p","__proto__":1}'),
        JSON.parse('{"product_id":"p","clicks":1e999}'),
      ]),
    ).to.deep.equal([
      '/rows/0/clicks wrong_type',
      '/rows/0/seen wrong_type',
      '/rows/0/tags/1 wrong_type',
      '/rows/0/label ill_formed_text',
      '/rows/1 missing_id',
      '/rows/2/product_id invalid_id',
      '/rows/3/event_time wrong_type',
      '/rows/4/event_time wrong_type',
      '/rows/5/clicsk unknown_feature',
      '/rows/6/tags/1 ill_formed_text',
      '/rows/7/product_id invalid_id',
      '/rows/8 wrong_type',
      '/rows/9/__proto__ unknown_feature',
      '/rows/10/clicks number_too_large',
    ]);
    expect(await violations('product_stats', Array(1001).fill({ product_id: 'p' }))).to.deep.equal([
      '/rows too_many',
    ]);
    expect(await violations('product_stats', {})).to.deep.equal(['/rows wrong_type']);
  });

  it('suggests the nearest feature and view', async () => {
    const { features } = bench();
    const feature = await failure(
      features.push({ view: 'product_stats', rows: [{ product_id: 'p', clicsk: 1 }] }),
    );
    expect(feature.violations[0]?.detail).to.contain('"clicks"');
    const view = await failure(features.push({ view: 'product_stat', rows: [] }));
    expect(view.code).to.equal('unknown_view');
    expect(view.message).to.contain('"product_stats"');
    expect((await failure(features.push({ view: '__proto__', rows: [] }))).code).to.equal('unknown_view');
  });

  it('rejects bodies of another shape', async () => {
    const { features } = bench();
    for (const body of [
      undefined,
      null,
      5,
      [],
      {},
      { view: 'product_stats' },
      { rows: [] },
      { view: 5, rows: [] },
    ]) {
      expect((await failure(features.push(body))).code, JSON.stringify(body)).to.equal('invalid_body');
    }
  });

  it('lists the stored and the unconfirmed rows if the store fails', async () => {
    const { store, features } = bench();
    store.failing = (_, key) => key === featureKey('m', 'features', ['product'], ['b']);
    const rows = ['a', 'b', 'c'].map((id) => ({ product_id: id, clicks: 1 }));
    const error = await failure(features.push({ view: 'product_stats', rows }));
    expect(error.code).to.equal('store_partial_write');
    expect(error.extensions).to.deep.equal({ stored_rows: [0, 2], unconfirmed_rows: [1] });
    store.failing = () => true;
    const nothing = await failure(features.push({ view: 'product_stats', rows: rows.slice(0, 1) }));
    expect(nothing.code).to.equal('store_unavailable');
    for (const { message } of [error, nothing])
      expect(message)
        .to.match(/not confirmed/)
        .and.to.match(/safe to send them again/);
  });

  it('rejects event times in seconds and in the far future, which no later row could replace', async () => {
    const { store, features } = bench(undefined, { oldest: Date.UTC(2000, 0, 1), ahead: 3_600_000 });
    const rows = [
      { product_id: 'a', clicks: 1, event_time: NOW / 1000 },
      { product_id: 'b', clicks: 1, event_time: '9999-01-01' },
      { product_id: 'c', clicks: 1, event_time: NOW + 3_600_000 },
    ];
    for (const attempt of [
      features.push({ view: 'product_stats', rows }),
      features.remove({
        view: 'product_stats',
        rows: rows.map(({ product_id, event_time }) => ({ product_id, event_time })),
      }),
    ]) {
      const { violations: found } = await failure(attempt);
      expect(found.map(({ pointer, code }) => `${pointer} ${code}`)).to.deep.equal([
        '/rows/0/event_time too_long_ago',
        '/rows/1/event_time in_the_future',
      ]);
      expect(found[0]?.detail).to.contain('this looks like seconds: multiply by 1000');
    }
    expect(store.records.size).to.equal(0);
  });

  it('counts stored rows that have already expired', async () => {
    const { features } = bench();
    await features.push({ view: 'daily', rows: [{ product_id: 'c', clicks: 1 }] });
    const rows = ['a', 'b', 'c'].map((product_id, i) => ({
      product_id,
      clicks: 1,
      event_time: NOW - DAY - i,
    }));
    expect(await features.push({ view: 'daily', rows })).to.deep.equal({
      view: 'daily',
      stored: 2,
      older: 1,
      expired: 1,
    });
    expect((await features.push({ view: 'product_stats', rows })).expired).to.equal(0);
  });
});

describe('deleting feature rows', () => {
  it('deletes existing and missing rows, and does not store older rows afterwards', async () => {
    const { store, features } = bench();
    const push = (clicks: number, event_time: number): Promise<unknown> =>
      features.push({ view: 'product_stats', rows: [{ product_id: 'p', clicks, event_time }] });
    const remove = (event_time: number): Promise<unknown> =>
      features.remove({
        view: 'product_stats',
        rows: [
          { product_id: 'p', event_time },
          { product_id: 'never', event_time },
        ],
      });
    await push(1, NOW - 100);
    expect(await remove(NOW - 50)).to.deep.equal({ view: 'product_stats', deleted: 2, older: 0 });
    expect(rowsOf(store, STATS, ['p'])).to.equal(0);
    for (const time of [NOW - 100, NOW - 50]) expect(await push(2, time)).to.include({ stored: 0, older: 1 });
    expect(await remove(NOW - 50)).to.include({ deleted: 2, older: 0 });
    expect(await push(3, NOW - 49)).to.include({ stored: 1, older: 0 });
    expect(await remove(NOW - 50)).to.include({ deleted: 1, older: 1 });
    expect(stored(store, STATS, ['p'])?.clicks).to.equal(3);
  });

  it('keeps the order of calls if the clock does not advance', async () => {
    let now = NOW;
    const { store, features } = bench(() => now);
    const rows = [{ product_id: 'p' }];
    const push = (): Promise<unknown> =>
      features.push({ view: 'product_stats', rows: [{ product_id: 'p', clicks: 1 }] });
    for (let i = 0; i < 5; i++) {
      expect(await push()).to.include({ stored: 1, older: 0 });
      expect(await features.remove({ view: 'product_stats', rows })).to.include({ deleted: 1, older: 0 });
      expect(rowsOf(store, STATS, ['p'])).to.equal(0);
    }
    await push();
    expect(stored(store, STATS, ['p'])?.event_time).to.equal(NOW + 5);
    // A clock that is set back by more than ONE_MOMENT is trusted.
    now = NOW - 60_000;
    await features.push({ view: 'product_stats', rows: [{ product_id: 'q', clicks: 1 }] });
    expect(stored(store, STATS, ['q'])?.event_time).to.equal(NOW - 60_000);
  });

  it('remembers a deletion for the ttl of the view; for 30 days without one, or if expired rows are served', async () => {
    for (const [view, kept] of [
      [DAILY, DAY],
      [STALE, 30 * DAY],
      [STATS, 30 * DAY],
    ] as const) {
      const { store, features } = bench();
      await features.remove({ view: view.name, rows: [{ product_id: 'p', event_time: NOW - 5 * DAY }] });
      const record = store.records.get(featureKey('m', view.group, view.of, ['p']));
      expect(record?.readDoubleLE(28), view.name).to.equal(NOW + kept);
    }
  });

  it('deletes rows of composites and of no entity', async () => {
    const { store, features } = bench();
    await features.push({ view: 'affinity', rows: [{ user_id: 'a', code: 'c', score: 1 }] });
    await features.push({ view: 'totals', rows: [{ orders: 9 }] });
    await features.remove({ view: 'affinity', rows: [{ user_id: 'a', code: 'c' }] });
    await features.remove({ view: 'totals', rows: [{}] });
    expect(rowsOf(store, AFFINITY, ['a', 'c'])).to.equal(0);
    expect(rowsOf(store, GLOBAL, [])).to.equal(0);
  });

  it('reports each wrong field with its pointer, and deletes nothing', async () => {
    const { store, features } = bench();
    const error = await failure(
      features.remove({
        view: 'affinity',
        rows: [
          { user_id: 'a', code: 'c' },
          { user_id: 'a', code: 'c', score: 1 },
          { user_id: 'a', cod: 'c' },
          { user_id: '', code: 'c', event_time: 'now' },
          'row',
        ],
      }),
    );
    expect(error.violations.map(({ pointer, code }) => `${pointer} ${code}`)).to.deep.equal([
      '/rows/1/score unknown_field',
      '/rows/2 missing_id',
      '/rows/2/cod unknown_field',
      '/rows/3/user_id invalid_id',
      '/rows/3/event_time wrong_type',
      '/rows/4 wrong_type',
    ]);
    expect(error.violations[0]?.detail).to.equal(
      'score: a deletion removes the whole row; expected only user_id, code, event_time',
    );
    expect(error.violations[2]?.detail).to.contain('did you mean "code"?');
    expect(store.records.size).to.equal(0);
    expect((await failure(features.remove({ view: 'affinty', rows: [] }))).code).to.equal('unknown_view');
    expect((await failure(features.remove({ view: 'affinity' }))).code).to.equal('invalid_body');
    expect(await features.remove({ view: 'affinity', rows: [] })).to.include({ deleted: 0, older: 0 });
  });

  it('lists the deleted and the unconfirmed rows if the store fails', async () => {
    const { store, features } = bench();
    store.failing = (_, key) => key === featureKey('m', 'features', ['product'], ['b']);
    const rows = ['a', 'b', 'c'].map((product_id) => ({ product_id }));
    const error = await failure(features.remove({ view: 'product_stats', rows }));
    expect(error.code).to.equal('store_partial_write');
    expect(error.extensions).to.deep.equal({ deleted_rows: [0, 2], unconfirmed_rows: [1] });
    expect(error.message).to.match(/^2 of 3 rows are deleted; the other 1 are not confirmed/);
    store.failing = () => true;
    const nothing = await failure(features.remove({ view: 'product_stats', rows }));
    expect(nothing.code).to.equal('store_unavailable');
  });

  describe('increments', () => {
    const push = (
      features: FeatureStore,
      rows: readonly JsonObject[],
      view = 'product_stats',
    ): Promise<unknown> => features.push({ view, increment: true, rows });

    it('add to the numbers of a row, which keeps its other features and the later event time', async () => {
      const { store, features } = bench();
      await features.push({
        view: 'product_stats',
        rows: [{ product_id: 'a', clicks: 5, label: 'new', event_time: NOW - 1000 }],
      });
      const rows = [
        { product_id: 'a', clicks: 2 },
        { product_id: 'b', clicks: 1, event_time: NOW - 500 },
        { product_id: 'a', clicks: -1, event_time: NOW - 2000 },
      ];
      expect(await push(features, rows)).to.deep.equal({
        view: 'product_stats',
        stored: 3,
        older: 0,
        expired: 0,
      });
      expect(stored(store, STATS, ['a'])).to.include({ clicks: 6, label: 'new' });
      expect(stored(store, STATS, ['b'])).to.include({ clicks: 1 });
      await push(features, rows.slice(0, 1));
      expect(stored(store, STATS, ['a']), 'a body that is sent again adds again').to.include({ clicks: 8 });
    });

    it('count from 0 where a ranking reads nothing: no row, or an expired one', async () => {
      const { store, features } = bench();
      for (const view of ['daily', 'old']) {
        const row = { product_id: 'a', clicks: 5, event_time: NOW - 2 * DAY };
        await features.push({ view, rows: [row] });
        await push(features, [{ product_id: 'a', clicks: 1 }], view);
      }
      const record = store.records.get(featureKey('m', 'features', ['product'], ['a'])) ?? Buffer.alloc(0);
      const values = segmentsOf(record).map(
        (segment) => decodeSegment(record, segment, viewLayout(DAILY))['clicks'],
      );
      expect(values, 'a view that serves expired rows adds to them').to.have.members([1, 6]);
    });

    it('lose nothing when many are made at once', async () => {
      const { store, features } = bench();
      const rows = [{ product_id: 'a', clicks: 1 }];
      await Promise.all(Array.from({ length: 40 }, () => push(features, rows)));
      expect(stored(store, STATS, ['a'])).to.include({ clicks: 40 });
    });

    it('are refused for what is no number, as a whole and with the place', async () => {
      const { store, features } = bench();
      const rows = [
        { product_id: 'a', clicks: 1, label: 'x' },
        { product_id: 'b', clicks: null },
        { product_id: 'c' },
        { product_id: 'd', click: 1 },
        { product_id: 'e', clicks: 0.5 },
      ];
      const error = await failure(push(features, rows));
      expect(error.violations.map(({ pointer, code }) => `${pointer} ${code}`)).to.deep.equal([
        '/rows/0/label wrong_type',
        '/rows/1/clicks wrong_type',
        '/rows/2 missing_field',
        '/rows/3/click unknown_feature',
        '/rows/4/clicks wrong_type',
      ]);
      expect(store.records.size).to.equal(0);
      for (const increment of ['yes', 1, null]) {
        const body = { view: 'product_stats', rows: [], increment };
        expect((await failure(features.push(body))).violations[0]?.pointer).to.equal('/increment');
      }
    });

    it('are refused if a sum does not fit the feature, before anything is stored', async () => {
      const { store, features } = bench();
      await features.push({ view: 'product_stats', rows: [{ product_id: 'a', clicks: 2 ** 53 - 2 }] });
      const rows = [
        { product_id: 'b', clicks: 1 },
        { product_id: 'a', clicks: 2 },
      ];
      const error = await failure(push(features, rows));
      expect(error.violations.map(({ pointer }) => pointer)).to.deep.equal(['/rows/1/clicks']);
      expect(stored(store, STATS, ['b'])).to.equal(undefined);
    });

    it('do not change a row that was deleted later', async () => {
      const { features } = bench();
      await features.remove({ view: 'product_stats', rows: [{ product_id: 'a' }] });
      const rows = [{ product_id: 'a', clicks: 1, event_time: NOW - 1 }];
      expect(await push(features, rows)).to.include({ stored: 0, older: 1 });
      expect(await push(features, [{ product_id: 'a', clicks: 1 }])).to.include({ stored: 1, older: 0 });
    });

    it('say which rows may have been added if the store fails, and that a retry can add twice', async () => {
      const { store, features } = bench();
      store.failing = (_, key) => key === featureKey('m', 'features', ['product'], ['b']);
      const error = await failure(
        push(
          features,
          ['a', 'b', 'a'].map((product_id) => ({ product_id, clicks: 1 })),
        ),
      );
      expect(error.code).to.equal('store_partial_write');
      expect(error.extensions).to.deep.equal({ stored_rows: [0, 2], unconfirmed_rows: [1] });
      expect(error.message).to.contain('sending them again can add them twice');
    });
  });
});
