import { expect } from 'chai';
import { agreementOf } from '../../../../runtime/ground/core/agreement.js';

/** Four observers and twelve units, from section E of Krippendorff (2011); 0 stands for a missing value. */
const OBSERVERS = [
  [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
  [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
  [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
  [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
];

describe('the agreement of judges', () => {
  it('is the published alpha for ordinal values', () => {
    const units = Array.from({ length: 12 }, (_, at) =>
      OBSERVERS.flatMap((grades) => (grades[at] === 0 ? [] : [grades[at] ?? 0])),
    );
    const { alpha, candidates } = agreementOf(units);
    expect(alpha).to.be.closeTo(0.815, 0.0005);
    expect(candidates).to.equal(11);
  });

  it('is perfect if all grades of each candidate are equal, and below chance if they are opposite', () => {
    expect(
      agreementOf([
        [0, 0],
        [3, 3],
        [1, 1, 1],
      ]),
    ).to.deep.equal({ candidates: 3, percent: 1, alpha: 1 });
    const { percent, alpha } = agreementOf([
      [0, 3],
      [3, 0],
    ]);
    expect(percent).to.equal(0);
    expect(alpha).to.be.below(0);
  });

  it('is unknown without two grades for one candidate, and alpha also if all grades are one', () => {
    expect(agreementOf([[1], [], [2]])).to.deep.equal({ candidates: 0, percent: null, alpha: null });
    expect(agreementOf([[2, 2]])).to.deep.equal({ candidates: 1, percent: 1, alpha: null });
  });
});
