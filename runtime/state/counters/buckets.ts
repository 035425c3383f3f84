import { uint32At } from '../store/codec/numbers-at.js';
import { SeriesKind } from '../store/codec/counter-record.js';

/** A window is cut into this many buckets. A count can contain events that are one bucket older than the window. */
export const BUCKETS = 24;

/** Length of a bucket in milliseconds. */
export function bucketWidth(window: number): number {
  return Math.ceil(window / BUCKETS);
}

/** The number of the bucket that holds a time. */
export function epochOf(time: number, width: number): number {
  return Math.floor(time / width);
}

/** The oldest bucket that a window reads at a time. */
export function oldestEpoch(now: number, window: number): number {
  return epochOf(now - window, bucketWidth(window));
}

/** When the oldest bucket that a window reads is the next one. */
export function nextEpoch(now: number, window: number): number {
  return (oldestEpoch(now, window) + 1) * bucketWidth(window) + window;
}

/** A bucket can be at most this much older than the newest one of its series, so that the number of buckets fits a byte. */
export const MOST_OFFSET = 254;
const HEAD = 5;

export interface EncodedBody {
  readonly kind: number;
  readonly width: number;
  readonly body: Buffer;
}

/** What is added to a series, by position. */
export interface Additions {
  /** Epoch milliseconds. */
  readonly times: readonly number[];
  /** For distinct values, their hashes. */
  readonly amounts: readonly number[];
}

// The buckets of the series that is being changed, newest first. Millions of events a minute would otherwise each make
// dozens of objects.
const epochs = new Float64Array(MOST_OFFSET + 2);
const sums = new Float64Array(MOST_OFFSET + 2);

/**
 * Adds to buckets, and drops those that are older than `oldest`.
 * @param before null if there is no such series
 * @param beforeWidth as in the head of the series
 * @param width length of a bucket, milliseconds
 */
export function addToBuckets(
  before: Buffer | null,
  beforeWidth: number,
  { times, amounts }: Additions,
  width: number,
  oldest: number,
): EncodedBody {
  let count = before === null ? 0 : decode(before, beforeWidth, oldest);
  for (let i = 0; i < times.length; i++) {
    const epoch = epochOf(times[i] as number, width);
    if (epoch < oldest) continue;
    let at = 0;
    while (at < count && (epochs[at] as number) > epoch) at++;
    if (at === count || epochs[at] !== epoch) {
      epochs.copyWithin(at + 1, at, count);
      sums.copyWithin(at + 1, at, count);
      epochs[at] = epoch;
      sums[at] = 0;
      count++;
      while ((epochs[0] as number) - (epochs[count - 1] as number) > MOST_OFFSET) count--;
    }
    if (at < count) sums[at] = (sums[at] as number) + (amounts[i] as number);
  }
  return encode(count);
}

/** Returns the number of buckets that are not older than `oldest`. */
function decode(body: Buffer, width: number, oldest: number): number {
  const count = body[4] as number;
  const newest = uint32At(body, 0);
  let before = 0;
  for (let i = 0; i < count; i++) {
    const epoch = newest - (body[HEAD + i] as number);
    if (epoch < oldest) return i;
    const at = HEAD + count + i * width;
    const through = width === 8 ? body.readDoubleLE(at) : uint32At(body, at);
    epochs[i] = epoch;
    sums[i] = through - before;
    before = through;
  }
  return count;
}

function encode(count: number): EncodedBody {
  let total = 0;
  let isSmall = true;
  for (let i = 0; i < count; i++) {
    total += sums[i] as number;
    isSmall &&= Number.isInteger(total) && total >= 0 && total <= 0xffffffff;
  }
  const width = isSmall ? 4 : 8;
  const body = Buffer.allocUnsafe(HEAD + count * (1 + width));
  const newest = count === 0 ? 0 : (epochs[0] as number);
  body.writeUInt32LE(newest, 0);
  body[4] = count;
  let through = 0;
  for (let i = 0; i < count; i++) {
    through += sums[i] as number;
    body[HEAD + i] = newest - (epochs[i] as number);
    const at = HEAD + count + i * width;
    if (isSmall) body.writeUInt32LE(through, at);
    else body.writeDoubleLE(through, at);
  }
  return { kind: SeriesKind.buckets, width, body };
}

/** The length of a body of buckets that are four bytes wide. */
export function bucketsLength(count: number): number {
  return HEAD + 5 * count;
}

/**
 * The sum of the buckets that are not older than `oldest`. The body lies in memory at `at`.
 * @param width as in the head of the series
 */
export function sumFrom(memory: Buffer, at: number, width: number, oldest: number): number {
  const count = memory[at + 4] as number;
  if (count === 0) return 0;
  const most = uint32At(memory, at) - oldest;
  // Usually every stored bucket is inside the window, so the first look is the last.
  let i = count - 1;
  while (i >= 0 && (memory[at + HEAD + i] as number) > most) i--;
  if (i < 0) return 0;
  const value = at + HEAD + count + i * width;
  return width === 8 ? memory.readDoubleLE(value) : uint32At(memory, value);
}
