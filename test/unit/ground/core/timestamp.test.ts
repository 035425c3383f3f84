import { expect } from 'chai';
import fc from 'fast-check';
import { timestampOf } from '../../../../runtime/ground/core/timestamp.js';

describe('timestamps', () => {
  it('are read from ISO 8601 strings, in UTC if there is no offset', () => {
    const noon = Date.UTC(2026, 0, 31, 12, 0, 0);
    for (const text of [
      '2026-01-31T12:00:00Z',
      '2026-01-31T12:00:00',
      '2026-01-31 12:00',
      '2026-01-31T12:00:00.000000Z',
      '2026-01-31T14:00:00+02:00',
      '2026-01-31T06:30-0530',
      '2026-01-31 13:00:00+01',
      '2026-01-31t12:00:00z',
    ]) {
      expect(timestampOf(text), text).to.equal(noon);
    }
    expect(timestampOf('2026-01-31')).to.equal(Date.UTC(2026, 0, 31));
    expect(timestampOf('2024-02-29T23:59:59.987654')).to.equal(Date.UTC(2024, 1, 29, 23, 59, 59, 987));
  });

  it('can be read in every form that a Date writes', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(fc.property(date, (time) => timestampOf(time.toISOString()) === time.getTime()));
  });

  it('are rejected if no calendar or clock has them', () => {
    for (const text of [
      '2026-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-01-00',
      '2026-01-31T24:00',
      '2026-01-31T12:60',
      '2026-01-31T12:00:61',
      '2026-01-31T12:00+25:00',
      '2026-01-31T12:00+01:75',
      '31.01.2026',
      'Jan 31 2026',
      '2026',
      '1769860800000',
      'now',
      '',
      `2026-01-31${' '.repeat(100)}`,
    ]) {
      expect(timestampOf(text), text).to.be.NaN;
    }
  });

  it('are numbers of milliseconds that a Date can hold', () => {
    expect(timestampOf(-8.64e15)).to.equal(-8.64e15);
    expect(timestampOf(0.5)).to.equal(0.5);
    for (const bad of [8.64e15 + 1, Infinity, NaN, null, true, undefined, [], {}])
      expect(timestampOf(bad)).to.be.NaN;
  });
});
