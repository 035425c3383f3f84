/**
 * The checksum XXH32 of some bytes, with seed 0. Source: the xxHash specification 0.1.1 (doc/xxhash_spec.md of
 * github.com/Cyan4973/xxHash). LZ4 frames contain it.
 */
export function xxh32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let hash: number;
  if (bytes.length >= 16) {
    let [a, b, c, d] = [(P1 + P2) | 0, P2, 0, -P1 | 0] as [number, number, number, number];
    for (; at <= bytes.length - 16; at += 16) {
      a = round(a, view.getUint32(at, true));
      b = round(b, view.getUint32(at + 4, true));
      c = round(c, view.getUint32(at + 8, true));
      d = round(d, view.getUint32(at + 12, true));
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
  } else hash = P5;
  hash = (hash + bytes.length) | 0;
  for (; at <= bytes.length - 4; at += 4)
    hash = Math.imul(rotate((hash + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4);
  for (; at < bytes.length; at++)
    hash = Math.imul(rotate((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const P1 = 0x9e3779b1 | 0;
const P2 = 0x85ebca77 | 0;
const P3 = 0xc2b2ae3d | 0;
const P4 = 0x27d4eb2f | 0;
const P5 = 0x165667b1 | 0;

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

const round = (accumulator: number, lane: number): number =>
  Math.imul(rotate((accumulator + Math.imul(lane, P2)) | 0, 13), P1);
