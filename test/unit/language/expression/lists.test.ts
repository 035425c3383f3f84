import { expect } from 'chai';
import { Status } from '../../../../runtime/ground/api/status.js';
import { Missing, type Outcome } from '../../../support/interpreter.js';
import { run } from './shop.js';

describe('expressions on lists', () => {
  const data = {
    'product.prices': [[3, 12], [], [20, undefined], new Missing(Status.missing_entity)],
    'product.tags': [['red', 'new'], [], ['red', undefined], new Missing(Status.null)],
    'product.title': ['new', 'red', 'blue', 'red'],
    'user.likes': [['red', 'blue']],
    'user.budget': [10],
  };
  const gone = new Missing(Status.missing_entity);
  const none = new Missing(Status.null);
  const absent = new Missing(Status.absent);
  const cases: [string, Outcome[]][] = [
    ['any(product.prices < 10)', [true, false, absent, gone]],
    ['any(10 > product.prices)', [true, false, absent, gone]],
    ['all(product.prices < user.budget)', [false, true, false, gone]],
    ['count(product.prices < 10)', [1, 0, 0, gone]],
    ['count(product.prices)', [2, 0, 1, gone]],
    ['count(product.tags)', [2, 0, 1, none]],
    ['sum(product.prices)', [15, 0, 20, gone]],
    ['mean(product.prices)', [7.5, absent, 20, gone]],
    ['min(product.prices)', [3, absent, 20, gone]],
    ['max(product.prices)', [12, absent, 20, gone]],
    ['sum(product.prices < 10)', [1, 0, 0, gone]],
    ['mean(product.prices < 10)', [0.5, absent, 0, gone]],
    ['sum(2 * (product.prices < 10))', [2, 0, 0, gone]],
    ['sum(product.prices * 2 - 1)', [28, 0, 39, gone]],
    ['sum(abs(-product.prices))', [15, 0, 20, gone]],
    ['any(not (product.prices > 10) and known(product.title))', [true, false, absent, gone]],
    ['any(product.tags == product.title)', [true, false, absent, none]],
    ['any(product.tags != "red")', [true, false, absent, none]],
    ['"new" in product.tags', [true, false, absent, none]],
    ['"new" not in product.tags', [false, true, absent, none]],
    ['product.title in user.likes', [false, true, true, true]],
    ['any(product.tags in ("new", "old"))', [true, false, absent, none]],
    ['12 in product.prices', [true, false, absent, gone]],
    ['any(product.prices in (3, 4))', [true, false, absent, gone]],
    ['known(product.tags)', [true, true, true, false]],
    ['product.prices + 1', [[4, 13], [], [21, undefined], gone]],
    ['coalesce(product.tags, user.likes)', [['red', 'new'], [], ['red', undefined], ['red', 'blue']]],
    [
      'if(product.title == "red", user.likes, product.tags)',
      [
        ['red', 'new'],
        ['red', 'blue'],
        ['red', undefined],
        ['red', 'blue'],
      ],
    ],
  ];
  for (const [text, expected] of cases) {
    it(text, () => {
      expect(run(text, data, 4)).to.deep.equal(expected);
    });
  }

  it('an operator on an empty list and an unknown value has an unknown result', () => {
    const unknown = { ...data, 'user.budget': [new Missing(Status.missing_entity)] };
    expect(run('all(product.prices < user.budget)', unknown, 2)).to.deep.equal([gone, gone]);
  });
});
