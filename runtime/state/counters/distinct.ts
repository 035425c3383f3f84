/**
 * Counts distinct values in a window. Up to MOST_EXACT values, the count is exact. Beyond, it is a HyperLogLog (Flajolet
 * et al., 2007) over a sliding window (Chabchoub and Hébrail, 2010): each register keeps the ranks that can still become its
 * maximum, each with its bucket. The standard error is 1.04 / √256 = 6.5 %.
 *
 * The counts of all windows are computed when a value is added, so a reader only looks one up, as among buckets.
 */
import { murmur3 } from '../../ground/core/murmur3.js';
import { SeriesKind } from '../store/codec/counter-record.js';
import { uint32At } from '../store/codec/numbers-at.js';
import { bucketsLength, epochOf, MOST_OFFSET, type Additions, type EncodedBody } from './buckets.js';

/** Values up to which a count is exact. */
export const MOST_EXACT = 128;
const REGISTER_BITS = 8;
const REGISTERS = 1 << REGISTER_BITS;
const MOST_RANK = 33 - REGISTER_BITS;
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);
/** Bytes of a value: its hash, and how much older than the newest bucket the newest bucket is that has it. */
const ENTRY = 5;

/** By rank: 2 to the power of -rank. */
const SHARES = Float64Array.from({ length: MOST_RANK + 1 }, (_, rank) => 2 ** -rank);

export function hashOfValue(text: string): number {
  return murmur3(Buffer.from(text));
}

// The values of the series that is being changed: by newest bucket that has it, newest first; then by rank, highest first.
const hashes = new Uint32Array(REGISTERS * MOST_RANK + 1);
const epochs = new Float64Array(REGISTERS * MOST_RANK + 1);
let count = 0;
let isSketch = false;

/** By register: the highest rank of the values so far. */
const ranks = new Uint8Array(REGISTERS);

/** The buckets in which the count is a different one, newest first, and the number of values in them and in newer ones. */
const steps = new Float64Array(MOST_OFFSET + 1);
const counts = new Float64Array(MOST_OFFSET + 1);

/**
 * Adds values, and drops those whose bucket is older than `oldest`.
 * @param before null if there is no such series
 * @param beforeWidth as in the head of the series
 * @param width length of a bucket, milliseconds
 */
export function addValues(
  before: Buffer | null,
  beforeWidth: number,
  { times, amounts }: Additions,
  width: number,
  oldest: number,
): EncodedBody {
  isSketch = beforeWidth === 1;
  count = before === null ? 0 : decode(before, oldest);
  for (let i = 0; i < times.length; i++) {
    const epoch = epochOf(times[i] as number, width);
    if (epoch < oldest) continue;
    if (isSketch) addToSketch(amounts[i] as number, epoch);
    else addExact(amounts[i] as number, epoch);
    if (!isSketch && count > MOST_EXACT) becomeSketch();
  }
  if (count === 0) isSketch = false;
  return encode();
}

/** Returns the number of values whose bucket is not older than `oldest`. */
function decode(body: Buffer, oldest: number): number {
  const newest = uint32At(body, 0);
  let at = bucketsLength(body[4] as number);
  let i = 0;
  for (; at < body.length; at += ENTRY, i++) {
    const epoch = newest - (body[at + 4] as number);
    if (epoch < oldest) break;
    hashes[i] = uint32At(body, at);
    epochs[i] = epoch;
  }
  return i;
}

function addExact(hash: number, epoch: number): void {
  for (let i = 0; i < count; i++) {
    if (hashes[i] !== hash) continue;
    if ((epochs[i] as number) >= epoch) return;
    take(i);
    break;
  }
  insert(hash, epoch);
}

/** A value is kept unless its register has one that is not older and whose rank is not lower. */
function addToSketch(hash: number, epoch: number): void {
  const register = registerOf(hash);
  const rank = rankOf(hash);
  for (let i = 0; i < count; i++) {
    const other = hashes[i] as number;
    if (registerOf(other) !== register) continue;
    if ((epochs[i] as number) >= epoch && rankOf(other) >= rank) return;
    if ((epochs[i] as number) <= epoch && rankOf(other) <= rank) take(i--);
  }
  insert(hash, epoch);
}

