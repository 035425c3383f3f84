/**
 * The head of a record that is replaced only by who has read it (`Store.swap`):
 *
 *   8 bytes  version: random, new with every write
 *   f64      when the record may be forgotten, epoch milliseconds
 */
import { randomFillSync } from 'node:crypto';

const EXPIRY_AT = 8;

/** Length of the head. */
export const VERSIONED_HEAD = 16;

/** Starts a record of `size` bytes, head included: its head is written, the rest is zeros. */
export function newVersioned(size: number, expires: number): Buffer {
  const record = Buffer.alloc(size);
  randomFillSync(record, 0, EXPIRY_AT);
  record.writeDoubleLE(expires, EXPIRY_AT);
  return record;
}

/** Tells one write of a record from all others. */
export function versionOf(record: Buffer): Buffer {
  return record.subarray(0, EXPIRY_AT);
}

/** Epoch milliseconds; 0 for what has no such head. */
export function expiryOf(record: Buffer): number {
  return record.length < VERSIONED_HEAD ? 0 : record.readDoubleLE(EXPIRY_AT);
}
