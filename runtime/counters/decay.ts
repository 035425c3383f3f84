import { SeriesKind } from '../store/codec/counter-record.js';
import type { EncodedBody } from './buckets.js';

/** A sum in which an event counts by half after each half-life: its value at a time, in epoch milliseconds. */
export interface Decayed {
  readonly value: number;
  readonly at: number;
}

export function decodeDecay(body: Buffer): Decayed {
  return { value: body.readDoubleLE(0), at: body.readDoubleLE(8) };
}

export function encodeDecay({ value, at }: Decayed): EncodedBody {
  const body = Buffer.alloc(16);
  body.writeDoubleLE(value, 0);
  body.writeDoubleLE(at, 8);
  return { kind: SeriesKind.decay, width: 0, body };
}

/** Adds an event. The order of the events makes no difference, apart from rounding. */
export function addDecayed(
  before: Decayed | undefined,
  time: number,
  amount: number,
  halfLife: number,
): Decayed {
  if (before === undefined) return { value: amount, at: time };
  const at = Math.max(before.at, time);
  const value = decayedTo(before, at, halfLife) + decayedTo({ value: amount, at: time }, at, halfLife);
  return { value, at };
}

export function decayedTo({ value, at }: Decayed, now: number, halfLife: number): number {
  return value * 2 ** ((at - now) / halfLife);
}
