/**
 * The head of a record that is replaced by compare-and-swap (`Store.swap`):
 *
 *   8 bytes  version: random, new with every write
 *   f64      when the record may be dropped, epoch milliseconds; Infinity: never
 */
import { randomFillSync } from 'node:crypto';

/** Versions that are drawn in advance, because drawing random bytes takes longer than filling the rest of a record. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

const EXPIRY_AT = 8;

/** Length of the head. */
export const VERSIONED_HEAD = 16;

/** Allocates a record of `size` bytes including the head, and writes the head; the rest is zeros. */
export function newVersioned(size: number, expires: number): Buffer {
  const record = Buffer.allocUnsafe(size).fill(0);
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  drawn.copy(record, 0, used, (used += EXPIRY_AT));
  record.writeDoubleLE(expires, EXPIRY_AT);
  return record;
}

/** The version of a record, which differs after every write. */
export function versionOf(record: Buffer): Buffer {
  return record.subarray(0, EXPIRY_AT);
}

/** Epoch milliseconds; 0 if the record has no such head. */
export function expiryOf(record: Buffer): number {
  return record.length < VERSIONED_HEAD ? 0 : record.readDoubleLE(EXPIRY_AT);
}
