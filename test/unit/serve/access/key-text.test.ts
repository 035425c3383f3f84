import { expect } from 'chai';
import fc from 'fast-check';
import { KeyRing } from '../../../../runtime/serve/access/key-ring.js';
import {
  createKey,
  hashOfKey,
  idOfKey,
  isKeyId,
  KEY_LENGTH,
  keyTextProblem,
} from '../../../../runtime/serve/access/key-text.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Keys made of any random bytes, not only of those that a run happens to draw. */
const anyKey = fc
  .tuple(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([id, secret]) => createKey((size) => Buffer.from(size === 16 ? id : secret)));

describe('the text of a key', () => {
  it('has one form, whatever its random bits are', () => {
    fc.assert(
      fc.property(anyKey, ({ id, text }) => {
        expect(text)
          .to.match(/^mr_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
          .and.have.length(KEY_LENGTH);
        expect(text.slice(3, 11)).to.equal(id);
        expect([isKeyId(id), idOfKey(text), keyTextProblem(text)]).to.deep.equal([true, id, undefined]);
      }),
    );
  });

  it('keeps all 256 bits: secrets that differ give texts that differ', () => {
    const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const textOf = (bytes: Uint8Array): string =>
      createKey((size) => (size === 16 ? Buffer.alloc(16) : Buffer.from(bytes))).text.slice(12, 55);
    fc.assert(
      fc.property(secret, (bytes) => {
        const value = Array.from(textOf(bytes)).reduce(
          (sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)),
          0n,
        );
        expect(value.toString(16).padStart(64, '0')).to.equal(Buffer.from(bytes).toString('hex'));
      }),
    );
    expect(textOf(new Uint8Array(32).fill(255))).to.have.length(43);
  });

  it('is never the same twice', () => {
    expect(new Set(Array.from({ length: 1000 }, () => createKey().text)).size).to.equal(1000);
  });

  it('shows every wrong character, and every exchange of two neighbours', () => {
    fc.assert(
      fc.property(anyKey, fc.nat(), fc.nat(61), ({ text }, place, digit) => {
        const at = 3 + (place % (KEY_LENGTH - 3));
        const wrong = DIGITS[digit] ?? '';
        if (at !== 11 && text[at] !== wrong)
          expect(keyTextProblem(text.slice(0, at) + wrong + text.slice(at + 1))).to.contain('checksum');
        const [a = '', b = ''] = text.slice(at, at + 2);
        const swapped = text.slice(0, at) + b + a + text.slice(at + 2);
        if (swapped !== text) expect(keyTextProblem(swapped)).to.be.a('string');
      }),
    );
  });

  it('shows what else is wrong', () => {
    const { text } = createKey();
    expect(keyTextProblem('')).to.equal('a key starts with mr_');
    expect(keyTextProblem(`"${text}"`)).to.equal('a key starts with mr_');
    expect(keyTextProblem(text.slice(0, -1))).to.equal('a key has 61 characters, and this one has 60');
    expect(keyTextProblem(`${text.slice(0, -1)}!`)).to.equal('it has characters that no key has');
    expect(idOfKey('web')).to.equal(undefined);
  });
});

describe('a key ring', () => {
  it('finds a key by its whole text and by nothing else', () => {
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 5 }), anyKey, fc.nat(), (present, other, place) => {
        const ring = new KeyRing(
          present.map(({ id, text }) => ({ id, name: 'web', hash: hashOfKey(text), scopes: [], created: 0 })),
        );
        for (const { id, text } of present) {
          expect(ring.find(text)?.id).to.equal(id);
          const at = place % KEY_LENGTH;
          expect(ring.find(`${text.slice(0, at)}-${text.slice(at + 1)}`)).to.equal(undefined);
          expect(ring.find(text.slice(0, at))).to.equal(undefined);
        }
        if (!present.some(({ text }) => text === other.text))
          expect(ring.find(other.text)).to.equal(undefined);
      }),
    );
  });
});
