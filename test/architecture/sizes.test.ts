import { expect } from 'chai';
import { houseSizes, TOO_LONG } from '../../scripts/house-sizes.js';

describe('sizes', () => {
  const { folders, large } = houseSizes();

  it('are measured in every wing, and in the plugins', () => {
    expect(folders.map(({ folder }) => folder)).to.include.members(['runtime/request', 'plugins']);
    for (const { folder, functions } of folders) expect(functions, folder).to.be.greaterThan(100);
  });

  it(`are at most ${TOO_LONG} lines a function`, () => {
    expect(large.filter(({ lines }) => lines > TOO_LONG).map(({ place }) => place)).to.deep.equal([]);
  });
});
