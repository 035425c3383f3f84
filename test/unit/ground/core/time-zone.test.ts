import { expect } from 'chai';
import fc from 'fast-check';
import { startOfDay } from '../../../../runtime/ground/core/time-zone.js';
import { isZone } from '../../../../runtime/ground/core/zone-offsets.js';

const DAY = 86_400_000;
/** Zones whose clocks change at midnight, by half an hour, or not at all, and one that skipped a day. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'America/Havana',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Asia/Kathmandu',
];

describe('the start of a day in a time zone', () => {
  it('is the first moment at which the calendar of the zone shows the day', () => {
    const zoned = fc.constantFrom(...ZONES);
    const days = fc.integer({ min: Date.UTC(2000, 0) / DAY, max: Date.UTC(2040, 0) / DAY });
    fc.assert(
      fc.property(zoned, days, (zone, day) => {
        const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
        const start = startOfDay(day * DAY, zone);
        const date = new Date(day * DAY).toISOString().slice(0, 10);
        expect(format.format(start)).to.equal(date);
        expect(format.format(start - 1) < date, `${zone} ${date}`).to.equal(true);
      }),
      { numRuns: 400 },
    );
  });

  it('is the moment of the next day where the zone skipped one', () => {
    const start = startOfDay(Date.UTC(2011, 11, 30), 'Pacific/Apia');
    expect(start).to.equal(startOfDay(Date.UTC(2011, 11, 31), 'Pacific/Apia'));
  });

  it('takes names of the IANA alone', () => {
    expect(ZONES.filter((zone) => !isZone(zone))).to.deep.equal([]);
    const wrong = ['', 'CET+1', 'Europe/Berlim', '+01:00', 'Europe', 'constructor', '../UTC'];
    expect(wrong.filter(isZone)).to.deep.equal([]);
  });
});
