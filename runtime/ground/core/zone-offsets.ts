/**
 * Offsets of IANA time zones. `Intl` takes microseconds for one time, so each zone keeps its offsets by year, found with
 * `Intl` once: a lookup is then a search among the few changes of a year.
 */
import { nearest } from './nearest.js';

const DAY = 86_400_000;
const YEAR = 366 * DAY;
/** The limit of ECMAScript's Date, in epoch milliseconds. There are no days beyond it. */
export const FARTHEST = 8.64e15;
/** No zone changed its offset twice within this time since 1970. */
const APART = 4 * DAY;
/** The zones and the years of each that are kept; more are found again when they are needed. */
const MOST_ZONES = 1000;
const MOST_YEARS = 200;

/** The offsets of one span of `YEAR` milliseconds: from `starts[i]` on, local time is UTC plus `offsets[i]`. */
interface Span {
  readonly starts: readonly number[];
  readonly offsets: readonly number[];
}

export class ZoneOffsets {
  readonly #format: Intl.DateTimeFormat;
  readonly #spans = new Map<number, Span>();
  #latest: Span | undefined;
  #from = NaN;

  /** @throws RangeError if there is no such zone */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Milliseconds to add to a time to get the local time. The time must be within `FARTHEST`. */
  at(time: number): number {
    const number = Math.floor(time / YEAR);
    if (this.#latest === undefined || number !== this.#from) {
      this.#latest = this.#span(number);
      this.#from = number;
    }
    const { starts, offsets } = this.#latest;
    let i = starts.length - 1;
    while (i > 0 && (starts[i] as number) > time) i--;
    return offsets[i] as number;
  }

  #span(number: number): Span {
    let span = this.#spans.get(number);
    if (span === undefined) {
      if (this.#spans.size >= MOST_YEARS) this.#spans.clear();
      span = this.#find(number * YEAR, (number + 1) * YEAR);
      this.#spans.set(number, span);
    }
    return span;
  }

  /** Looks at a time every few days, and for each change between two of them finds its second by halving. */
  #find(start: number, end: number): Span {
    const starts = [start];
    const offsets = [this.#ask(start)];
    let before = start;
    let offset = offsets[0] as number;
    while (before < end) {
      const after = Math.min(before + APART, end);
      const next = this.#ask(after);
      if (next !== offset) {
        let [low, high] = [before, after];
        while (high - low > 1000) {
          const middle = 1000 * Math.floor((low + high) / 2000);
          if (this.#ask(middle) === offset) low = middle;
          else high = middle;
        }
        starts.push(high);
        offsets.push(next);
        offset = next;
      }
      before = after;
    }
    return { starts, offsets };
  }

  #ask(time: number): number {
    // A local time must not lie beyond the last day that Date has.
    const most = FARTHEST - 2 * DAY;
    const whole = 1000 * Math.floor(Math.max(-most, Math.min(most, time)) / 1000);
    let [year, month, day, hour, minute, second, isBefore] = [0, 0, 0, 0, 0, 0, false];
    for (const { type, value } of this.#format.formatToParts(whole)) {
      if (type === 'year') year = Number(value);
      else if (type === 'month') month = Number(value);
      else if (type === 'day') day = Number(value);
      else if (type === 'hour') hour = Number(value);
      else if (type === 'minute') minute = Number(value);
      else if (type === 'second') second = Number(value);
      else if (type === 'era') isBefore = value.startsWith('B');
    }
    const local = new Date(0);
    local.setUTCFullYear(isBefore ? 1 - year : year, month - 1, day);
    local.setUTCHours(hour, minute, second);
    return local.getTime() - whole;
  }
}

const ZONES = new Map<string, ZoneOffsets | undefined>();

/** The offsets of a zone; undefined if there is no such zone. */
export function zoneOffsets(name: string): ZoneOffsets | undefined {
  const known = ZONES.get(name);
  if (known !== undefined || ZONES.has(name)) return known;
  if (ZONES.size >= MOST_ZONES) ZONES.clear();
  const zone = isZone(name) ? new ZoneOffsets(name) : undefined;
  ZONES.set(name, zone);
  return zone;
}

/** Names have at most 40 characters; longer texts are not given to `Intl`. An offset such as +01:00 is no zone. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,39}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The zone whose name is most like a misspelt one. */
export function nearestZone(name: string): string | undefined {
  return nearest(name, Intl.supportedValuesOf('timeZone'));
}
