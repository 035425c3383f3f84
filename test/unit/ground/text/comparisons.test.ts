import { expect } from 'chai';
import fc from 'fast-check';
import {
  distinctTokens,
  editDistance,
  firstQuantity,
  jaccard,
  Analyzer,
} from '../../../../runtime/ground/text/index.js';

describe('comparisons of texts', () => {
  it('share the distinct words or n-grams of both among those of either', () => {
    const words = distinctTokens(new Analyzer()).of;
    const grams = distinctTokens(new Analyzer({ ngrams: 3 })).of;
    expect(jaccard(words('red desk lamp'), words('Desk LAMP desk'))).to.equal(2 / 3);
    expect(jaccard(words('red'), words(''))).to.equal(0);
    expect(jaccard(words(''), words('--'))).to.be.NaN;
    // lam amp, lam ump: one of three.
    expect(jaccard(grams('lamp'), grams('lam ump'))).to.equal(1 / 3);
    expect(jaccard(grams('tv'), grams('TV'))).to.equal(1);
  });

  const distances: readonly [string, string, number, number][] = [
    ['kitten', 'sitting', 8, 3],
    ['kitten', 'sitting', 2, 2],
    ['', 'abc', 8, 3],
    ['abc', '', 2, 2],
    ['abc', 'abc', 1, 0],
    ['😀a', '😁a', 8, 1],
    ['ab', 'ba', 8, 2],
    ['a'.repeat(300), 'b'.repeat(300), 8, 8],
  ];
  for (const [a, b, most, distance] of distances)
    it(`count ${distance} edits from ${a.slice(0, 8)} to ${b.slice(0, 8)}, at most ${most}`, () => {
      expect(editDistance(a, b, most)).to.equal(distance);
    });

  it('count the edits of a whole table, for texts that are alike and for others', () => {
    const text: fc.Arbitrary<string[]> = fc.array(fc.constantFrom('a', 'b', '😀', '\u0301'), {
      maxLength: 24,
    });
    const changed = fc.tuple(text, fc.array(fc.nat(24), { maxLength: 5 })).map(([letters, places]) => {
      const other = [...letters];
      for (const place of places) other.splice(place, place % 2, ...(place % 3 === 0 ? ['b'] : []));
      return [letters, other] as const;
    });
    fc.assert(
      fc.property(
        fc.oneof(fc.tuple(text, text), changed),
        fc.integer({ min: 1, max: 30 }),
        ([a, b], most) => {
          expect(editDistance(a.join(''), b.join(''), most)).to.equal(Math.min(most, wholeTable(a, b)));
        },
      ),
      { numRuns: 500 },
    );
  });

  const quantities: readonly [string, string, number][] = [
    ['Cola 1,5 l', 'ml', 1500],
    ['Cola 1500ml', 'l', 1.5],
    ['SSD 1 TB', 'gb', 1024],
    ['battery 10,000 mAh', 'mah', 10000],
    ['kettle 1.7 L, 2200 W', 'kw', 2.2],
    ['6 x 0.33 l', 'cl', 33],
    ['1.234.567 g', 'g', 1_234_567],
    ['緑茶 ５００ｍｌ', 'ml', 500],
    ['米1.5㎏入り', 'g', 1500],
    ['iphone500ml', 'ml', NaN],
    ['500mlx', 'ml', NaN],
    ['A4 paper', 'ml', NaN],
    ['model l200', 'ml', NaN],
  ];
  for (const [text, unit, amount] of quantities)
    it(`read ${text} in ${unit}`, () => {
      expect(firstQuantity(text, unit)).to.deep.equal(amount);
    });
});

/** Levenshtein's distance by all cells (Wagner and Fischer 1974). */
function wholeTable(a: readonly string[], b: readonly string[]): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of a.entries()) {
    const row = [i + 1];
    for (const [j, other] of b.entries())
      row.push(
        Math.min((above[j] ?? 0) + (letter === other ? 0 : 1), (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1),
      );
    above = row;
  }
  return above[b.length] ?? 0;
}
