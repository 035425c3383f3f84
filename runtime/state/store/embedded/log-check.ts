import { readFile } from 'node:fs/promises';

/**
 * LevelDB's log: blocks of 32 KiB, each a sequence of records: u32 masked CRC-32C of the type and the data, u16 length of
 * the data, u8 type (1 to 4; 0 fills the end of a block), data. https://github.com/google/leveldb/blob/main/doc/log_format.md
 */
const BLOCK = 32 * 1024;
const HEADER = 7;
const LAST_TYPE = 4;

/**
 * True if a log has a damaged record before a valid record. LevelDB silently skips the rest of the block, so acknowledged
 * writes would be lost. A damaged record at the end of a log is normal after a crash: its write was not acknowledged.
 */
export async function isLogDamaged(path: string): Promise<boolean> {
  const log = await readFile(path);
  let isBroken = false;
  for (let block = 0; block < log.length; block += BLOCK) {
    const end = Math.min(block + BLOCK, log.length);
    let at = block;
    let isWalking = true;
    while (at + HEADER <= end) {
      const length = lengthAt(log, at, end);
      if (length !== undefined) {
        if (isBroken) return true;
        at += HEADER + length;
      } else if (isWalking && log[at + 6] === 0 && log.readUInt16LE(at + 4) === 0) break;
      else {
        // The length may also be wrong, so the next valid record may start at any offset.
        isBroken = true;
        isWalking = false;
        at++;
      }
    }
  }
  return false;
}

/** The length of the record at an offset; undefined if there is no valid record. */
function lengthAt(log: Buffer, at: number, end: number): number | undefined {
  const length = log.readUInt16LE(at + 4);
  const type = log[at + 6] ?? 0;
  if (type === 0 || type > LAST_TYPE || at + HEADER + length > end) return undefined;
  return log.readUInt32LE(at) === maskedCrc(log, at + 6, at + HEADER + length) ? length : undefined;
}

/** CRC-32C (polynomial 0x1edc6f41, reflected). */
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

function maskedCrc(bytes: Buffer, from: number, to: number): number {
  let crc = -1;
  for (let i = from; i < to; i++) crc = (TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8);
  crc = ~crc;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
