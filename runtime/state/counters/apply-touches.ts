import {
  MARK_BYTES,
  SeriesKind,
  type CounterRecord,
  type StoredSeries,
} from '../store/codec/counter-record.js';
import { addToBuckets, bucketWidth, oldestEpoch, type Additions, type EncodedBody } from './buckets.js';
import { addDecayed } from './decay.js';
import { addValues } from './distinct.js';
import type { Series } from './series.js';

/** What an event does to a record. */
export interface Touch {
  /** The halves of the event's id, unsigned. */
  readonly identity: readonly [number, number];
  /** Epoch milliseconds. */
  readonly time: number;
  readonly additions: readonly Addition[];
}

/** What an event does to the record at a key. */
export interface KeyedTouch extends Touch {
  readonly key: string;
}

export interface Addition {
  readonly series: Series;
  /** What is added; for distinct values, the hash of the value. */
  readonly amount: number;
}

export interface Applied {
  readonly record: CounterRecord;
  /** When the record may be dropped, epoch milliseconds. */
  readonly expires: number;
}

/** Epoch seconds as a record has them. @param time epoch milliseconds */
export function secondsOf(time: number): number {
  return Math.min(0xffffffff, Math.ceil(time / 1000));
}

/**
 * Counts events in a record. The events are new to it. Parts of other versions of the project stay until they expire.
 * @param marks the ids that the new record remembers, apart from those of the touches
 * @param now epoch milliseconds
 */
export function applyTouches(
  before: CounterRecord,
  touches: readonly Touch[],
  marks: Buffer,
  markedUntil: number,
  now: number,
): Applied {
  const { record, expires } = addEvents(before, touches, now);
  return { record: { marks: withMarks(marks, touches), markedUntil, series: record.series }, expires };
}

/** Counts events in a record without remembering their ids: a rebuild counts each event of the ledger once. */
export function addEvents(before: CounterRecord, touches: readonly Touch[], now: number): Applied {
  const series: StoredSeries[] = [];
  for (const one of before.series) if (one.expires > now / 1000) series.push(one);
  for (const added of bySeries(touches)) {
    const { low, high, ttl, kind: of, window } = added.series;
    let at = 0;
    while (at < series.length && (series[at]?.low !== low || series[at]?.high !== high)) at++;
    const was = series[at];
    const newest = added.times.reduce((latest, time) => Math.max(latest, time), now);
    // A window reads its oldest bucket until the bucket ends.
    const isCut = of === SeriesKind.buckets || of === SeriesKind.distinct;
    const expires = Math.max(was?.expires ?? 0, secondsOf(newest + ttl + (isCut ? bucketWidth(window) : 0)));
    const { kind, width, body } = addTo(was, added, now);
    series[at] = { low, high, expires, kind, width, body };
  }
  const expires = series.reduce((latest, one) => Math.max(latest, one.expires), secondsOf(now));
  return {
    record: { marks: before.marks, markedUntil: before.markedUntil, series },
    expires: 1000 * expires,
  };
}

interface Added extends Additions {
  readonly series: Series;
  readonly times: number[];
  readonly amounts: number[];
}

function bySeries(touches: readonly Touch[]): Added[] {
  const found: Added[] = [];
  for (const { time, additions } of touches)
    for (const { series, amount } of additions) {
      let at = 0;
      while (at < found.length && found[at]?.series !== series) at++;
      const known = found[at];
      if (known === undefined) found.push({ series, times: [time], amounts: [amount] });
      else {
        known.times.push(time);
        known.amounts.push(amount);
      }
    }
  return found;
}

function withMarks(marks: Buffer, touches: readonly Touch[]): Buffer {
  const all = Buffer.allocUnsafe(marks.length + touches.length * MARK_BYTES);
  all.set(marks);
  let at = marks.length;
  for (const { identity, time } of touches) {
    at = all.writeUInt32LE(identity[0], at);
    at = all.writeUInt32LE(identity[1], at);
    at = all.writeUInt32LE(secondsOf(time), at);
  }
  return all;
}

/** Adds events to one series. */
function addTo(before: StoredSeries | undefined, added: Added, now: number): EncodedBody {
  const { kind, window, halfLife } = added.series;
  const stored = before?.body ?? null;
  const storedWidth = before?.width ?? 0;
  switch (kind) {
    case SeriesKind.last: {
      const was = stored === null ? -Infinity : stored.readDoubleLE(0);
      const body = Buffer.alloc(8);
      body.writeDoubleLE(
        added.times.reduce((last, time) => Math.max(last, time), was),
        0,
      );
      return { kind, width: 0, body };
    }
    case SeriesKind.decay:
      return addDecayed(stored, added, halfLife);
    case SeriesKind.distinct:
      return addValues(stored, storedWidth, added, bucketWidth(window), oldestEpoch(now, window));
    default:
      return addToBuckets(stored, storedWidth, added, bucketWidth(window), oldestEpoch(now, window));
  }
}
