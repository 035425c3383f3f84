import { parseDuration } from '../../ground/api/duration.js';
import { row, wholeNumber } from './setting-row.js';
import type { EventTimes } from '../../ground/core/event-time.js';
import { timestampOf } from '../../ground/core/timestamp.js';

/** The accepted range of event times (runtime/ground/core/event-time.ts). */
export const FEATURE_SETTINGS = {
  oldestEventTime: row({
    env: 'MILLRACE_OLDEST_EVENT_TIME',
    value: 'TIME',
    default: '2000-01-01',
    description:
      'Oldest accepted event time of a feature row, and oldest accepted time of a feedback event. The default refuses times in seconds.',
    expected: 'a time such as 2000-01-01 or 2026-01-31T09:30:00Z',
    shared: true,
    parse: (text) => {
      const time = timestampOf(text);
      return Number.isNaN(time) ? undefined : time;
    },
  }),
  eventTimeAheadMs: row({
    env: 'MILLRACE_EVENT_TIME_AHEAD_MS',
    value: 'MS',
    default: '3600000',
    description:
      'How far in the future the event time of a feature row may be, in milliseconds. A row never replaces a row with a later event time.',
    expected: 'a number of milliseconds, 0 to 2592000000',
    shared: true,
    parse: wholeNumber(0, 2_592_000_000),
  }),
  counterHorizon: row({
    env: 'MILLRACE_COUNTER_HORIZON',
    value: 'TIME',
    default: '10m',
    description:
      'How long counters remember the ids of events, e.g. `1h`. Feedback that is sent again within this time counts once. The ids of keys with many events are kept up to twice as long and three minutes more. Older events are refused with `event_too_old`.',
    expected: 'a time from 1m to 7d, e.g. 10m',
    shared: true,
    parse: (text) => {
      const time = parseDuration(text);
      return time !== undefined && time >= 60_000 && time <= 604_800_000 ? time : undefined;
    },
  }),
} as const;

/** Returns the range of event times that the settings accept. */
export function eventTimesOf(settings: {
  readonly oldestEventTime: number;
  readonly eventTimeAheadMs: number;
}): EventTimes {
  return { oldest: settings.oldestEventTime, ahead: settings.eventTimeAheadMs };
}
