import { expect } from 'chai';
import fc from 'fast-check';
import { amountFrom, amountOf, readTable } from '../../../../plugins/boost/amount.js';
import { Boost } from '../../../../plugins/boost/boost.js';
import { plugin } from '../../../../plugins/boost/index.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, FakeRanking, FakeStep, projectFile } from '../../../support/step-input.js';

describe('boost', () => {
  it('adds if the condition holds', () => {
    const step = new FakeStep(4);
    const ranking = new FakeRanking([1, 1, 1, 1]);
    const boost = new Boost(
      step.bool([true, false, absent, true]),
      'add',
      amountOf(step.number([2, 2, 2, -3])),
    );
    expect(boost.apply(step, ranking)).to.deep.equal({ applied: 2, skipped: 1 });
    expect([...ranking.scores]).to.deep.equal([3, 1, 1, -2]);
  });

  it('multiplies so that a factor above 1 raises a negative score', () => {
    const step = new FakeStep(3);
    const ranking = new FakeRanking([10, -10, 0]);
    new Boost(undefined, 'multiply', amountOf(step.requestNumber(1.5))).apply(step, ranking);
    expect([...ranking.scores]).to.deep.equal([15, -5, 0]);
  });

  it('never demotes with a factor of 1 or more, never promotes with one below', () => {
    const finite = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(finite, fc.double({ min: 0, max: 100, noNaN: true }), (score, factor) => {
        const step = new FakeStep(1);
        const ranking = new FakeRanking([score]);
        new Boost(undefined, 'multiply', amountOf(step.requestNumber(factor))).apply(step, ranking);
        const [after = NaN] = ranking.scores;
        expect(factor >= 1 ? after >= score : after <= score).to.be.true;
      }),
    );
  });

  it('keeps the score if the amount is absent or the result is not finite', () => {
    const step = new FakeStep(3);
    const ranking = new FakeRanking([1, 1e308, 2]);
    const amounts = step.number([absent, 1e308, { status: 8 }]);
    const report = new Boost(undefined, 'multiply', amountOf(amounts)).apply(step, ranking);
    expect(report).to.deep.equal({ applied: 0, skipped: 3 });
    expect([...ranking.scores]).to.deep.equal([1, 1e308, 2]);
  });

  it('looks up amounts in a table; other scores do not change', () => {
    const step = new FakeStep(4);
    const ranking = new FakeRanking([1, 2, 3, 4]);
    const table = readTable(projectFile('b.csv', 'amount,note,key\n2,,lumen\n0.5,"a, b",007\n'), []);
    const boost = new Boost(
      undefined,
      'multiply',
      amountFrom(table, [step.text(['lumen', '007', 'other', absent])]),
    );
    expect(boost.apply(step, ranking)).to.deep.equal({ applied: 2, skipped: 1 });
    expect([...ranking.scores]).to.deep.equal([2, 1, 3, 4]);
  });

  it('accepts table keys that are names of object members', () => {
    const step = new FakeStep(2);
    const ranking = new FakeRanking([1, 1]);
    const table = readTable(projectFile('b.csv', 'key,amount\n__proto__,3\n'), []);
    new Boost(undefined, 'add', amountFrom(table, [step.text(['__proto__', 'constructor'])])).apply(
      step,
      ranking,
    );
    expect([...ranking.scores]).to.deep.equal([4, 1]);
  });

  it('keeps two tables separate', () => {
    const step = new FakeStep(1);
    const ranking = new FakeRanking([1]);
    const by = step.text(['lumen']);
    for (const amount of [2, 3]) {
      const table = readTable(projectFile(`${amount}.csv`, `key,amount\nlumen,${amount}\n`), []);
      new Boost(undefined, 'multiply', amountFrom(table, [by])).apply(step, ranking);
    }
    expect([...ranking.scores]).to.deep.equal([6]);
  });

  const wrongTables = [
    ['', 'has the columns'],
    ['brand,factor\na,1\n', 'has the columns brand, factor'],
    ['key,amount\na,1\nb,much\n', 'row 2: `much` is not a number'],
    ['key,amount\na,\n', 'row 1: `` is not a number'],
    ['key,amount\na,1\na,2\n', 'row 2: `a` occurs twice'],
    ['key,amount\na,1,2\n', 'Invalid Record Length'],
  ] as const;
  for (const [content, message] of wrongTables) {
    it(`refuses a table that reads ${JSON.stringify(content)}`, () => {
      expect(() => readTable(projectFile('boosts.csv', content), ['table', 'file'])).to.throw(
        OptionError,
        message,
      );
    });
  }

  it('requires exactly one change', () => {
    const amount = new FakeStep(0).number([]);
    expect(() => createComponent(plugin, {})).to.throw(OptionError, 'no change is given');
    expect(() => createComponent(plugin, { add: amount, multiply: amount })).to.throw(
      OptionError,
      'more than one',
    );
  });
});
