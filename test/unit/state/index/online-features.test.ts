import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { FeatureStore } from '../../../../runtime/state/index/feature-store.js';
import { NO_SOURCES } from '../../../../runtime/state/index/feature-source.js';
import type { OnlineAnswer } from '../../../../runtime/state/index/online-answer.js';
import { OnlineFeatures } from '../../../../runtime/state/index/online-features.js';
import { KnownLayouts } from '../../../../runtime/state/store/codec/known-layouts.js';
import { LayoutRegistry } from '../../../../runtime/state/store/layout-registry.js';
import { ANY_EVENT_TIME } from '../../../support/any-event-time.js';
import { entityType, featureView } from '../../../support/entity-types.js';
import { MemoryStore } from '../../../support/memory-store.js';

const NOW = Date.UTC(2026, 2, 1);
const TYPES = new Map(
  [entityType('product'), entityType('user'), entityType('brand', {}, 'code')].map((type) => [
    type.name,
    type,
  ]),
);
const VIEWS = new Map(
  [
    featureView('stats', ['product'], {
      clicks: { type: { kind: 'int' }, default: 7 },
      ctr: { kind: 'float' },
      hot: { kind: 'bool' },
      label: { kind: 'string' },
      seen: { kind: 'timestamp' },
      tags: { kind: 'list', of: { kind: 'string' } },
      taste: { kind: 'vector', size: 2 },
    }),
    featureView('fresh', ['product'], { ctr: { kind: 'float' } }, { ttl: 1000 }),
    featureView(
      'old',
      ['product'],
      { rate: { kind: 'float' } },
      { ttl: 1000, expired: 'stale', group: 'slow' },
    ),
    featureView('strict', ['product'], { rate_2: { kind: 'float' } }, { ttl: 1000, expired: 'fail' }),
    featureView('affinity', ['user', 'brand'], { score: { kind: 'float' } }),
    featureView('friends', ['user', 'user'], { together: { kind: 'int' } }),
    featureView('totals', [], { orders: { kind: 'int' } }),
    featureView('wide', ['product'], { shape: { kind: 'vector', size: 64 } }),
  ].map((view) => [view.name, view]),
);

