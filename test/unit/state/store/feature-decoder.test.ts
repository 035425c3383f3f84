import { expect } from 'chai';
import type { Column } from '../../../../runtime/ground/api/columns.js';
import { defaultedCause, Status, statusName } from '../../../../runtime/ground/api/status.js';
import type { JsonObject, ValueType } from '../../../../runtime/ground/api/types.js';
import type { FeatureView } from '../../../../runtime/project/config/model/views.js';
import { viewLayout } from '../../../../runtime/state/index/stored-views.js';
import { columnKindOf } from '../../../../runtime/language/frame/cells.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import { FeatureDecoder } from '../../../../runtime/state/store/codec/feature-decoder.js';
import { encodeSegment, viewId } from '../../../../runtime/state/store/codec/feature-record.js';
import { KnownLayouts } from '../../../../runtime/state/store/codec/known-layouts.js';
import { RecordLayout } from '../../../../runtime/state/store/codec/record-layout.js';
import { featureView, type FeatureSketch } from '../../../support/entity-types.js';
import { placed } from '../../../support/placed-record.js';

const FLOAT: ValueType = { kind: 'float' };
const INT: ValueType = { kind: 'int' };
const NOW = 1_000_000;

/** Value and status; for a defaulted cell also the cause. */
function cell(column: Column): string {
  const status = column.status[0] ?? 0;
  const cause = defaultedCause(status);
  const value =
    column.kind === 'texts' || column.kind === 'vector'
      ? `[${column.values.join(' ')}]`
      : String(column.values[0]);
  return `${value} ${statusName(status)}${cause === undefined ? '' : ` ${cause}`}`;
}

class Reader {
  readonly known = new KnownLayouts();

  segment(view: FeatureView, features: JsonObject, eventTime = NOW): Buffer {
    return encodeSegment(viewId(view.name), this.known.add(viewLayout(view)), eventTime, features);
  }

  /** The cells of all features of the views, read from one record. */
  read(views: readonly FeatureView[], record: Buffer | null, cause?: number): string[] {
    const wanted = views.flatMap((view) =>
      Array.from(view.features.values(), (feature) => ({ view, feature })),
    );
    const columns = wanted.map(({ feature: { type } }) => {
      const kind = columnKindOf(type, false);
      if (kind === undefined) throw new Error('no column');
      return looseColumn(
        kind === 'vector'
          ? { kind, scope: 'candidate', size: type.kind === 'vector' ? type.size : 0 }
          : { kind, scope: 'candidate' },
        1,
      );
    });
    const decoder = new FeatureDecoder(wanted, this.known);
    if (cause === undefined) decoder.decode(...placed(record), columns, 0, NOW);
    else decoder.decodeMissing(cause, columns, 0);
    return columns.map(cell);
  }
}

function view(features: Readonly<Record<string, FeatureSketch>>, more = {}, name = 'stats'): FeatureView {
  return featureView(name, ['product'], features, more);
}

