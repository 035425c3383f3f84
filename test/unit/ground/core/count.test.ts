import { expect } from 'chai';
import { counted } from '../../../../runtime/ground/core/count.js';

describe('counted', () => {
  it('has the singular for one thing only', () => {
    const texts = [0, 1, 2, 1234].map((value) => counted(value, 'file'));
    expect(texts).to.deep.equal(['0 files', '1 file', '2 files', '1,234 files']);
    expect([1, 2].map((value) => counted(value, 'query has', 'queries have'))).to.deep.equal([
      '1 query has',
      '2 queries have',
    ]);
  });
});
