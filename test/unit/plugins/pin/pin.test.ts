import { expect } from 'chai';
import { plugin } from '../../../../plugins/pin/index.js';
import { Pin } from '../../../../plugins/pin/pin.js';
import { OptionError } from '../../../../runtime/api/plugin.js';
import { createComponent } from '../../../support/create-component.js';
import { FakeRanking, FakeStep } from '../../../support/step-input.js';

describe('pin', () => {
  const pin = (positions: Readonly<Record<string, number>>, rows?: readonly number[]): FakeRanking => {
    const ranking = new FakeRanking([0, -1, 0, 5]);
    new Pin(new Map(Object.entries(positions))).apply(new FakeStep(4, rows), ranking);
    return ranking;
  };

  it('pins exact positions and does not change scores, including 0 and negative ones', () => {
    const ranking = pin({ p0: 1, p1: 3 });
    expect([...ranking.pins]).to.deep.equal([
      [0, 1],
      [1, 3],
    ]);
    expect([...ranking.scores]).to.deep.equal([0, -1, 0, 5]);
  });

  it('ignores ids that are not candidates, are filtered out, or are outside the rows of the step', () => {
    expect([...pin({ p9: 1, nobody: 2 }).pins]).to.deep.equal([]);
    expect([...pin({ p0: 1, p2: 2 }, [1, 2, 3]).pins]).to.deep.equal([[2, 2]]);
    expect([...pin({ p3: 1 }, []).pins]).to.deep.equal([]);
  });

  it('refuses one id at two positions, and names both', () => {
    expect(() => createComponent(plugin, { positions: { 1: 'a', 2: 'b', 4: 'a' } }))
      .to.throw(OptionError, '`a` is pinned to position 4 and to position 1')
      .with.property('path')
      .that.deep.equals(['positions', '4']);
  });

  it('accepts ids that are names of object members', () => {
    expect(() => createComponent(plugin, { positions: { 1: '__proto__', 2: 'constructor' } })).not.to.throw();
  });
});