describe('the feature decoder', () => {
  it('reads every type', () => {
    const stats = view({
      b: { kind: 'bool' },
      f: FLOAT,
      i: INT,
      l: { kind: 'list', of: { kind: 'string' } },
      s: { kind: 'string' },
      t: { kind: 'timestamp' },
      v: { kind: 'vector', size: 2 },
    });
    const reader = new Reader();
    const record = reader.segment(stats, { b: true, f: 0.5, i: -1, l: ['x', 'y'], s: 'é', t: 7, v: [1, 2] });
    expect(reader.read([stats], record)).to.deep.equal([
      '1 present',
      '0.5 present',
      '-1 present',
      '[x y] present',
      'é present',
      '7 present',
      '[1 2] present',
    ]);
  });

  it('reads several views of one record by name, and marks views without a row as missing', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => view({ n: INT }, {}, name)) as [
      FeatureView,
      FeatureView,
      FeatureView,
    ];
    const reader = new Reader();
    const record = Buffer.concat([reader.segment(b, { n: 2 }), reader.segment(a, { n: 1 })]);
    expect(reader.read([a, b, c], record)).to.deep.equal(['1 present', '2 present', 'NaN missing_feature']);
    expect(reader.read([a, b], null)).to.deep.equal(['NaN missing_feature', 'NaN missing_feature']);
  });

  it('distinguishes null, absent and present', () => {
    const stats = view({ x: INT, y: INT, z: INT });
    const reader = new Reader();
    expect(reader.read([stats], reader.segment(stats, { x: 0, y: null }))).to.deep.equal([
      '0 present',
      'NaN null',
      'NaN missing_feature',
    ]);
  });

  describe('a row older than the ttl', () => {
    const at = (age: number, expired: FeatureView['expired'], more: FeatureSketch = INT): string => {
      const stats = view({ n: more }, { ttl: 1000, expired });
      const reader = new Reader();
      return reader.read([stats], reader.segment(stats, { n: 5 }, NOW - age))[0] ?? '';
    };

    it('is still valid at exactly the ttl, and with an event time in the future', () => {
      for (const policy of ['missing', 'stale', 'fail'] as const) {
        expect(at(1000, policy)).to.equal('5 present');
        expect(at(-50_000, policy)).to.equal('5 present');
      }
    });

    it('is expired, stale with its value, or failed, by the policy of the view', () => {
      expect(at(1001, 'missing')).to.equal('NaN expired');
      expect(at(1001, 'stale')).to.equal('5 stale');
      expect(at(1001, 'fail')).to.equal('NaN failed');
    });

    it('is replaced by a declared default if expired, but not if stale or failed', () => {
      const withDefault = { type: INT, default: 0 };
      expect(at(1001, 'missing', withDefault)).to.equal('0 defaulted expired');
      expect(at(1001, 'stale', withDefault)).to.equal('5 stale');
      expect(at(1001, 'fail', withDefault)).to.equal('NaN failed');
    });

    it('never occurs if the view has no ttl', () => {
      const stats = view({ n: INT }, { ttl: null });
      const reader = new Reader();
      expect(reader.read([stats], reader.segment(stats, { n: 5 }, -1e15))).to.deep.equal(['5 present']);
    });
  });

  describe('a declared default', () => {
    const stats = view({ n: { type: INT, default: 7 } });

    it('replaces missing and null values, and keeps the cause', () => {
      const reader = new Reader();
      expect(reader.read([stats], null)).to.deep.equal(['7 defaulted missing_feature']);
      expect(reader.read([stats], reader.segment(stats, {}))).to.deep.equal(['7 defaulted missing_feature']);
      expect(reader.read([stats], reader.segment(stats, { n: null }))).to.deep.equal(['7 defaulted null']);
      expect(reader.read([stats], null, Status.missing_entity)).to.deep.equal(['7 defaulted missing_entity']);
    });

    it('never replaces a failed read', () => {
      const reader = new Reader();
      const record = reader.segment(stats, { n: 5 });
      record[28] = 99; // the form version of a later release
      expect(reader.read([stats], record)).to.deep.equal(['NaN failed']);
      expect(reader.read([stats], null, Status.failed)).to.deep.equal(['NaN failed']);
    });

    it('replaces values of any type', () => {
      const all = view({
        b: { type: { kind: 'bool' }, default: true },
        l: { type: { kind: 'list', of: { kind: 'string' } }, default: ['a', 'b'] },
        s: { type: { kind: 'string' }, default: '' },
        t: { type: { kind: 'timestamp' }, default: '1970-01-01T00:00:01Z' },
        v: { type: { kind: 'vector', size: 2 }, default: [1, 2] },
      });
      const cause = 'defaulted missing_feature';
      expect(new Reader().read([all], null)).to.deep.equal([
        `1 ${cause}`,
        `[a b] ${cause}`,
        ` ${cause}`,
        `1000 ${cause}`,
        `[1 2] ${cause}`,
      ]);
    });

    it('also replaces a stale null', () => {
      const old = view({ n: { type: INT, default: 7 } }, { ttl: 10, expired: 'stale' });
      const reader = new Reader();
      expect(reader.read([old], reader.segment(old, { n: null }, 0))).to.deep.equal(['7 defaulted null']);
    });
  });

  it('reads rows that were written with another layout of the view', () => {
    const reader = new Reader();
    const before = view({ clicks: INT, gone: INT });
    const now = view({ clicks: FLOAT, fresh: { type: INT, default: 1 } });
    expect(reader.read([now], reader.segment(before, { clicks: 4, gone: 2 }))).to.deep.equal([
      '4 present',
      '1 defaulted missing_feature',
    ]);
    const text = view({ clicks: { kind: 'string' } });
    expect(reader.read([now], reader.segment(text, { clicks: 'many' }))[0]).to.equal('NaN failed');
  });

  it('requests unknown layouts, and marks the row as failed without them', () => {
    const stats = view({ n: INT });
    const foreign = new RecordLayout(
      [
        ['n', INT],
        ['m', INT],
      ],
      undefined,
    );
    const record = encodeSegment(viewId('stats'), foreign, NOW, { n: 1, m: 2 });
    const reader = new Reader();
    const feature = stats.features.get('n');
    if (feature === undefined) throw new Error('no feature');
    const missing = new Set<string>();
    new FeatureDecoder([{ view: stats, feature }], reader.known).missingLayouts(...placed(record), missing);
    expect(missing).to.deep.equal(new Set([foreign.hex]));
    expect(reader.read([stats], record)).to.deep.equal(['NaN failed']);
    reader.known.add(foreign);
    expect(reader.read([stats], record)).to.deep.equal(['1 present']);
  });

  it('never throws for damaged bytes', () => {
    const stats = view({ l: { kind: 'list', of: { kind: 'string' } }, n: INT, s: { kind: 'string' } });
    const reader = new Reader();
    const whole = reader.segment(stats, { l: ['a', 'b'], n: 1, s: 'text' });
    for (let length = 0; length < whole.length; length++) {
      for (const found of reader.read([stats], whole.subarray(0, length))) {
        expect(found).to.match(/(failed|missing_feature)$/);
      }
    }
  });
});