describe('OnlineFeatures', () => {
  let online: OnlineFeatures;
  let store: MemoryStore;

  beforeEach(async () => {
    store = new MemoryStore();
    const parts = {
      store,
      layouts: new LayoutRegistry(store, 'm', new KnownLayouts()),
      prefix: 'm',
      views: VIEWS,
      types: TYPES,
      clock: () => NOW,
    };
    // The machine may be slow; one test sets a short limit.
    online = new OnlineFeatures({ ...parts, sources: NO_SOURCES, limitMs: 60_000 });
    const features = new FeatureStore({ ...parts, eventTimes: ANY_EVENT_TIME });
    const push = (view: string, ...rows: object[]): Promise<unknown> => features.push({ view, rows });
    const whole = { clicks: 2, ctr: 0.5, hot: false, label: '', seen: 5, tags: ['a', 'b'], taste: [1, 2] };
    await push(
      'stats',
      { product_id: '1', ...whole, event_time: NOW - 0.5 },
      { product_id: '2', clicks: null, ctr: null },
    );
    for (const view of ['fresh', 'old', 'strict']) {
      const feature = { fresh: 'ctr', old: 'rate', strict: 'rate_2' }[view] ?? '';
      await push(
        view,
        ...[500, 5000].map((age, i) => ({ product_id: String(i + 1), [feature]: 1, event_time: NOW - age })),
      );
    }
    await push('affinity', { user_id: 'u', code: 'b', score: 3 });
    await push('friends', { user_id: 'u', user_id_2: 'v', together: 4 });
    await push('totals', { orders: 9 });
  });

  it('returns a result for each list of ids and each feature, with one element for each row', async () => {
    const names = ['clicks', 'ctr', 'hot', 'label', 'seen', 'tags', 'taste'];
    const answer = await getOnline(online, {
      features: names.map((name) => `stats:${name}`),
      entities: { product_id: ['1', 2, 'no'] },
    });
    expect(answer.metadata).to.deep.equal({ feature_names: ['product_id', ...names] });
    expect(answer.results.map(({ values }) => values)).to.deep.equal([
      ['1', 2, 'no'],
      [2, 7, 7],
      [0.5, null, null],
      [false, null, null],
      ['', null, null],
      [5, null, null],
      [['a', 'b'], null, null],
      [[1, 2], null, null],
    ]);
    expect(answer.results.slice(0, 4).map(({ statuses }) => statuses)).to.deep.equal([
      ['PRESENT', 'PRESENT', 'PRESENT'],
      ['PRESENT', 'NULL_VALUE', 'NOT_FOUND'],
      ['PRESENT', 'NULL_VALUE', 'NOT_FOUND'],
      ['PRESENT', 'NOT_FOUND', 'NOT_FOUND'],
    ]);
    expect(answer.results[1]?.event_timestamps).to.deep.equal([
      '2026-02-28T23:59:59.999500Z',
      '2026-03-01T00:00:00Z',
      '1970-01-01T00:00:00Z',
    ]);
  });

  it('finds nothing for an empty id, and still returns the other rows', async () => {
    const { results } = await getOnline(online, {
      features: ['stats:ctr', 'affinity:score', 'totals:orders'],
      entities: { product_id: ['1', ''], user_id: ['', 'u'], code: ['b', ''] },
    });
    expect(results.map(({ values, statuses }) => [values, statuses])).to.deep.equal([
      [
        ['1', ''],
        ['PRESENT', 'PRESENT'],
      ],
      [
        ['', 'u'],
        ['PRESENT', 'PRESENT'],
      ],
      [
        ['b', ''],
        ['PRESENT', 'PRESENT'],
      ],
      [
        [0.5, null],
        ['PRESENT', 'NOT_FOUND'],
      ],
      [
        [null, null],
        ['NOT_FOUND', 'NOT_FOUND'],
      ],
      [
        [9, 9],
        ['PRESENT', 'PRESENT'],
      ],
    ]);
  });

  it('reports expired values by the policy of their view', async () => {
    const { results } = await getOnline(online, {
      features: ['fresh:ctr', 'old:rate', 'strict:rate_2'],
      entities: { product_id: ['1', '2'] },
    });
    expect(results.slice(1).map(({ values, statuses }) => [values, statuses])).to.deep.equal([
      [
        [1, null],
        ['PRESENT', 'OUTSIDE_MAX_AGE'],
      ],
      [
        [1, 1],
        ['PRESENT', 'OUTSIDE_MAX_AGE'],
      ],
      [
        [1, null],
        ['PRESENT', 'INVALID'],
      ],
    ]);
  });

  it('reads composite views, views with the same type twice and global views, with one store read for each key', async () => {
    const { results, metadata } = await getOnline(online, {
      features: ['affinity:score', 'friends:together', 'totals:orders'],
      entities: { code: ['b', 'b'], user_id: ['u', 'x'], user_id_2: ['v', 'v'] },
      full_feature_names: true,
    });
    expect(metadata.feature_names.slice(3)).to.deep.equal([
      'affinity__score',
      'friends__together',
      'totals__orders',
    ]);
    expect(results.slice(3).map(({ values }) => values)).to.deep.equal([
      [3, null],
      [4, null],
      [9, 9],
    ]);
    const global = await getOnline(online, { features: ['totals:orders'], entities: {} });
    expect(global.results.map(({ values }) => values)).to.deep.equal([[9]]);
  });

  it('returns no rows for no ids', async () => {
    const { results } = await getOnline(online, { features: ['stats:ctr'], entities: { product_id: [] } });
    expect(results).to.deep.equal([
      { values: [], statuses: [], event_timestamps: [] },
      { values: [], statuses: [], event_timestamps: [] },
    ]);
  });

  const mistakes: readonly (readonly [body: unknown, pointer: string, part: string])[] = [
    [[], '', 'expected an object'],
    [{ entities: {} }, '/features', 'expected a list of view:feature, found nothing'],
    [{ features: [], entities: {} }, '/features', 'expected 1 to 250, found 0'],
    [
      { features: Array(251).fill('totals:orders'), entities: {} },
      '/features',
      'expected 1 to 250, found 251',
    ],
    [{ features: ['totals'], entities: {} }, '/features/0', 'expected a feature as view:feature'],
    [{ features: [7], entities: {} }, '/features/0', 'found the number 7'],
    [{ features: ['totals:ordrs'], entities: {} }, '/features/0', 'did you mean "orders"?'],
    [{ features: ['totals:constructor'], entities: {} }, '/features/0', 'has no feature "constructor"'],
    [{ features: ['totals:orders', 'totals:orders'], entities: {} }, '/features', 'requested twice'],
    [
      { features: ['stats:ctr', 'fresh:ctr'], entities: { product_id: [] } },
      '/features',
      'set full_feature_names',
    ],
    [{ features: ['totals:orders'] }, '/entities', 'expected lists of ids by name'],
    [{ features: ['totals:orders'], entities: { a: 'x' } }, '/entities/a', 'expected a list of ids'],
    [
      { features: ['stats:ctr'], entities: { product: ['1'] } },
      '/features/0',
      'entities has no "product_id"',
    ],
    [
      { features: ['totals:orders'], entities: { a: ['1'], b: [] } },
      '/entities/b',
      'b has 0 ids, but a has 1',
    ],
    [
      { features: ['totals:orders'], entities: { a: Array(100_001).fill('x') } },
      '/entities/a',
      'at most 100000 ids',
    ],
    [
      { features: ['wide:shape'], entities: { product_id: Array(100_000).fill('x') } },
      '/entities',
      'at most 4000000 values in one answer',
    ],
    [
      { feature_service: 7, entities: {} },
      '/feature_service',
      'expected the name of a feature service, found the number 7',
    ],
    [{ features: ['totals:orders'], entities: { a: [1.5] } }, '/entities/a/0', 'whole number up to 2^53'],
    [{ features: ['totals:orders'], entities: { a: [null] } }, '/entities/a/0', 'an id is a text'],
    [
      { features: ['totals:orders'], entities: {}, full_feature_names: 1 },
      '/full_feature_names',
      'true or false',
    ],
  ];
  for (const [body, pointer, part] of mistakes) {
    it(`rejects a body: ${part}`, async () => {
      const error = await getOnline(online, body).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(MillraceError);
      const { code, violations } = error as MillraceError;
      expect(code).to.equal('invalid_body');
      expect(violations.find((one) => one.pointer === pointer)?.detail).to.contain(part);
    });
  }

  it('enforces its time limit while it decodes and writes', async () => {
    const names = Array.from({ length: 250 }, (_, i) => `f${i}`);
    const wide = featureView(
      'wide',
      ['product'],
      Object.fromEntries(names.map((name) => [name, { kind: 'float' } as const])),
    );
    const parts = {
      store,
      layouts: new LayoutRegistry(store, 'm', new KnownLayouts()),
      prefix: 'm',
      views: new Map([['wide', wide]]),
      types: TYPES,
      eventTimes: ANY_EVENT_TIME,
      clock: () => NOW,
    };
    const ids = Array.from({ length: 1000 }, (_, i) => `p${i}`);
    const row = Object.fromEntries(names.map((name, i) => [name, i / 7]));
    await new FeatureStore(parts).push({
      view: 'wide',
      rows: ids.map((product_id) => ({ product_id, ...row })),
    });
    const body = { features: names.map((name) => `wide:${name}`), entities: { product_id: ids } };
    const short = new OnlineFeatures({ ...parts, sources: NO_SOURCES, limitMs: 5 });
    const error: unknown = await short.read(body).catch((one: unknown) => one);
    expect(error).to.include({ code: 'deadline_exceeded' });

    const patient = new OnlineFeatures({ ...parts, sources: NO_SOURCES, limitMs: 60_000 });
    const { results } = await getOnline(patient, body);
    expect(results).to.have.length(251);
    expect(results.at(-1)).to.deep.equal({
      values: ids.map(() => 249 / 7),
      statuses: ids.map(() => 'PRESENT'),
      event_timestamps: ids.map(() => '2026-03-01T00:00:00Z'),
    });
  });

  it('yields to other requests', async () => {
    const ids = Array.from({ length: 1000 }, (_, i) => `p${i}`);
    const features = ['clicks', 'ctr', 'hot', 'label', 'seen', 'tags', 'taste'].map(
      (name) => `stats:${name}`,
    );
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const many = Array.from({ length: 60 }, () => online.read({ features, entities: { product_id: ids } }));
    await Promise.all(many);
    isOver = true;
    // Without yields, all reads end in the first two turns.
    expect(turns).to.be.at.least(4);
  });

  it('reports only one violation for a list that is rejected as a whole', async () => {
    for (const list of [Array(100_001).fill('x'), 'x']) {
      const body = { features: ['stats:ctr'], entities: { product_id: list } };
      const error = await getOnline(online, body).catch((caught: unknown) => caught);
      const { violations } = error as MillraceError;
      expect(violations.map(({ pointer }) => pointer)).to.deep.equal(['/entities/product_id']);
    }
    const noObject = { features: ['stats:ctr'], entities: [] };
    const error = await getOnline(online, noObject).catch((caught: unknown) => caught);
    expect((error as MillraceError).violations.map(({ pointer }) => pointer)).to.deep.equal(['/entities']);
  });

  it('rejects a view that is not declared', async () => {
    const error = await getOnline(online, { features: ['stat:ctr'], entities: {} }).catch(
      (caught: unknown) => caught,
    );
    expect(error).to.include({ code: 'unknown_view' });
    expect(String(error)).to.contain('did you mean "stats"?');
  });
});

async function getOnline(online: OnlineFeatures, body: unknown): Promise<OnlineAnswer> {
  return (await online.read(body)).answer.toJSON();
}
