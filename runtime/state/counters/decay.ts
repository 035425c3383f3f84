import { SeriesKind } from '../store/codec/counter-record.js';
import type { Additions, EncodedBody } from './buckets.js';

/**
 * Adds to a sum in which an event counts by half after each half-life: its value at a time, in epoch milliseconds. The
 * order of the events makes no difference, apart from rounding.
 * @param before null if there is no such series
 */
export function addDecayed(
  before: Buffer | null,
  { times, amounts }: Additions,
  halfLife: number,
): EncodedBody {
  let value = before === null ? 0 : before.readDoubleLE(0);
  let at = before === null ? -Infinity : before.readDoubleLE(8);
  for (let i = 0; i < times.length; i++) {
    const time = times[i] as number;
    if (at === -Infinity) at = time;
    const latest = Math.max(at, time);
    value = decayed(value, at, latest, halfLife) + decayed(amounts[i] as number, time, latest, halfLife);
    at = latest;
  }
  const body = Buffer.allocUnsafe(16);
  body.writeDoubleLE(value, 0);
  body.writeDoubleLE(at, 8);
  return { kind: SeriesKind.decay, width: 0, body };
}

function decayed(value: number, at: number, later: number, halfLife: number): number {
  return value * 2 ** ((at - later) / halfLife);
}
