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

/** Sums by bucket, newest first. */
export interface Bucket {
  readonly epoch: number;
  readonly sum: number;
}

/** A bucket can be at most this much older than the newest one of its series. */
const MOST_OFFSET = 255;
const HEAD = 5;

export interface EncodedBody {
  readonly kind: number;
  readonly width: number;
  readonly body: Buffer;
}

export function decodeBuckets(body: Buffer, width: number): Bucket[] {
  const count = body[4] ?? 0;
  const newest = count === 0 ? 0 : body.readUInt32LE(0);
  const buckets: Bucket[] = [];
  let before = 0;
  for (let i = 0; i < count; i++) {
    const at = HEAD + count + i * width;
    const through = width === 8 ? body.readDoubleLE(at) : body.readUInt32LE(at);
    buckets.push({ epoch: newest - (body[HEAD + i] ?? 0), sum: through - before });
    before = through;
  }
  return buckets;
}

/** @param buckets newest first */
export function encodeBuckets(buckets: readonly Bucket[]): EncodedBody {
  const newest = buckets[0]?.epoch ?? 0;
  const kept = buckets.filter(({ epoch }) => newest - epoch <= MOST_OFFSET);
  let total = 0;
  let isSmall = true;
  for (const { sum } of kept) {
    total += sum;
    isSmall &&= Number.isInteger(total) && total >= 0 && total <= 0xffffffff;
  }
  const width = isSmall ? 4 : 8;
  const body = Buffer.alloc(HEAD + kept.length * (1 + width));
  body.writeUInt32LE(newest, 0);
  body[4] = kept.length;
  let through = 0;
  for (const [i, { epoch, sum }] of kept.entries()) {
    through += sum;
    body[HEAD + i] = newest - epoch;
    const at = HEAD + kept.length + i * width;
    if (isSmall) body.writeUInt32LE(through, at);
    else body.writeDoubleLE(through, at);
  }
  return { kind: SeriesKind.buckets, width, body };
}

/** Adds to a bucket. Returns the buckets, newest first, without those older than `oldest`. */
export function addToBuckets(
  buckets: readonly Bucket[],
  epoch: number,
  amount: number,
  oldest: number,
): Bucket[] {
  const kept = buckets.filter((bucket) => bucket.epoch >= oldest);
  if (epoch < oldest) return kept;
  const at = kept.findIndex((bucket) => bucket.epoch <= epoch);
  const found = kept[at];
  if (found?.epoch === epoch) kept[at] = { epoch, sum: found.sum + amount };
  else kept.splice(at < 0 ? kept.length : at, 0, { epoch, sum: amount });
  return kept;
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
