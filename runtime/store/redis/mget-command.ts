import { Command, type Redis } from 'ioredis';
import { bulkRoom, writeBulk } from './resp.js';

/**
 * MGET of many keys, written to bytes in one go. ioredis joins a command's arguments to one text, which the socket then
 * turns into bytes; at two thousand keys that was the dearest single thing in a read.
 */
class MgetCommand extends Command {
  readonly #keys: readonly string[];
  #bytes: Buffer | undefined;

  constructor(keys: readonly string[]) {
    // The first key says where in a cluster the command belongs.
    super('mget', keys.slice(0, 1), { replyEncoding: null });
    this.#keys = keys;
  }

  override toWritable(): Buffer {
    return (this.#bytes ??= encodeMget(this.#keys));
  }
}

/** Values in the keys' order, null where there is none. */
export function mget(redis: Redis, keys: readonly string[]): Promise<(Buffer | null)[]> {
  return redis.sendCommand(new MgetCommand(keys)) as Promise<(Buffer | null)[]>;
}

/** The command in RESP: an array of bulk strings. */
export function encodeMget(keys: readonly string[]): Buffer {
  const head = `*${keys.length + 1}\r\n$4\r\nmget\r\n`;
  let room = head.length;
  for (const key of keys) room += bulkRoom(key);
  const bytes = Buffer.allocUnsafe(room);
  let at = bytes.write(head, 0, 'latin1');
  for (const key of keys) at = writeBulk(bytes, at, key);
  return bytes.subarray(0, at);
}
