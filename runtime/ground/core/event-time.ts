import { TIME_FORMS, timestampOf } from './timestamp.js';
import { describe } from './value-fit.js';

/**
 * The range of accepted event times. A row from the far future would never be replaced; one from 1970 is always
 * expired.
 */
export interface EventTimes {
  /** Epoch milliseconds. */
  readonly oldest: number;
  /** How far in the future a time may be, in milliseconds. Clocks of different machines differ. */
  readonly ahead: number;
}

/** Units that a number may use by mistake, the factor that converts it to milliseconds, and the advice. */
const UNITS = [
  { name: 'seconds', factor: 1e3, remedy: 'multiply by 1000' },
  { name: 'microseconds', factor: 1e-3, remedy: 'divide by 1000' },
  { name: 'nanoseconds', factor: 1e-6, remedy: 'divide by 1000000' },
] as const;

/**
 * Reads an event time from a request body.
 * @param name of the field
 * @param now epoch milliseconds
 * @returns epoch milliseconds, or why the value is rejected
 */
export function readEventTime(
  value: unknown,
  name: string,
  now: number,
  { oldest, ahead }: EventTimes,
): number | { readonly code: string; readonly detail: string } {
  const latest = now + ahead;
  const time = timestampOf(value);
  if (time >= oldest && time <= latest) return time;
  const unit = UNITS.find(
    ({ factor }) => typeof value === 'number' && value * factor >= oldest && value * factor <= latest,
  );
  const hint = unit === undefined ? '' : `; this looks like ${unit.name}: ${unit.remedy}`;
  const found = describe(value);
  if (Number.isNaN(time))
    return { code: 'wrong_type', detail: `${name}: expected ${TIME_FORMS}, found ${found}${hint}` };
  const [code, expected] =
    time < oldest
      ? ['too_long_ago', `${textOf(oldest)} or later`]
      : ['in_the_future', `a time at most ${ahead / 1000} s after now (${textOf(now)})`];
  return { code, detail: `${name}: expected ${expected}, found ${found} (${textOf(time)})${hint}` };
}

/** Formats a time as ISO 8601 with milliseconds. @param time that a Date can hold */
function textOf(time: number): string {
  return new Date(time).toISOString();
}
