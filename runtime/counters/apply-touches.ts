import {
  SeriesKind,
  type CountedMark,
  type CounterRecord,
  type StoredSeries,
} from '../store/codec/counter-record.js';
import {
  addToBuckets,
  bucketWidth,
  decodeBuckets,
  encodeBuckets,
  epochOf,
  oldestEpoch,
  type EncodedBody,
} from './buckets.js';
import { addDecayed, decodeDecay, encodeDecay } from './decay.js';
import { addValues, decodeValues, encodeValues, NO_VALUES } from './distinct.js';
import type { Series } from './series.js';

/** What an event does to a record. */
export interface Touch {
  /** The halves of the event's id, unsigned. */
  readonly identity: readonly [number, number];
  /** Epoch milliseconds. */
  readonly time: number;
  readonly additions: readonly Addition[];
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

const seconds = (time: number): number => Math.min(0xffffffff, Math.ceil(time / 1000));

/** Counts events in a record without remembering their ids: a rebuild counts each event of the ledger once. */
export function addEvents(before: CounterRecord, touches: readonly Touch[], now: number): Applied {
  const { record, expires } = applyTouches(before, touches, [], 0, now);
  const { marks, markedUntil } = before;
  return { record: { ...record, marks, markedUntil }, expires };
}

/**
 * Counts events in a record. The events are new to it. Parts of other versions of the project stay until they expire.
 * @param marks the ids that the new record remembers, apart from those of the touches
 * @param now epoch milliseconds
 */
export function applyTouches(
  before: CounterRecord,
  touches: readonly Touch[],
  marks: readonly CountedMark[],
  markedUntil: number,
  now: number,
): Applied {
  const stored = new Map<string, StoredSeries>();
  for (const one of before.series) if (one.expires > now / 1000) stored.set(`${one.low} ${one.high}`, one);
  const bySeries = new Map<string, { series: Series; added: { time: number; amount: number }[] }>();
  for (const { time, additions } of touches)
    for (const { series, amount } of additions) {
      const key = `${series.low} ${series.high}`;
      const known = bySeries.get(key);
      if (known === undefined) bySeries.set(key, { series, added: [{ time, amount }] });
      else known.added.push({ time, amount });
    }
  for (const [key, { series, added }] of bySeries) {
    const { low, high, ttl } = series;
    const was = stored.get(key);
    const body = addTo(was, series, added, now);
    const newest = added.reduce((latest, { time }) => Math.max(latest, time), 0);
    const expires = Math.max(was?.expires ?? 0, seconds(Math.max(newest, now) + ttl));
    stored.set(key, { low, high, expires, ...body });
  }
  const series = [...stored.values()];
  const counted = touches.map(({ identity: [low, high], time }) => ({ low, high, time: seconds(time) }));
  return {
    record: { marks: [...marks, ...counted], markedUntil, series },
    expires: 1000 * series.reduce((latest, one) => Math.max(latest, one.expires), seconds(now)),
  };
}

/** Adds events to one series. */
function addTo(
  before: StoredSeries | undefined,
  { kind, window, halfLife }: Series,
  added: readonly { readonly time: number; readonly amount: number }[],
  now: number,
): EncodedBody {
  switch (kind) {
    case SeriesKind.last: {
      const body = Buffer.alloc(8);
      const was = before === undefined ? -Infinity : before.body.readDoubleLE(0);
      body.writeDoubleLE(
        added.reduce((last, { time }) => Math.max(last, time), was),
        0,
      );
      return { kind, width: 0, body };
    }
    case SeriesKind.decay: {
      let decayed = before === undefined ? undefined : decodeDecay(before.body);
      for (const { time, amount } of added) decayed = addDecayed(decayed, time, amount, halfLife);
      return encodeDecay(decayed ?? { value: 0, at: now });
    }
    case SeriesKind.distinct: {
      const width = bucketWidth(window);
      const values = before === undefined ? NO_VALUES : decodeValues(before.body, before.width);
      const found = added.map(({ time, amount }) => ({ hash: amount, epoch: epochOf(time, width) }));
      return encodeValues(addValues(values, found, oldestEpoch(now, window)));
    }
    default: {
      const width = bucketWidth(window);
      const oldest = oldestEpoch(now, window);
      let buckets = before === undefined ? [] : decodeBuckets(before.body, before.width);
      for (const { time, amount } of added)
        buckets = addToBuckets(buckets, epochOf(time, width), amount, oldest);
      return encodeBuckets(buckets);
    }
  }
}
