import { expect } from 'chai';
import type { ModelInputs } from '../../../../runtime/ground/sdk/model-inputs.js';
import { TreeModel, type Explain } from '../../../../runtime/ground/sdk/tree-model.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { FakeStep, projectFile } from '../../../support/step-input.js';

const STEPS = 9;

function modelOf(explain: Explain): TreeModel {
  const inputs = { bindings: [], count: 0, read: () => [] } as unknown as ModelInputs;
  const scorer = { score: () => undefined };
  return new TreeModel(projectFile('models/m.txt', ''), inputs, scorer, { outputs: 1 }, explain);
}

function* nothing(): Generator<undefined, void> {
  yield;
}

describe('the explainer of a tree model', () => {
  it('is made once, by all requests together, also if the first ones end before it is done', () => {
    let [begun, steps] = [0, 0];
    const model = modelOf(function* () {
      begun++;
      for (let i = 0; i < STEPS; i++) {
        steps++;
        yield;
      }
      return { precision: 'float64', contributions: 'only differences', difference: nothing };
    });
    const [one, two] = [0, 1].map(() => model.contributions(new FakeStep(1), 'score'));
    for (const request of [one, two, one]) request?.next();
    one?.return([]);
    expect(steps).to.equal(3);
    expect(atOnce(model.contributions(new FakeStep(1), 'score'))).to.equal('only differences');
    expect(two?.next()).to.deep.equal({ done: true, value: 'only differences' });
    expect([begun, steps]).to.deep.equal([1, STEPS]);
  });

  it('is begun again after an error', () => {
    let begun = 0;
    const model = modelOf(function* () {
      begun++;
      yield;
      if (begun === 1) throw new Error('not read');
      return { precision: 'float64', contributions: 'only differences', difference: nothing };
    });
    expect(() => atOnce(model.contributions(new FakeStep(1), 'score'))).to.throw('not read');
    expect(atOnce(model.contributions(new FakeStep(1), 'score'))).to.equal('only differences');
  });
});
