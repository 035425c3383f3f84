import { Command, type Redis } from 'ioredis';
import { bulkRoom, writeBulk } from '../resp.js';

const HEAD = Buffer.from('*2\r\n$3\r\nget\r\n');
const NOTHING = Buffer.alloc(0);

/**
 * One GET for each of many keys, sent in one go. A cluster refuses MGET across slots, and of two thousand keys hardly
 * two share one; a command object with a promise for each would take longer than all the rest of a read. So this one
 * command stands in ioredis's queue once for each key, and takes their replies in turn.
 */
class GetsCommand extends Command {
  readonly #keys: readonly string[];
  readonly #positions: readonly number[];
  readonly #replies: unknown[];
  #answered = 0;
  #written = false;

  /**
   * @param replies takes each reply, or Error, at the position of its key
   * @param done called once all are there
   */
  constructor(keys: readonly string[], positions: readonly number[], replies: unknown[], done: () => void) {
    super('get', [keys[positions[0] ?? 0] ?? ''], { replyEncoding: null });
    this.#keys = keys;
    this.#positions = positions;
    this.#replies = replies;
    const take = (reply: unknown): void => {
      this.#replies[this.#positions[this.#answered++] ?? 0] = reply;
      if (this.#answered === this.#positions.length) done();
    };
    this.resolve = take;
    this.reject = take;
  }

  override toWritable(): Buffer {
    if (this.#written) return NOTHING;
    this.#written = true;
    let room = 0;
    for (const position of this.#positions) room += HEAD.length + bulkRoom(this.#keys[position] ?? '');
    const bytes = Buffer.allocUnsafe(room);
    let at = 0;
    for (const position of this.#positions) {
      bytes.set(HEAD, at);
      at = writeBulk(bytes, at + HEAD.length, this.#keys[position] ?? '');
    }
    return bytes.subarray(0, at);
  }
}

/**
 * Reads the keys at some positions. Never rejects.
 * @param replies takes each value, null where there is none, or an Error, at the position of its key
 */
export function sendGets(
  redis: Redis,
  keys: readonly string[],
  positions: readonly number[],
  replies: unknown[],
): Promise<void> {
  return new Promise((resolve) => {
    const command = new GetsCommand(keys, positions, replies, resolve);
    // All bytes go with the first; the others only take their places in the queue.
    const silent = { isPipeline: true as const, destination: { redis }, write: () => true };
    redis.sendCommand(command);
    for (let i = 1; i < positions.length; i++) redis.sendCommand(command, silent);
  });
}
