/** MurmurHash3 (x86, 32 bits), written directly from its definition with big integers. */
export function referenceMurmur3(bytes: Uint8Array, seed = 0): number {
  const mask = 0xffffffffn;
  const rotate = (value: bigint, bits: bigint): bigint => ((value << bits) | (value >> (32n - bits))) & mask;
  const mix = (block: bigint): bigint => (rotate((block * 0xcc9e2d51n) & mask, 15n) * 0x1b873593n) & mask;
  let hash = BigInt(seed);
  for (let at = 0; at < bytes.length; at += 4) {
    const slice = bytes.subarray(at, at + 4);
    const block = slice.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
    hash ^= mix(block);
    if (slice.length === 4) hash = (rotate(hash, 13n) * 5n + 0xe6546b64n) & mask;
  }
  hash ^= BigInt(bytes.length);
  hash = ((hash ^ (hash >> 16n)) * 0x85ebca6bn) & mask;
  hash = ((hash ^ (hash >> 13n)) * 0xc2b2ae35n) & mask;
  return Number(hash ^ (hash >> 16n));
}
