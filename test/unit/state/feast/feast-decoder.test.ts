import { expect } from 'chai';
import { DEFAULTED, Status } from '../../../../runtime/ground/api/status.js';
import type { ColumnKind } from '../../../../runtime/ground/api/columns.js';
import type { ValueType } from '../../../../runtime/ground/api/types.js';
import type { FeastSource } from '../../../../runtime/project/config/model/feast.js';
import type { FeatureView } from '../../../../runtime/project/config/model/views.js';
import { FeastDecoder } from '../../../../runtime/state/feast/feast-decoder.js';
import { featureField, timeField } from '../../../../runtime/project/config/project/feast-fields.js';
import { columnKindOf } from '../../../../runtime/language/frame/cells.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import { featureView, type FeatureSketch } from '../../../support/entity-types.js';
import { feastTime, feastValue } from '../../../support/feast-writer.js';

const NOW = Date.UTC(2026, 0, 1);
const SOURCE: FeastSource = {
  project: 'shop',
  url: undefined,
  keyVersion: 3,
  view: 'Stats',
  joinKeys: [{ name: 'product_id', type: 'string' }],
  fields: new Map([['ctr', 'CTR']]),
};

interface Cell {
  readonly value: unknown;
  readonly status: number;
}

function viewOf(
  features: Readonly<Record<string, FeatureSketch>>,
  more: Partial<Pick<FeatureView, 'ttl' | 'expired'>> = {},
): FeatureView {
  return featureView('stats', ['product'], features, { ...more, source: SOURCE });
}

/** Decodes one row of a view; `values` are in the order of the view. */
function decode(view: FeatureView, time: Buffer | null, values: readonly (Buffer | null)[]): Cell[] {
  const features = [...view.features.values()];
  const decoder = new FeastDecoder(features.map((feature) => ({ view, feature })));
  const columns = features.map(({ type }) => looseColumn(shapeOf(type), 1));
  decoder.decode([time, ...values], columns, 0, NOW);
  return columns.map((column): Cell => {
    const status = column.status[0] ?? Status.absent;
    if (column.kind === 'texts') return { status, value: column.values.slice(0, column.offsets[1]) };
    return { status, value: column.kind === 'vector' ? [...column.values] : column.values[0] };
  });
}

function shapeOf(type: ValueType): Parameters<typeof looseColumn>[0] {
  const kind = columnKindOf(type, false) as Exclude<ColumnKind, 'vector'> | 'vector';
  return kind === 'vector'
    ? { kind, scope: 'candidate', size: type.kind === 'vector' ? type.size : 0 }
    : { kind, scope: 'candidate' };
}

const one = (type: FeatureSketch, value: Buffer | null): Cell | undefined =>
  decode(viewOf({ f: type }), feastTime(NOW), [value])[0];

