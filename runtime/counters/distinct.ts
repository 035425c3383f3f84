/**
 * Counts distinct values in a window. Up to MOST_EXACT values, the count is exact. Beyond, it is a HyperLogLog (Flajolet
 * et al., 2007) over a sliding window (Chabchoub and Hébrail, 2010): each register keeps the ranks that can still become its
 * maximum, each with its bucket. The standard error is 1.04 / √256 = 6.5 %.
 */
import { murmur3 } from '../core/murmur3.js';
import { SeriesKind } from '../store/codec/counter-record.js';
import { uint32At } from '../store/codec/numbers-at.js';
import type { EncodedBody } from './buckets.js';

/** Values up to which a count is exact. */
export const MOST_EXACT = 128;
const REGISTER_BITS = 8;
const REGISTERS = 1 << REGISTER_BITS;
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);
const HEAD = 6;
const ENTRY = 5;
const MOST_OFFSET = 255;

export function hashOfValue(text: string): number {
  return murmur3(Buffer.from(text));
}

/** The values of a window: each hash with the newest bucket that has it. */
export interface Values {
  readonly isSketch: boolean;
  readonly hashes: ReadonlyMap<number, number>;
}

export const NO_VALUES: Values = { isSketch: false, hashes: new Map() };

export function decodeValues(body: Buffer, width: number): Values {
  const newest = body.readUInt32LE(0);
  const count = body.readUInt16LE(4);
  const hashes = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const at = HEAD + i * ENTRY;
    hashes.set(body.readUInt32LE(at), newest - (body[at + 4] ?? 0));
  }
  return { isSketch: width === 1, hashes };
}

export function encodeValues({ isSketch, hashes }: Values): EncodedBody {
  const newest = Math.max(0, ...hashes.values());
  const kept = [...hashes].filter(([, epoch]) => newest - epoch <= MOST_OFFSET);
  const body = Buffer.alloc(HEAD + kept.length * ENTRY);
  body.writeUInt32LE(newest, 0);
  body.writeUInt16LE(kept.length, 4);
  for (const [i, [hash, epoch]] of kept.entries()) {
    const at = HEAD + i * ENTRY;
    body.writeUInt32LE(hash, at);
    body[at + 4] = newest - epoch;
  }
  return { kind: SeriesKind.distinct, width: isSketch ? 1 : 0, body };
}

/** Adds values of a bucket. Values of buckets older than `oldest` are dropped. */
export function addValues(
  values: Values,
  added: readonly { readonly hash: number; readonly epoch: number }[],
  oldest: number,
): Values {
  const hashes = new Map<number, number>();
  for (const [hash, epoch] of values.hashes) if (epoch >= oldest) hashes.set(hash, epoch);
  for (const { hash, epoch } of added)
    if (epoch >= oldest) hashes.set(hash, Math.max(epoch, hashes.get(hash) ?? epoch));
  if (values.isSketch && hashes.size > 0) return { isSketch: true, hashes: undominated(hashes) };
  return hashes.size <= MOST_EXACT
    ? { isSketch: false, hashes }
    : { isSketch: true, hashes: undominated(hashes) };
}

function registerOf(hash: number): number {
  return hash >>> (32 - REGISTER_BITS);
}

function rankOf(hash: number): number {
  return Math.min(32 - REGISTER_BITS, Math.clz32(hash << REGISTER_BITS)) + 1;
}

/** Drops every hash whose register has a newer one with a rank that is not lower. */
function undominated(hashes: ReadonlyMap<number, number>): Map<number, number> {
  const best = new Int8Array(REGISTERS);
  const sorted = [...hashes].sort(
    ([a, whenA], [b, whenB]) => whenB - whenA || rankOf(b) - rankOf(a) || a - b,
  );
  const kept = new Map<number, number>();
  for (const [hash, epoch] of sorted) {
    const register = registerOf(hash);
    const rank = rankOf(hash);
    if (rank <= (best[register] ?? 0)) continue;
    best[register] = rank;
    kept.set(hash, epoch);
  }
  return kept;
}

const ranks = new Uint8Array(REGISTERS);

/** By rank: 2 to the power of -rank. */
const SHARES = Float64Array.from({ length: 34 }, (_, rank) => 2 ** -rank);

/** The number of distinct values in buckets that are not older than `oldest`. The body lies in memory at `at`. */
export function countDistinct(memory: Buffer, at: number, width: number, oldest: number): number {
  const count = (memory[at + 4] as number) | ((memory[at + 5] as number) << 8);
  const most = uint32At(memory, at) - oldest;
  let within = 0;
  if (width === 1) ranks.fill(0);
  for (let i = 0; i < count; i++) {
    const entry = at + HEAD + i * ENTRY;
    if ((memory[entry + 4] as number) > most) continue;
    within++;
    if (width !== 1) continue;
    const hash = uint32At(memory, entry);
    const register = registerOf(hash);
    const rank = rankOf(hash);
    if (rank > (ranks[register] as number)) ranks[register] = rank;
  }
  return width === 1 ? estimate() : within;
}

function estimate(): number {
  let sum = 0;
  let empty = 0;
  for (let i = 0; i < REGISTERS; i++) {
    const rank = ranks[i] as number;
    sum += SHARES[rank] as number;
    if (rank === 0) empty++;
  }
  const raw = (ALPHA * REGISTERS * REGISTERS) / sum;
  const counted = raw <= 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : raw;
  return Math.round(counted);
}
