import { expect } from 'chai';
import { paramOf } from '../../../plugins/postgres/param.js';
import { plugin } from '../../../plugins/postgres/index.js';
import { createStep } from '../../../runtime/cli/testing/create-step.js';
import { absent, FakeStep } from '../../support/step-input.js';

describe('postgres', () => {
  it('says what to install if pg is missing', async () => {
    const error: unknown = await createStep(plugin, {
      with: { url: 'postgres://db/shop', query: 'select id from products' },
    }).catch((thrown: unknown) => thrown);
    expect(error).to.include({
      message: 'the retriever needs the npm package pg, which is not installed',
      help: 'run `npm install pg@8` in the project, or beside Millrace',
    });
  });

  it('binds a value of each kind, and null for one that is not known', () => {
    const step = new FakeStep(0);
    for (const [input, param] of [
      [step.requestNumber(1.5), 1.5],
      [step.requestText("o'clock\0"), "o'clock "],
      [step.requestTexts(['a', 'b']), ['a', 'b']],
      [step.requestVector([1, 0.5, -1], 3), '[1,0.5,-1]'],
      [step.requestText(absent), null],
    ] as const)
      expect(paramOf(step.column(input))).to.deep.equal(param);
  });
});
