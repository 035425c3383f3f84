import { expect } from 'chai';
import type { Bound } from '../../../../../runtime/ground/api/ranking-edit.js';
import { OrderSearch } from '../../../../../runtime/request/ordering/places/order-search.js';

const bound = (letters: string, most: number, within: Bound['within']): Bound => {
  const kinds = [...new Set(letters.replaceAll('-', ''))];
  return { groups: Int32Array.from(letters, (letter) => kinds.indexOf(letter)), most, within };
};

/** Searches places for rows 0, 1, … @param pins from row to position */
function search(
  bounds: readonly Bound[],
  count: number,
  pins: Readonly<Record<number, number>> = {},
  steps = 1000,
): { readonly found: number[] | undefined; readonly stepsLeft: number } {
  const fixed = new Map(Object.entries(pins).map(([row, position]) => [position, Number(row)]));
  const placed = new Int32Array(count).fill(-1);
  for (const [position, row] of fixed) placed[position - 1] = row;
  const waiting = Int32Array.from({ length: count }, (_, row) => row).filter(
    (row) => pins[row] === undefined,
  );
  const page = { size: 3, first: 0 };
  const one = new OrderSearch({ bounds, page, placed, fixed, waiting, from: 0, to: count }, steps);
  const found = one.find();
  return { found: found && [...found], stepsLeft: one.stepsLeft };
}

describe('a search for an order that keeps all bounds', () => {
  it('takes preferred rows first, and goes back where that leads nowhere', () => {
    // Brands of the rows, then shelves: rows 1 and 2 stand on one shelf.
    const bounds = [bound('aabb', 1, 2), bound('-ss-', 1, 2)];
    expect(search(bounds, 4).found).to.deep.equal([1, 3, 0, 2]);
  });

  it('leaves rows at places of their own, and counts them', () => {
    expect(search([bound('aabb', 1, 'page')], 4, { 1: 2 }).found).to.deep.equal(undefined);
    expect(search([bound('aabb-', 1, 'page')], 5, { 1: 2 }).found).to.deep.equal([2, 1, 4, 0, 3]);
  });

  it('tries nothing if too many rows are of one group', () => {
    expect(search([bound('aaab', 1, 2)], 4)).to.deep.equal({ found: undefined, stepsLeft: 1000 });
    expect(search([bound('aaab', 1, 'page')], 4)).to.deep.equal({ found: undefined, stepsLeft: 1000 });
  });

  it('gives up after the steps', () => {
    const bounds = [bound('aabb', 1, 2), bound('-ss-', 1, 2)];
    const { found, stepsLeft } = search(bounds, 4, {}, 3);
    expect(found).to.equal(undefined);
    expect(stepsLeft).to.be.at.most(0);
  });
});
