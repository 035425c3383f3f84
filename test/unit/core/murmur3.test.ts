import { expect } from 'chai';
import fc from 'fast-check';
import { murmur3, murmur3OfText } from '../../../runtime/core/murmur3.js';

/** The hash again, written directly from its definition with big integers. */
function reference(bytes: Uint8Array): number {
  const mask = 0xffffffffn;
  const rotate = (value: bigint, bits: bigint): bigint => ((value << bits) | (value >> (32n - bits))) & mask;
  const mix = (block: bigint): bigint => (rotate((block * 0xcc9e2d51n) & mask, 15n) * 0x1b873593n) & mask;
  let hash = 0n;
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

describe('murmur3', () => {
  it('matches published hashes', () => {
    const known: Readonly<Record<string, number>> = {
      '': 0,
      hello: 0x248bfa47,
      'hello, world': 0x149bbb7f,
      'The quick brown fox jumps over the lazy dog': 0x2e4ff723,
    };
    for (const [text, hash] of Object.entries(known)) expect(murmur3(Buffer.from(text)), text).to.equal(hash);
  });

  it('of a text is that of its UTF-8 bytes', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii', maxLength: 40 }));
    fc.assert(fc.property(text, (one) => murmur3OfText(one) === murmur3(Buffer.from(one))));
  });

  it('matches its definition, for any bytes at any offset', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(3), (bytes, offset) => {
        const moved = new Uint8Array(bytes.length + offset).subarray(offset);
        moved.set(bytes);
        expect(murmur3(moved)).to.equal(reference(bytes));
      }),
    );
  });
});
