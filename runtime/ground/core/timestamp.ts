/** The grammar of a time as a string: a date, an optional time of day, and an optional offset from UTC. */
export const TIME_PATTERN =
  '^(\\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])' +
  '(?:[Tt ]([01]\\d|2[0-3]):([0-5]\\d)(?::([0-5]\\d)(?:[.,](\\d{1,9}))?)?' +
  '\\s?(?:[Zz]|([+-])([01]\\d|2[0-3])(?::?([0-5]\\d))?)?)?$';
const ISO_8601 = new RegExp(TIME_PATTERN);

/** The maximum length of a time as a string. */
export const MAX_TIME_LENGTH = 40;

/** The accepted forms of a time, for messages. */
export const TIME_FORMS = 'epoch milliseconds, or ISO 8601 text such as 2026-01-31T09:30:00Z';

/** The largest time that a Date can hold: 100,000,000 days before or after 1970. */
export const MAX_TIME = 8.64e15;

/** A day and a minute in UTC, for people; `unknown` if it is not a time. */
export function timeText(time: number): string {
  return Math.abs(time) <= MAX_TIME ? `${new Date(time).toISOString().slice(0, -8)}Z` : 'unknown';
}

/**
 * Converts a JSON value to epoch milliseconds. It accepts a number of milliseconds, or an ISO 8601 string such as
 * `2026-01-31`,
 * `2026-01-31T09:30:00.5Z` or `2026-01-31 09:30+02:00`. A string without an offset is UTC on every machine. It returns
 * NaN for anything else, also for a day that does not exist in the calendar. Bodies, files, streams, flags, YAML and
 * expressions all use this parser. docs/expressions.md lists the forms.
 */
export function timestampOf(value: unknown): number {
  if (typeof value === 'number') return Math.abs(value) <= MAX_TIME ? value : NaN;
  if (typeof value !== 'string' || value.length > MAX_TIME_LENGTH) return NaN;
  const parts = ISO_8601.exec(value);
  if (parts === null) return NaN;
  const fraction = (parts[7] ?? '').padEnd(3, '0').slice(0, 3);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  const offset = (parts[8] === '-' ? -1 : 1) * (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists) return NaN;
  date.setUTCHours(hour || 0, (minute || 0) - offset, second || 0, Number(fraction));
  return date.getTime();
}
