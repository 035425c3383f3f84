import { expect } from 'chai';
import { agreementOf } from '../../../../../runtime/serve/app/project/model-agreement.js';
import { randomNumbers } from '../../../../support/random-ensemble.js';

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `p${n}`);

describe('the agreement of two orders', () => {
  it('is 1 for equal beginnings, whatever follows, and below 0 if they have nothing in common', () => {
    const all = ids(100);
    expect(agreementOf(all.slice(0, 10), all.slice(0, 10), 100)).to.equal(1);
    expect(agreementOf(all.slice(0, 10), all.slice(0, 10).reverse(), 100)).to.equal(1);
    expect(agreementOf(all.slice(0, 10), all.slice(50, 60), 100)).to.be.closeTo(-1 / 9, 1e-12);
    expect(agreementOf(['a', 'b'], ['b', 'a'], 2)).to.equal(-1);
    expect(agreementOf(['a'], ['a'], 1)).to.equal(undefined);
    expect(agreementOf([], [], 0)).to.equal(undefined);
  });

  it('is 0 on average for random orders of any length', () => {
    const random = randomNumbers(3);
    const shuffled = (all: readonly string[]): string[] =>
      all
        .map((id) => [random(), id] as const)
        .sort(([a], [b]) => a - b)
        .map(([, id]) => id);
    for (const count of [2, 3, 10, 19, 20, 200]) {
      let sum = 0;
      for (let turn = 0; turn < 4000; turn++)
        sum += agreementOf(shuffled(ids(count)).slice(0, 10), ids(count).slice(0, 10), count) ?? 0;
      expect(sum / 4000, `${count} candidates`).to.be.within(-0.06, 0.06);
    }
  });
});
