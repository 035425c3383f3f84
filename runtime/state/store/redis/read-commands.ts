import { bulkRoom, writeBulk } from './resp.js';

const GET = Buffer.from('*2\r\n$3\r\nget\r\n');
const ASKING_GET = Buffer.from('*1\r\n$6\r\nasking\r\n*2\r\n$3\r\nget\r\n');

export const PING = Buffer.from('*1\r\n$4\r\nping\r\n');

/** MGET of all keys, in RESP: an array of bulk strings. */
export function encodeMget(keys: readonly string[]): Buffer {
  const head = `*${keys.length + 1}\r\n$4\r\nmget\r\n`;
  let room = head.length;
  for (const key of keys) room += bulkRoom(key);
  const bytes = Buffer.allocUnsafe(room);
  let at = bytes.write(head, 0, 'latin1');
  for (const key of keys) at = writeBulk(bytes, at, key);
  return bytes.subarray(0, at);
}

/**
 * One GET for each of the keys at some positions. A cluster refuses MGET across slots, and keys rarely share a slot.
 * @param asking whether ASKING precedes each GET, for slots that are migrating to the node
 */
export function encodeGets(keys: readonly string[], positions: readonly number[], asking: boolean): Buffer {
  const head = asking ? ASKING_GET : GET;
  let room = 0;
  for (const position of positions) room += head.length + bulkRoom(keys[position] ?? '');
  const bytes = Buffer.allocUnsafe(room);
  let at = 0;
  for (const position of positions) {
    bytes.set(head, at);
    at = writeBulk(bytes, at + head.length, keys[position] ?? '');
  }
  return bytes.subarray(0, at);
}
