import { Command } from 'ioredis';
import { MARK_ID_BYTES, type MarkedIds, type StoreRecord } from '../store.js';
import { bulkRoom, FRAME_BYTES, writeBulk, writeBulkBytes } from './resp.js';

/** A command in RESP. It is encoded here, because ioredis copies every argument twice and looks up each by its type. */
class EncodedCommand extends Command {
  readonly #bytes: Buffer;

  constructor(name: string, bytes: Buffer) {
    super(name);
    this.#bytes = bytes;
  }

  override toWritable(): Buffer {
    return this.#bytes;
  }
}

/** MSET of the records at some positions. */
export function msetCommand(records: readonly StoreRecord[], positions: readonly number[]): EncodedCommand {
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
  return new EncodedCommand('mset', bytes.subarray(0, at));
}

/** EVALSHA. @param sha 40 hex digits */
export function evalshaCommand(
  sha: string,
  keys: readonly string[],
  args: readonly (string | Buffer)[],
): EncodedCommand {
  const number = String(keys.length);
  const head = `*${keys.length + args.length + 3}\r\n$7\r\nevalsha\r\n$40\r\n${sha}\r\n$${number.length}\r\n${number}\r\n`;
  let room = head.length;
  for (const key of keys) room += bulkRoom(key);
  for (const arg of args) room += typeof arg === 'string' ? bulkRoom(arg) : FRAME_BYTES + arg.length;
  const bytes = Buffer.allocUnsafe(room);
  let at = bytes.write(head, 0, 'latin1');
  for (const key of keys) at = writeBulk(bytes, at, key);
  for (const arg of args)
    at = typeof arg === 'string' ? writeBulk(bytes, at, arg) : writeBulkBytes(bytes, at, arg);
  return new EncodedCommand('evalsha', bytes.subarray(0, at));
}

const ID_HEAD = Buffer.from(`$${MARK_ID_BYTES}\r\n`);
const LINE_END = Buffer.from('\r\n');

/** SMISMEMBER of ids. */
export function smismemberCommand({ key, ids }: MarkedIds): EncodedCommand {
  const count = ids.length / MARK_ID_BYTES;
  const head = `*${count + 2}\r\n$10\r\nsmismember\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + bulkRoom(key) + count * (FRAME_BYTES + MARK_ID_BYTES));
  let at = writeBulk(bytes, bytes.write(head, 0, 'latin1'), key);
  for (let i = 0; i < ids.length; i += MARK_ID_BYTES) {
    bytes.set(ID_HEAD, at);
    at += ID_HEAD.length;
    for (let j = 0; j < MARK_ID_BYTES; j++) bytes[at++] = ids[i + j] as number;
    bytes.set(LINE_END, at);
    at += LINE_END.length;
  }
  return new EncodedCommand('smismember', bytes.subarray(0, at));
}
