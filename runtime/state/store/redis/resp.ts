import { writeAscii } from '../codec/bytes.js';

const DOLLAR = 36;
const ZERO = 48;
const CR = 13;
const LF = 10;
/** Maximum overhead of a bulk string in bytes: `$`, the digits of its length, and two line ends. */
export const FRAME_BYTES = 16;

/** Maximum bytes of a key as a bulk string. */
export function bulkRoom(key: string): number {
  return FRAME_BYTES + 3 * key.length;
}

/**
 * Writes a key as a bulk string; returns the offset after it.
 * Source: https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export function writeBulk(bytes: Buffer, start: number, key: string): number {
  let at = writeLength(bytes, start, key.length);
  const end = writeAscii(bytes, at, key);
  if (end < 0) {
    at = writeLength(bytes, start, Buffer.byteLength(key));
    at += bytes.write(key, at, 'utf8');
  } else at = end;
  bytes[at++] = CR;
  bytes[at++] = LF;
  return at;
}

/** Writes bytes as a bulk string; returns the offset after it. */
export function writeBulkBytes(bytes: Buffer, start: number, value: Buffer): number {
  let at = writeLength(bytes, start, value.length);
  bytes.set(value, at);
  at += value.length;
  bytes[at++] = CR;
  bytes[at++] = LF;
  return at;
}

/** Writes `$`, the length and a line end; returns the offset after them. */
function writeLength(bytes: Buffer, start: number, length: number): number {
  let at = start;
  bytes[at++] = DOLLAR;
  let unit = 1;
  while (unit * 10 <= length) unit *= 10;
  for (; unit >= 1; unit = Math.floor(unit / 10)) bytes[at++] = ZERO + (Math.floor(length / unit) % 10);
  bytes[at++] = CR;
  bytes[at++] = LF;
  return at;
}
