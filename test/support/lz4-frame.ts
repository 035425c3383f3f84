import { xxh32 } from '../../runtime/state/wyvern/xxh32.js';

/** A frame with one stored block, as a compressor writes it for what it cannot make smaller. */
export function lz4(text: string): Buffer {
  const content = Buffer.from(text);
  const head = Buffer.from([0x60, 0x40]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE((content.length | 0x80000000) >>> 0);
  const magic = Buffer.from([0x04, 0x22, 0x4d, 0x18]);
  const check = Buffer.from([(xxh32(head) >>> 8) & 0xff]);
  return Buffer.concat([magic, head, check, length, content, Buffer.alloc(4)]);
}
