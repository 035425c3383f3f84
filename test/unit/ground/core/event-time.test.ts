import { expect } from 'chai';
import fc from 'fast-check';
import { readEventTime } from '../../../../runtime/ground/core/event-time.js';

const NOW = Date.UTC(2026, 0, 31, 9, 30);
const HOUR = 3_600_000;
const TIMES = { oldest: Date.UTC(2000, 0, 1), ahead: HOUR };

const read = (value: unknown): unknown => readEventTime(value, 'event_time', NOW, TIMES);

function refusal(value: unknown): { readonly code: string; readonly detail: string } {
  const refused = readEventTime(value, 'event_time', NOW, TIMES);
  if (typeof refused === 'number') throw new Error(`${String(value)} was accepted as ${refused}`);
  return refused;
}

describe('event times', () => {
  it('are accepted from the oldest to the latest, both included', () => {
    for (const time of [TIMES.oldest, NOW, NOW + HOUR]) expect(read(time)).to.equal(time);
    expect(read('2026-01-31T10:30:00Z')).to.equal(NOW + HOUR);
    expect(refusal(TIMES.oldest - 1).code).to.equal('too_long_ago');
    expect(refusal(NOW + HOUR + 1).code).to.equal('in_the_future');
    expect(refusal('soon').code).to.equal('wrong_type');
  });

  it('are rejected with what was expected, what was found, and a likely cause', () => {
    expect(refusal(1_769_851_800).detail).to.equal(
      'event_time: expected 2000-01-01T00:00:00.000Z or later, found the number 1769851800 ' +
        '(1970-01-21T11:37:31.800Z); this looks like seconds: multiply by 1000',
    );
    expect(refusal('9999-01-01').detail).to.equal(
      'event_time: expected a time at most 3600 s after now (2026-01-31T09:30:00.000Z), ' +
        'found the text "9999-01-01" (9999-01-01T00:00:00.000Z)',
    );
    expect(refusal(1_769_851_800_000_000).detail).to.match(/this looks like microseconds: divide by 1000$/);
    expect(refusal(1_769_851_800_000_000_000).detail).to.match(/looks like nanoseconds: divide by 1000000$/);
    expect(refusal(5).detail).not.to.contain('looks like');
  });

  it('are recognized in seconds, for any time', () => {
    fc.assert(
      fc.property(fc.integer({ min: TIMES.oldest, max: NOW }), (time) => {
        expect(refusal(Math.ceil(time / 1000)).detail).to.contain('this looks like seconds');
      }),
    );
  });
});
