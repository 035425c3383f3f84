import { zoneOffsets } from './zone-offsets.js';

const DAY_MS = 86_400_000;

/** A date without a time of day. */
export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

/**
 * The first moment of a day in a time zone, epoch milliseconds: midnight, or where a change of the clocks skips midnight the
 * first moment after it.
 * @param utc the midnight of the day in UTC, whose date is meant
 */
export function startOfDay(utc: number, zone: string): number {
  // The offset changes at most once within two days, so it is that of the day before or that of the day after.
  const offsetAt = (at: number): number => zoneOffsets(zone)?.at(at) ?? 0;
  const [before, after] = [utc - DAY_MS, utc + DAY_MS].map((at) => utc - offsetAt(at));
  const starts = [before, after].filter((at): at is number => at !== undefined && at + offsetAt(at) === utc);
  if (starts.length > 0) return Math.min(...starts);
  // Midnight does not exist: the clocks go forward over it, at the moment that both offsets meet.
  return Math.max(before ?? utc, after ?? utc);
}

/** The moment of a local time such as `2026-11-28T20:00`, epoch milliseconds; NaN if it is none. */
export function momentOf(local: string, zone: string): number {
  const utc = Date.parse(`${local}Z`);
  const offsets = zoneOffsets(zone);
  if (offsets === undefined || Number.isNaN(utc)) return utc;
  return utc - offsets.at(utc - offsets.at(utc));
}

/** The reverse, with minutes. */
export function localTime(moment: number, zone: string): string {
  return new Date(moment + (zoneOffsets(zone)?.at(moment) ?? 0)).toISOString().slice(0, 16);
}
