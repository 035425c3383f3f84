import { expect } from 'chai';
import fc from 'fast-check';
import { murmur3, murmur3OfText } from '../../../../runtime/ground/core/murmur3.js';
import { referenceMurmur3 } from '../../../support/reference-murmur3.js';

const SEED = fc.nat(0xffffffff);

describe('murmur3', () => {
  it('matches published hashes', () => {
    const known: Readonly<Record<string, number>> = {
      '': 0,
      hello: 0x248bfa47,
      'hello, world': 0x149bbb7f,
      'The quick brown fox jumps over the lazy dog': 0x2e4ff723,
    };
    for (const [text, hash] of Object.entries(known)) expect(murmur3(Buffer.from(text)), text).to.equal(hash);
    const seeded = [
      ['', 1, 0x514e28b7],
      ['', 0xffffffff, 0x81f16f39],
      ['aaaa', 0x9747b28c, 0x5a97808a],
      ['Hello, world!', 0x9747b28c, 0x24884cba],
    ] as const;
    for (const [text, seed, hash] of seeded) expect(murmur3(Buffer.from(text), seed), text).to.equal(hash);
  });

  it('of a text is that of its UTF-8 bytes', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii', maxLength: 40 }));
    fc.assert(
      fc.property(text, SEED, (one, seed) => murmur3OfText(one, seed) === murmur3(Buffer.from(one), seed)),
    );
  });

  it('matches its definition, for any bytes at any offset', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(3), SEED, (bytes, offset, seed) => {
        const moved = new Uint8Array(bytes.length + offset).subarray(offset);
        moved.set(bytes);
        expect(murmur3(moved, seed)).to.equal(referenceMurmur3(bytes, seed));
      }),
    );
  });
});