describe('the decoder of Feast’s hashes', () => {
  it('requests the event time and the features by their names in Feast', () => {
    const view = viewOf({ ctr: { kind: 'float' }, clicks: { kind: 'int' } });
    const decoder = new FeastDecoder([...view.features.values()].map((feature) => ({ view, feature })));
    const expected = [timeField('Stats'), featureField('Stats', 'CTR'), featureField('Stats', 'clicks')];
    expect(decoder.fields).to.deep.equal(expected);
  });

  it('writes every Feast type that maps to a feature type', () => {
    const present = (value: unknown): Cell => ({ value, status: Status.present });
    const [INT, FLOAT, TEXT, BOOL]: ValueType[] = ['int', 'float', 'string', 'bool'].map(
      (kind) => ({ kind }) as ValueType,
    );
    if (INT === undefined || FLOAT === undefined || TEXT === undefined || BOOL === undefined) return;
    expect(one(INT, feastValue('int64_val', 2 ** 53 - 1))).to.deep.equal(present(2 ** 53 - 1));
    expect(one(INT, feastValue('int32_val', -5))).to.deep.equal(present(-5));
    expect(one(FLOAT, feastValue('float_val', 0.1))).to.deep.equal(present(Math.fround(0.1)));
    expect(one(FLOAT, feastValue('double_val', 0.1))).to.deep.equal(present(0.1));
    expect(one(FLOAT, feastValue('int64_val', -7))).to.deep.equal(present(-7));
    expect(one(BOOL, feastValue('bool_val', false))).to.deep.equal(present(0));
    expect(one({ kind: 'timestamp' }, feastValue('unix_timestamp_val', 60))).to.deep.equal(present(60_000));
    expect(one(TEXT, feastValue('string_val', ''))).to.deep.equal(present(''));
    expect(one(TEXT, feastValue('decimal_val', '12.50'))).to.deep.equal(present('12.50'));
    expect(one({ kind: 'ref', entity: 'brand' }, feastValue('int64_val', 12))).to.deep.equal(present('12'));
    const texts: ValueType = { kind: 'list', of: { kind: 'string' } };
    expect(one(texts, feastValue('string_list_val', ['a', '']))).to.deep.equal(present(['a', '']));
    expect(one(texts, feastValue('string_set_val', ['x']))).to.deep.equal(present(['x']));
    expect(one(TEXT, feastValue('bytes_val', Buffer.from([0, 255])))).to.deep.equal(present('AP8='));
    expect(one(texts, feastValue('bytes_set_val', [Buffer.from('abc')]))).to.deep.equal(present(['YWJj']));
    expect(one(texts, feastValue('bool_list_val', [true, false]))).to.deep.equal(present(['true', 'false']));
    expect(one(texts, feastValue('double_list_val', [0.1, NaN, -Infinity]))).to.deep.equal(
      present(['0.1', '"NaN"', '"-Infinity"']),
    );
    expect(one(texts, feastValue('unix_timestamp_set_val', [60]))).to.deep.equal(present(['60']));
    const map = feastValue('map_val', {
      a: feastValue('string_val', 'x'),
      b: feastValue('int64_list_val', [1, 2]),
    });
    expect(one(TEXT, map)).to.deep.equal(present('{"a":"x","b":[1,2]}'));
    const maps = feastValue('struct_list_val', [{ a: feastValue('bytes_val', Buffer.from([255])) }, {}]);
    expect(one(texts, maps)).to.deep.equal(present(['{"a":"/w=="}', '{}']));
    const nested = feastValue('list_val', [
      feastValue('string_list_val', ['a']),
      feastValue('float_val', 0.5),
    ]);
    expect(one(TEXT, nested)).to.deep.equal(present('[["a"],0.5]'));
    const vector: ValueType = { kind: 'vector', size: 2 };
    expect(one(vector, feastValue('float_list_val', [0.5, -1]))).to.deep.equal(present([0.5, -1]));
    expect(one(vector, feastValue('int64_list_val', [1, 2]))).to.deep.equal(present([1, 2]));
  });

  it('marks values that do not fit as failed, and missing values as null', () => {
    const failed: readonly (readonly [ValueType, Buffer])[] = [
      [{ kind: 'int' }, feastValue('int64_val', 2 ** 53)],
      [{ kind: 'int' }, feastValue('double_val', 1)],
      [{ kind: 'float' }, feastValue('double_val', Infinity)],
      [{ kind: 'float' }, feastValue('string_val', '1')],
      [{ kind: 'float' }, feastValue('bool_val', true)],
      [{ kind: 'bool' }, feastValue('int32_val', 1)],
      [{ kind: 'timestamp' }, feastValue('int64_val', 1)],
      [{ kind: 'string' }, feastValue('double_val', 1)],
      [{ kind: 'string' }, feastValue('unix_timestamp_val', 1)],
      [{ kind: 'ref', entity: 'user' }, feastValue('float_val', 1)],
      [{ kind: 'float' }, feastValue('int64_val', 2 ** 53)],
      [{ kind: 'vector', size: 1 }, feastValue('int64_list_val', [2 ** 53])],
      [{ kind: 'vector', size: 1 }, feastValue('double_list_val', [1e39])],
      [{ kind: 'vector', size: 1 }, feastValue('bool_list_val', [true])],
      [{ kind: 'vector', size: 1 }, feastValue('unix_timestamp_list_val', [1])],
      [{ kind: 'timestamp' }, Buffer.from('40 81 80 80 80 80 80 80 80 80 01'.replaceAll(' ', ''), 'hex')],
      [{ kind: 'vector', size: 3 }, feastValue('float_list_val', [1, 2])],
      [{ kind: 'list', of: { kind: 'string' } }, feastValue('string_val', 'a')],
      [{ kind: 'float' }, Buffer.from('2900', 'hex')],
    ];
    for (const [type, value] of failed) expect(one(type, value)?.status, type.kind).to.equal(Status.failed);
    for (const value of [Buffer.alloc(0), Buffer.from('980100', 'hex'), feastValue('double_val', NaN)])
      expect(one({ kind: 'float' }, value)?.status, value.toString('hex')).to.equal(Status.null);
  });

  it('marks a time as null if Feast stored the smallest integer (NaT)', () => {
    const none = Buffer.from('40 80 80 80 80 80 80 80 80 80 01'.replaceAll(' ', ''), 'hex');
    expect(one({ kind: 'timestamp' }, none)).to.deep.equal({ value: NaN, status: Status.null });
    const type: FeatureSketch = { type: { kind: 'timestamp' }, default: 7 };
    expect(one(type, none)).to.deep.equal({ value: 7, status: DEFAULTED | Status.null });
  });

  it('marks a value of an unsupported type as failed, not null', () => {
    // Field 47, a map whose keys are values, is not a supported type.
    const maps = Buffer.from('fa0200', 'hex');
    for (const type of ['string', 'float', 'bool', 'timestamp'] as const)
      expect(one({ kind: type }, maps)?.status, type).to.equal(Status.failed);
    expect(one({ kind: 'vector', size: 1 }, maps)?.status).to.equal(Status.failed);
    expect(one({ kind: 'list', of: { kind: 'string' } }, maps)?.status).to.equal(Status.failed);
  });

  it('never rounds a number', () => {
    const whole = [58849121863, 2 ** 53 - 1, -(2 ** 53) + 1];
    for (const [field, values] of [
      ['int64_list_val', whole],
      ['double_list_val', [0.1, 58849121863, 1e-300]],
      ['int32_list_val', [2 ** 31 - 1, -(2 ** 31), 16_777_217]],
      ['float_list_val', [0.5, Math.fround(0.1), -3]],
    ] as const)
      expect(one({ kind: 'vector', size: 3 }, feastValue(field, values)), field).to.deep.equal({
        value: values,
        status: Status.present,
      });
    // Any 64-bit integer is exact as text.
    const largest = Buffer.from('20ffffffffffffffff7f', 'hex');
    for (const type of [{ kind: 'string' }, { kind: 'ref', entity: 'user' }] as const)
      expect(one(type, largest)).to.deep.equal({ value: '9223372036854775807', status: Status.present });
  });

  it('applies defaults like views of the store, but never to a failed read', () => {
    const type: FeatureSketch = { type: { kind: 'int' }, default: 7 };
    expect(one(type, null)).to.deep.equal({ value: 7, status: DEFAULTED | Status.missing_feature });
    expect(one(type, Buffer.alloc(0))).to.deep.equal({ value: 7, status: DEFAULTED | Status.null });
    expect(one(type, feastValue('string_val', 'x'))).to.deep.equal({ value: NaN, status: Status.failed });
  });

  it('expires rows by their event time, to the millisecond', () => {
    const value = feastValue('float_val', 0.5);
    const at = (
      time: Buffer | null,
      expired: FeatureView['expired'],
      of: Buffer | null = value,
    ): Cell | undefined => decode(viewOf({ f: { kind: 'float' } }, { ttl: 1000, expired }), time, [of])[0];
    expect(at(feastTime(NOW - 1000), 'missing')?.status).to.equal(Status.present);
    expect(at(feastTime(NOW - 1000.5), 'missing')?.status).to.equal(Status.expired);
    expect(at(feastTime(NOW - 1001), 'missing')).to.deep.equal({ value: NaN, status: Status.expired });
    expect(at(feastTime(NOW - 1001), 'fail')?.status).to.equal(Status.failed);
    expect(at(feastTime(NOW - 1001), 'stale')).to.deep.equal({ value: 0.5, status: Status.stale });
    expect(at(feastTime(NOW - 1001), 'stale', null)?.status).to.equal(Status.missing_feature);
    // A value of unknown age is expired; a missing row is missing, not expired.
    expect(at(null, 'missing')?.status).to.equal(Status.expired);
    expect(at(null, 'missing', null)?.status).to.equal(Status.missing_feature);
    expect(at(Buffer.alloc(0), 'missing')?.status).to.equal(Status.expired); // 1970
    expect(decode(viewOf({ f: { kind: 'float' } }), null, [value])[0]?.status).to.equal(Status.present);
  });
});
