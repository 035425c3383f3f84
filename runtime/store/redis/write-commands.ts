import { Command } from 'ioredis';
import type { StoreRecord } from '../store.js';
import { bulkRoom, FRAME_BYTES, writeBulk, writeBulkBytes } from './resp.js';

/** MSET of the records at some positions. It is encoded here, because ioredis copies every value twice. */
export class MsetCommand extends Command {
  readonly #bytes: Buffer;

  constructor(records: readonly StoreRecord[], positions: readonly number[]) {
    super('mset');
    this.#bytes = encodeMset(records, positions);
  }

  override toWritable(): Buffer {
    return this.#bytes;
  }
}

function encodeMset(records: readonly StoreRecord[], positions: readonly number[]): Buffer {
  const head = `*${2 * positions.length + 1}\r\n$4\r\nmset\r\n`;
  let room = head.length;
  for (const position of positions) {
    const { key, value } = records[position] as StoreRecord;
    room += bulkRoom(key) + FRAME_BYTES + value.length;
  }
  const bytes = Buffer.allocUnsafeSlow(room);
  let at = bytes.write(head, 0, 'latin1');
  for (const position of positions) {
    const { key, value } = records[position] as StoreRecord;
    at = writeBulkBytes(bytes, writeBulk(bytes, at, key), value);
  }
  return bytes.subarray(0, at);
}
