/** Slots of a Redis Cluster; each key belongs to one. */
export const SLOTS = 16_384;

/** CRC-16/XMODEM: polynomial 0x1021, start 0. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/ */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The slot of a key. If the key has a hash tag (the text between the first `{` and the next `}`), the tag is hashed. */
export function keySlot(key: string): number {
  const open = key.indexOf('{');
  if (open >= 0) {
    const close = key.indexOf('}', open + 1);
    if (close > open + 1) return slotOf(key, open + 1, close);
  }
  return slotOf(key, 0, key.length);
}

function slotOf(text: string, from: number, to: number): number {
  let crc = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return slotOfBytes(Buffer.from(text.slice(from, to)));
    crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ code] ?? 0);
  }
  return crc % SLOTS;
}

function slotOfBytes(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0);
  return crc % SLOTS;
}
