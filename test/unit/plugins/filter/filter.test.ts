import { expect } from 'chai';
import { Filter } from '../../../../plugins/filter/filter.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { absent, FakeStep } from '../../../support/step-input.js';

describe('filter', () => {
  const cells = [true, false, absent, false, { status: Status.missing_entity }];

  it('removes candidates that do not meet the condition; keeps and counts those where it is absent', () => {
    const step = new FakeStep(5);
    const selection = new Filter(step.bool(cells, 'product.price < 10'), 'keep').select(step);
    expect(selection.removed).to.deep.equal([1, 3]);
    expect(selection.undecided).to.equal(2);
    expect(selection.reason).to.include('product.price < 10');
  });

  it('removes candidates with an absent condition if configured', () => {
    const step = new FakeStep(5);
    const selection = new Filter(step.bool(cells), 'drop').select(step);
    expect(selection).to.deep.include({ removed: [1, 2, 3, 4], undecided: 0 });
  });

  it('checks only the rows of the step', () => {
    const step = new FakeStep(5, [2, 3]);
    expect(new Filter(step.bool(cells), 'keep').select(step)).to.deep.include({ removed: [3], undecided: 1 });
  });
});
