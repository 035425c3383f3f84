import { expect } from 'chai';
import fc from 'fast-check';
import type { ValueType } from '../../../../runtime/ground/api/types.js';
import {
  decodeSegment,
  encodeSegment,
  encodeTombstone,
  findSegment,
  mergeSegment,
  recordForgetTime,
  segmentsOf,
  viewId,
} from '../../../../runtime/state/store/codec/feature-record.js';
import { RecordLayout } from '../../../../runtime/state/store/codec/record-layout.js';

const layout = new RecordLayout(
  [
    ['clicks', { kind: 'int' }],
    ['label', { kind: 'string' }],
    ['since', { kind: 'timestamp' }],
    ['tags', { kind: 'list', of: { kind: 'string' } }],
    ['embedding', { kind: 'vector', size: 2 }],
  ] satisfies [string, ValueType][],
  undefined,
);

describe('feature records', () => {
  it('return the features of a row, with times as epoch milliseconds', () => {
    const row = { clicks: 3, label: 'x', since: '1970-01-01T00:00:01Z', tags: ['a', 'b'], embedding: null };
    const record = encodeSegment(viewId('v'), layout, 5.5, row);
    const [segment, ...more] = segmentsOf(record);
    expect(more).to.deep.equal([]);
    if (segment === undefined) throw new Error('no segment');
    expect(segment).to.deep.equal({ start: 0, end: record.length, layoutId: layout.hex, eventTime: 5.5 });
    expect({ ...decodeSegment(record, segment, layout) }).to.deep.equal({ ...row, since: 1000 });
  });

  it('reject a feature that does not fit, because there is no tail', () => {
    expect(() => encodeSegment(viewId('v'), layout, 1, { clicks: 'x' })).to.throw(TypeError, 'clicks');
  });

  it('name a view by the first 8 bytes of the SHA-256 of its name', () => {
    // Stored records contain this id.
    expect(viewId('product_stats').toString('hex')).to.equal('bbdc041591004346');
  });

  it('hold the row with the latest event time for any order of pushes', () => {
    const time = fc.integer({ min: 0, max: 5 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ view: fc.constantFrom('a', 'b'), time }), { minLength: 1 }),
        (pushes) => {
          let record = Buffer.alloc(0);
          const newest = new Map<string, { time: number; clicks: number }>();
          pushes.forEach(({ view, time: at }, clicks) => {
            const before = newest.get(view);
            const merged = mergeSegment(
              record.length === 0 ? null : record,
              encodeSegment(viewId(view), layout, at, { clicks }),
              0,
            );
            record = Buffer.from(merged.record);
            const isOlder = before !== undefined && before.time > at;
            expect(merged.outcome).to.equal(isOlder ? 'older' : 'stored');
            if (!isOlder) newest.set(view, { time: at, clicks });
          });
          const found = segmentsOf(record).map((segment) => ({
            time: segment.eventTime,
            clicks: decodeSegment(record, segment, layout).clicks,
          }));
          expect(found).to.deep.equal(
            [...newest.values()].map(({ time: at, clicks }) => ({ time: at, clicks })).reverse(),
          );
        },
      ),
    );
  });

  it('hold a row that is pushed over damaged bytes, and do not grow with the next push', () => {
    const whole = Buffer.concat([
      encodeSegment(viewId('a'), layout, 1, { label: 'x' }),
      encodeSegment(viewId('b'), layout, 1, { label: 'y' }),
    ]);
    const pushed = encodeSegment(viewId('c'), layout, 2, { label: 'z' });
    for (let length = 1; length <= whole.length; length++) {
      const { record } = mergeSegment(whole.subarray(0, length), pushed, 0);
      const found = segmentsOf(record).find(({ eventTime }) => eventTime === 2);
      expect(found && decodeSegment(record, found, layout), String(length)).to.deep.equal({ label: 'z' });
      expect(mergeSegment(record, pushed, 0).record.equals(record)).to.equal(true);
    }
  });

  it('hide a deleted row from lookups', () => {
    const id = viewId('v');
    const row = encodeSegment(id, layout, 1, { clicks: 1 });
    const find = (record: Buffer): number =>
      findSegment(record, 0, record.length, id.readInt32LE(0), id.readInt32LE(4));
    expect(find(row)).to.equal(0);
    const { record, outcome } = mergeSegment(row, encodeTombstone(id, 1, 100), 0);
    expect([outcome, find(record)]).to.deep.equal(['stored', -1]);
    // Versions without tombstones read the same bytes, so the format and the length must not change.
    expect(record.toString('hex')).to.equal(
      '24000000' +
        'b3' +
        id.toString('hex').slice(2) +
        '0'.repeat(16) +
        '000000000000f03f' +
        '0000000000005940',
    );
  });

  it('expire when they hold only expired deletions', () => {
    const [a, b] = [encodeTombstone(viewId('a'), 1, 100), encodeTombstone(viewId('b'), 1, 200)];
    const row = encodeSegment(viewId('c'), layout, 1, {});
    expect(recordForgetTime(Buffer.concat([b, a]))).to.equal(200);
    expect(recordForgetTime(Buffer.concat([a, row, b]))).to.equal(Infinity);
    expect(recordForgetTime(Buffer.alloc(0))).to.equal(Infinity);
    expect(mergeSegment(Buffer.concat([a, b]), row, 100).record.equals(Buffer.concat([row, b]))).to.equal(
      true,
    );
  });

  it('treat a deletion that is cut short as a row, which never expires', () => {
    const cut = encodeTombstone(viewId('a'), 1, 100).subarray(0, 30);
    expect(recordForgetTime(cut)).to.equal(Infinity);
  });

  it('terminate a walk over damaged bytes', () => {
    const whole = Buffer.concat([
      encodeSegment(viewId('a'), layout, 1, { label: 'x' }),
      encodeSegment(viewId('b'), layout, 1, { label: 'y' }),
    ]);
    const segment = encodeSegment(viewId('c'), layout, 1, {});
    fc.assert(
      fc.property(
        fc.nat(whole.length - 1),
        fc.integer({ min: 0, max: 255 }),
        fc.nat(whole.length),
        (at, byte, length) => {
          const damaged = Buffer.from(whole.subarray(0, length));
          if (at < length) damaged[at] = byte;
          expect(segmentsOf(damaged).length).to.be.lessThan(10);
          mergeSegment(damaged, segment, 0);
        },
      ),
    );
  });
});