function becomeSketch(): void {
  isSketch = true;
  ranks.fill(0);
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const hash = hashes[i] as number;
    const rank = rankOf(hash);
    if (rank <= (ranks[registerOf(hash)] as number)) continue;
    ranks[registerOf(hash)] = rank;
    hashes[kept] = hash;
    epochs[kept++] = epochs[i] as number;
  }
  count = kept;
}

function take(at: number): void {
  hashes.copyWithin(at, at + 1, count);
  epochs.copyWithin(at, at + 1, count);
  count--;
}

function insert(hash: number, epoch: number): void {
  const rank = rankOf(hash);
  let at = 0;
  while (at < count && (epochs[at] as number) > epoch) at++;
  while (at < count && epochs[at] === epoch && rankOf(hashes[at] as number) > rank) at++;
  hashes.copyWithin(at + 1, at, count);
  epochs.copyWithin(at + 1, at, count);
  hashes[at] = hash;
  epochs[at] = epoch;
  count++;
}

function encode(): EncodedBody {
  const newest = count === 0 ? 0 : (epochs[0] as number);
  while (count > 0 && newest - (epochs[count - 1] as number) > MOST_OFFSET) count--;
  const buckets = isSketch ? countSketch() : countExact();
  const body = Buffer.allocUnsafe(bucketsLength(buckets) + count * ENTRY);
  body.writeUInt32LE(newest, 0);
  let at = body.writeUInt8(buckets, 4);
  for (let i = 0; i < buckets; i++) body[at++] = newest - (steps[i] as number);
  for (let i = 0; i < buckets; i++) at = body.writeUInt32LE(counts[i] as number, at);
  for (let i = 0; i < count; i++) {
    at = body.writeUInt32LE(hashes[i] as number, at);
    body[at++] = newest - (epochs[i] as number);
  }
  return { kind: SeriesKind.distinct, width: isSketch ? 1 : 0, body };
}

/** Sets `steps` and `counts`; returns their number. */
function countExact(): number {
  let buckets = 0;
  for (let i = 0; i < count; i++) {
    if (i > 0 && epochs[i] !== epochs[i - 1]) buckets++;
    steps[buckets] = epochs[i] as number;
    counts[buckets] = i + 1;
  }
  return count === 0 ? 0 : buckets + 1;
}

/** Sets `steps` and `counts`; returns their number. */
function countSketch(): number {
  ranks.fill(0);
  // Multiples of 2^-25 up to 2^8: a float adds them without rounding, in any order.
  let sum = REGISTERS;
  let empty = REGISTERS;
  let buckets = 0;
  for (let i = 0; i < count; i++) {
    const register = registerOf(hashes[i] as number);
    const rank = rankOf(hashes[i] as number);
    const was = ranks[register] as number;
    if (rank > was) {
      ranks[register] = rank;
      sum += (SHARES[rank] as number) - (SHARES[was] as number);
      if (was === 0) empty--;
    }
    if (i + 1 < count && epochs[i] === epochs[i + 1]) continue;
    steps[buckets] = epochs[i] as number;
    counts[buckets++] = estimate(sum, empty);
  }
  return buckets;
}

/**
 * @param sum over all registers: 2 to the power of -rank
 * @param empty the number of registers without values
 */
function estimate(sum: number, empty: number): number {
  const raw = (ALPHA * REGISTERS * REGISTERS) / sum;
  const counted = raw <= 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : raw;
  // More than there are hashes cannot be counted.
  return Math.min(0xffffffff, Math.round(counted));
}

function registerOf(hash: number): number {
  return hash >>> (32 - REGISTER_BITS);
}

function rankOf(hash: number): number {
  return Math.min(32 - REGISTER_BITS, Math.clz32(hash << REGISTER_BITS)) + 1;
}
