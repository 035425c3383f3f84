import { expect } from 'chai';
import { Score } from '../../../../plugins/score/score.js';
import { DEFAULTED, Status } from '../../../../runtime/ground/api/status.js';
import { absent, FakeRanking, FakeStep } from '../../../support/step-input.js';

describe('score', () => {
  it('sets the score of every candidate of the step, and of no other', () => {
    const step = new FakeStep(4, [0, 2]);
    const ranking = new FakeRanking([9, 9, 9, 9]);
    const report = new Score(step.number([1, 2, 3, 4])).apply(step, ranking);
    expect([...ranking.scores]).to.deep.equal([1, 9, 3, 9]);
    expect(report).to.deep.equal({ applied: 2, skipped: 0 });
  });

  it('keeps a score if the value is absent or not finite, and counts it', () => {
    const step = new FakeStep(5);
    const ranking = new FakeRanking([7, 7, 7, 7, 7]);
    const value = step.number([absent, { status: Status.failed }, NaN, Infinity, 0]);
    expect(new Score(value).apply(step, ranking)).to.deep.equal({
      applied: 1,
      skipped: 4,
      left: [0, 1, 2, 3],
    });
    expect([...ranking.scores]).to.deep.equal([7, 7, 7, 7, 0]);
  });

  it('uses stale and defaulted values', () => {
    const step = new FakeStep(2);
    const value = step.number([1, 2]);
    step.column(value).status.set([Status.stale, DEFAULTED | Status.missing_entity]);
    const ranking = new FakeRanking([0, 0]);
    new Score(value).apply(step, ranking);
    expect([...ranking.scores]).to.deep.equal([1, 2]);
  });

  it('gives all candidates one value of the request', () => {
    const step = new FakeStep(2);
    const ranking = new FakeRanking([1, 2]);
    new Score(step.requestNumber(5)).apply(step, ranking);
    expect([...ranking.scores]).to.deep.equal([5, 5]);
  });
});
