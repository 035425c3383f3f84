/**
 * Computes MurmurHash3 x86 32-bit, as an unsigned number. Source: Austin Appleby's MurmurHash3,
 * https://github.com/aappleby/smhasher (public domain).
 * @param seed a whole number of 32 bits
 */
export function murmur3(bytes: Uint8Array, seed = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const blocks = bytes.length - (bytes.length % 4);
  let hash = seed;
  for (let at = 0; at < blocks; at += 4) {
    hash ^= scramble(view.getUint32(at, true));
    hash = Math.imul(rotate(hash, 13), 5) + 0xe6546b64;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= blocks; at--) tail = (tail << 8) | view.getUint8(at);
  return finished(hash ^ scramble(tail) ^ bytes.length);
}

/** The same for the UTF-8 bytes of a text. A text in ASCII is hashed without a copy of its bytes. */
export function murmur3OfText(text: string, seed = 0): number {
  const { length } = text;
  const blocks = length - (length % 4);
  let hash = seed;
  let seen = 0;
  for (let at = 0; at < blocks; at += 4) {
    const a = text.charCodeAt(at);
    const b = text.charCodeAt(at + 1);
    const c = text.charCodeAt(at + 2);
    const d = text.charCodeAt(at + 3);
    seen |= a | b | c | d;
    hash ^= scramble(a | (b << 8) | (c << 16) | (d << 24));
    hash = Math.imul(rotate(hash, 13), 5) + 0xe6546b64;
  }
  let tail = 0;
  for (let at = length - 1; at >= blocks; at--) {
    const unit = text.charCodeAt(at);
    seen |= unit;
    tail = (tail << 8) | unit;
  }
  return seen > 127 ? murmur3(Buffer.from(text), seed) : finished(hash ^ scramble(tail) ^ length);
}

function finished(sum: number): number {
  let hash = sum;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns 0 for 0, so an empty tail changes nothing. */
function scramble(block: number): number {
  return Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
