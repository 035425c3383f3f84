/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78; RFC 3720, appendix B.4). It reads eight bytes a step with eight
 * tables. Source: M. Kounavis and F. Berry, "Novel Table Lookup-Based Algorithms for High-Performance CRC
 * Generation", 2008.
 */
const POLYNOMIAL = 0x82f63b78;

const TABLES = tables();

/** From this many words on, two halves are computed side by side, because each step waits for the one before. */
const HALVES_FROM = 64;

/**
 * The CRC-32C of whole words, as an unsigned number.
 * @param words the bytes as little-endian words
 * @param from the first word
 * @param to the word after the last
 */
export function crc32cOfWords(words: Int32Array, from: number, to: number): number {
  const half = to - from < HALVES_FROM ? 0 : ((to - from) >> 2) << 1;
  const crc = half === 0 ? -1 : crcOfHalves(words, from, half);
  return ~crcOfRest(words, from + 2 * half, to, crc) >>> 0;
}

/** Two runs of `count` words, an even number. The CRC of the first is moved over the second, and added to it. */
function crcOfHalves(words: Int32Array, from: number, count: number): number {
  const t = TABLES;
  const end = from + count;
  let crc = -1;
  let other = 0;
  for (let at = from, next = end; at < end; at += 2, next += 2) {
    const low = (words[at] as number) ^ crc;
    const high = words[at + 1] as number;
    const otherLow = (words[next] as number) ^ other;
    const otherHigh = words[next + 1] as number;
    crc =
      (t[0x700 + (low & 255)] as number) ^
      (t[0x600 + ((low >>> 8) & 255)] as number) ^
      (t[0x500 + ((low >>> 16) & 255)] as number) ^
      (t[0x400 + (low >>> 24)] as number) ^
      (t[0x300 + (high & 255)] as number) ^
      (t[0x200 + ((high >>> 8) & 255)] as number) ^
      (t[0x100 + ((high >>> 16) & 255)] as number) ^
      (t[high >>> 24] as number);
    other =
      (t[0x700 + (otherLow & 255)] as number) ^
      (t[0x600 + ((otherLow >>> 8) & 255)] as number) ^
      (t[0x500 + ((otherLow >>> 16) & 255)] as number) ^
      (t[0x400 + (otherLow >>> 24)] as number) ^
      (t[0x300 + (otherHigh & 255)] as number) ^
      (t[0x200 + ((otherHigh >>> 8) & 255)] as number) ^
      (t[0x100 + ((otherHigh >>> 16) & 255)] as number) ^
      (t[otherHigh >>> 24] as number);
  }
  return product(crc, power(count * 32)) ^ other;
}

function crcOfRest(words: Int32Array, from: number, to: number, start: number): number {
  const t = TABLES;
  let crc = start;
  for (let at = from; at < to; at++) {
    const word = (words[at] as number) ^ crc;
    crc =
      (t[0x300 + (word & 255)] as number) ^
      (t[0x200 + ((word >>> 8) & 255)] as number) ^
      (t[0x100 + ((word >>> 16) & 255)] as number) ^
      (t[word >>> 24] as number);
  }
  return crc;
}

/** x^(2^k) modulo the polynomial, for each k. The highest bit of a number is x^0. */
const SQUARES = squares();

/** x^n modulo the polynomial: what n bits do to a CRC. Source: zlib's crc32_combine. */
function power(n: number): number {
  let result = 1 << 31;
  for (let k = 0, rest = n; rest > 0; k++, rest >>>= 1)
    if (rest & 1) result = product(SQUARES[k] ?? 0, result);
  return result;
}

/** The product of two polynomials, modulo the polynomial. */
function product(a: number, b: number): number {
  let sum = 0;
  let multiple = b;
  // Without branches: a bit as a mask of all bits.
  for (let bit = 31; bit >= 0; bit--) {
    sum ^= multiple & -((a >>> bit) & 1);
    multiple = (multiple >>> 1) ^ (POLYNOMIAL & -(multiple & 1));
  }
  return sum;
}

function squares(): Int32Array {
  const all = new Int32Array(31);
  let square = 1 << 30;
  for (let k = 0; k < all.length; k++) {
    all[k] = square;
    square = product(square, square);
  }
  return all;
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
