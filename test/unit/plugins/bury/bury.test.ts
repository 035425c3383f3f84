import { expect } from 'chai';
import { Bury } from '../../../../plugins/bury/bury.js';
import { absent, FakeRanking, FakeStep } from '../../../support/step-input.js';

describe('bury', () => {
  it('buries if the condition holds, skips if it is absent, and does not change scores', () => {
    const step = new FakeStep(4, [0, 1, 2]);
    const ranking = new FakeRanking([4, 3, 2, 1]);
    const report = new Bury(step.bool([true, false, absent, true])).apply(step, ranking);
    expect(ranking.buried).to.deep.equal([0]);
    expect([...ranking.scores]).to.deep.equal([4, 3, 2, 1]);
    expect(report).to.deep.equal({ applied: 1, skipped: 1 });
  });
});
