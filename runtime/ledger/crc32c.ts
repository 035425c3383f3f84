/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78; RFC 3720, appendix B.4). It reads eight bytes a step with eight
 * tables. Source: M. Kounavis and F. Berry, "Novel Table Lookup-Based Algorithms for High-Performance CRC
 * Generation", 2008.
 */
const POLYNOMIAL = 0x82f63b78;

const TABLES = tables();

/**
 * The CRC-32C of whole words, as an unsigned number.
 * @param words the bytes as little-endian words
 * @param from the first word
 * @param to the word after the last
 */
export function crc32cOfWords(words: Int32Array, from: number, to: number): number {
  const t = TABLES;
  let crc = -1;
  let at = from;
  for (; at + 2 <= to; at += 2) {
    const low = (words[at] ?? 0) ^ crc;
    const high = words[at + 1] ?? 0;
    crc =
      (t[0x700 + (low & 255)] ?? 0) ^
      (t[0x600 + ((low >>> 8) & 255)] ?? 0) ^
      (t[0x500 + ((low >>> 16) & 255)] ?? 0) ^
      (t[0x400 + (low >>> 24)] ?? 0) ^
      (t[0x300 + (high & 255)] ?? 0) ^
      (t[0x200 + ((high >>> 8) & 255)] ?? 0) ^
      (t[0x100 + ((high >>> 16) & 255)] ?? 0) ^
      (t[high >>> 24] ?? 0);
  }
  for (; at < to; at++) {
    const word = (words[at] ?? 0) ^ crc;
    crc =
      (t[0x300 + (word & 255)] ?? 0) ^
      (t[0x200 + ((word >>> 8) & 255)] ?? 0) ^
      (t[0x100 + ((word >>> 16) & 255)] ?? 0) ^
      (t[word >>> 24] ?? 0);
  }
  return ~crc >>> 0;
}

/** The CRC-32C of any bytes, as an unsigned number. */
export function crc32c(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLES[(crc ^ byte) & 255] ?? 0);
  return ~crc >>> 0;
}

function tables(): Int32Array {
  const all = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    all[byte] = crc;
  }
  for (let at = 256; at < all.length; at++) {
    const before = all[at - 256] ?? 0;
    all[at] = (before >>> 8) ^ (all[before & 255] ?? 0);
  }
  return all;
}
