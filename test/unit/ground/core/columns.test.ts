import { expect } from 'chai';
import * as fc from 'fast-check';
import { Float64Column, NameColumn, Uint32Column } from '../../../../runtime/ground/core/columns.js';
import { TextIndex, Texts } from '../../../../runtime/ground/core/texts.js';

interface AnyColumn<T> {
  push(value: T): void;
  at(row: number): T;
  keep(order: Uint32Array): void;
}

/** Pushes the values, keeps some rows in another order, and pushes the values again. */
function expectLikeArray<T>(column: AnyColumn<T>, values: readonly T[], picks: readonly number[]): void {
  for (const value of values) column.push(value);
  const order = Uint32Array.from(
    picks.map((pick) => pick % values.length).filter((row) => row < values.length),
  );
  column.keep(order);
  const expected = Array.from(order).flatMap((row) => values.slice(row, row + 1));
  for (const value of values) {
    column.push(value);
    expected.push(value);
  }
  expect(expected.map((_, row) => column.at(row))).to.deep.equal(expected);
}

/** Longer than the first size of a column and than a chunk of texts. */
function manyOf<T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> {
  return fc
    .tuple(fc.array(one, { minLength: 1, maxLength: 40 }), fc.constantFrom(1, 60))
    .map(([values, times]) => Array.from({ length: times }, () => values).flat());
}

const PICKS = fc.array(fc.nat(10_000), { maxLength: 50 });
const TEXT = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'a', '\ud800', 'a\u0000b'));

describe('columns', () => {
  it('hold what an array would, also after some rows are kept in another order', () => {
    fc.assert(
      fc.property(
        manyOf(fc.double()),
        manyOf(fc.nat(2 ** 32 - 1)),
        manyOf(TEXT),
        PICKS,
        (doubles, whole, texts, picks) => {
          expectLikeArray(new Float64Column(), doubles, picks);
          expectLikeArray(new Uint32Column(), whole, picks);
          expectLikeArray(new NameColumn(), texts, picks);
          expectLikeArray(new Texts(), texts, picks);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('find the first row of a text', () => {
    fc.assert(
      fc.property(manyOf(TEXT), fc.array(TEXT), (values, others) => {
        const texts = new Texts();
        for (const value of values) texts.push(value);
        const index = new TextIndex(texts);
        for (const text of [...values, ...others])
          expect(index.rowOf(text) ?? -1).to.equal(values.indexOf(text));
      }),
      { numRuns: 50 },
    );
    expect(new TextIndex(new Texts()).rowOf('a')).to.equal(undefined);
  });
});
