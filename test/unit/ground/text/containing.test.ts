import { expect } from 'chai';
import fc from 'fast-check';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { contains, containing } from '../../../../runtime/ground/text/index.js';

/** Periodic texts, in which a part stands nearly everywhere. */
const periodic = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'ab', 'aab', '😀'), fc.nat(300)), { maxLength: 5 })
  .map((runs) => runs.map(([unit, times]) => unit.repeat(times)).join(''));

/** The pieces of a search for aᵏbaᵏ in a text of a. */
function piecesOf(units: number): number {
  const k = units / 2;
  const work = containing('a'.repeat(4 * k), `${'a'.repeat(k)}b${'a'.repeat(k)}`);
  let pieces = 1;
  while (work.next().done !== true) pieces++;
  return pieces;
}

describe('a part of a text', () => {
  it('is found where JavaScript finds it', () => {
    fc.assert(
      fc.property(periodic, periodic, fc.nat(500), fc.nat(2000), (text, other, from, length) => {
        for (const part of [other, text.slice(from, from + length), `${text.slice(from)}b`]) {
          expect(contains(text, part)).to.equal(text.includes(part));
          expect(atOnce(containing(text, part))).to.equal(text.includes(part));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is found behind a window and across the end of one', () => {
    for (const at of [65_400, 65_535, 65_536, 131_000, 200_000]) {
      const part = `${'x'.repeat(100)}${'y'.repeat(100)}`;
      const text = 'x'.repeat(at) + part + 'z'.repeat(1000);
      expect(contains(text, part), String(at)).to.equal(true);
      expect(contains(text, `${part}!`), String(at)).to.equal(false);
    }
  });

  it('takes as many steps as the texts are long, also if the part is periodic', () => {
    const few = piecesOf(100_000);
    expect(few).to.be.greaterThan(10);
    expect(piecesOf(400_000)).to.be.within(3.5 * few, 4.5 * few);
  });
});
