import * as zlib from 'node:zlib';

/**
 * CRC-32 of IEEE 802.3 (polynomial 0xedb88320, reflected) of bytes, or of a text in UTF-8, continued from the CRC of
 * the preceding data.
 */
export type Crc32 = (data: Buffer | string, before?: number) => number;

/** A table-driven implementation, one byte at a time, for Node versions before 20.15. */
export const crc32ByTable: Crc32 = (data, before = 0) => {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  let crc = ~before;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return ~crc >>> 0;
};

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

const native = (zlib as { readonly crc32?: Crc32 }).crc32;

export const crc32: Crc32 = native ?? crc32ByTable;
