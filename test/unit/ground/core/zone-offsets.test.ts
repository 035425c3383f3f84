import { expect } from 'chai';
import fc from 'fast-check';
import * as parts from '../../../../runtime/ground/core/calendar.js';
import { isZone, nearestZone, zoneOffsets } from '../../../../runtime/ground/core/zone-offsets.js';

/** The local time that Intl gives. */
function intl(zone: string, time: number): string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return format.format(time).replace(', ', ' ');
}

const two = (number: number): string => String(number).padStart(2, '0');

function ours(zone: string, time: number): string {
  const local = Math.floor(time) + (zoneOffsets(zone)?.at(time) ?? NaN);
  const day = `${parts.year(local)}-${two(parts.month(local))}-${two(parts.dayOfMonth(local))}`;
  return `${day} ${two(parts.hour(local))}:${two(parts.minute(local))}:${two(parts.second(local))}`;
}

/** Zones with changes on odd minutes, of half an hour, over the date line, twice a year, and none. */
const ZONES = [
  ...[
    'Europe/Berlin',
    'America/New_York',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'UTC',
  ],
  ...[
    'Pacific/Apia',
    'Africa/Casablanca',
    'Pacific/Chatham',
    'Asia/Tehran',
    'America/Sao_Paulo',
    'Asia/Gaza',
  ],
];

describe('offsets of time zones', () => {
  it('are those of Intl at any time', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2040, 0, 1) }),
        (zone, time) => {
          expect(ours(zone, time), `${zone} ${time}`).to.equal(intl(zone, time));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are those of Intl around the changes of a year, to the second', () => {
    for (const zone of ZONES) {
      const offsets = zoneOffsets(zone);
      let last = offsets?.at(Date.UTC(2025, 0, 1)) ?? NaN;
      for (let day = Date.UTC(2025, 0, 1); day < Date.UTC(2026, 0, 1); day += 86_400_000) {
        const next = offsets?.at(day) ?? NaN;
        if (next === last) continue;
        last = next;
        for (let at = day - 86_400_000; at <= day; at += 600_000)
          for (const time of [at - 1, at])
            expect(ours(zone, time), `${zone} ${time}`).to.equal(intl(zone, time));
      }
    }
  });

  it('of names that are no zones do not exist', () => {
    for (const name of ['Europe/Berln', '', '+01:00', 'x'.repeat(1000), '__proto__', 'Europe/Berlin ']) {
      expect(isZone(name), name).to.equal(false);
      expect(zoneOffsets(name), name).to.equal(undefined);
    }
    expect(nearestZone('Europe/Berln')).to.equal('Europe/Berlin');
  });

  it('names of zones are not bound to their case', () => {
    expect(zoneOffsets('europe/berlin')?.at(Date.UTC(2026, 6, 1))).to.equal(7_200_000);
  });

  it('are found at the ends of time', () => {
    for (const time of [-8.64e15, 8.64e15])
      expect(zoneOffsets('Europe/Berlin')?.at(time)).to.be.within(0, 7_200_000);
  });
});

describe('parts of a time', () => {
  it('are those of Date', () => {
    fc.assert(
      fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (time) => {
        const date = new Date(time);
        expect([
          parts.year(time),
          parts.month(time),
          parts.dayOfMonth(time),
          parts.hour(time),
          parts.minute(time),
          parts.second(time),
          parts.weekday(time) % 7,
          parts.isWeekend(time),
        ]).to.deep.equal([
          date.getUTCFullYear(),
          date.getUTCMonth() + 1,
          date.getUTCDate(),
          date.getUTCHours(),
          date.getUTCMinutes(),
          date.getUTCSeconds(),
          date.getUTCDay(),
          date.getUTCDay() % 6 === 0 ? 1 : 0,
        ]);
      }),
      { numRuns: 1000 },
    );
  });
});
