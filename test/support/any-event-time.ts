import type { EventTimes } from '../../runtime/ground/core/event-time.js';

/** For tests whose event times are small numbers, such as 1 and 2. */
export const ANY_EVENT_TIME: EventTimes = { oldest: -Infinity, ahead: Infinity };
