import { expect } from 'chai';
import { plugin } from '../../../../plugins/pin/index.js';
import { Pin } from '../../../../plugins/pin/pin.js';
import { readPins } from '../../../../plugins/pin/pin-table.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, FakeRanking, FakeStep, projectFile } from '../../../support/step-input.js';

describe('pin', () => {
  const pin = (positions: Readonly<Record<string, number>>, rows?: readonly number[]): FakeRanking => {
    const ranking = new FakeRanking([0, -1, 0, 5]);
    new Pin(() => new Map(Object.entries(positions))).apply(new FakeStep(4, rows), ranking);
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

  it('pins the ids of the request, from the first position, each once', () => {
    const step = new FakeStep(4);
    const ranking = new FakeRanking([4, 3, 2, 1]);
    Pin.of(step.requestTexts(['p3', 'nobody', 'p3', 'p1'])).apply(step, ranking);
    expect([...ranking.final()]).to.deep.equal([3, 0, 1, 2]);
    expect(Pin.of(step.requestTexts(absent)).apply(step, new FakeRanking([1]))).to.deep.equal({
      applied: 0,
      skipped: 0,
    });
  });

  it('looks pins up by the query', () => {
    const file = projectFile('pins.csv', 'id,key,position\np3,tv,1\np2,tv,2\np1,lamp,1\n');
    const table = readPins(file, ['table', 'file']);
    const pinned = (query: string): number[] => {
      const step = new FakeStep(4);
      const ranking = new FakeRanking([4, 3, 2, 1]);
      Pin.by(step.requestText(query), table).apply(step, ranking);
      return [...ranking.final()];
    };
    expect(pinned('tv')).to.deep.equal([3, 2, 0, 1]);
    expect(pinned('lamp')).to.deep.equal([1, 0, 2, 3]);
    expect(pinned('__proto__')).to.deep.equal([0, 1, 2, 3]);
  });

  it('names the row of a table that is wrong', () => {
    const read = (content: string) => () => readPins(projectFile('pins.csv', content), ['table', 'file']);
    expect(read('key,id\ntv,p1\n')).to.throw(OptionError, 'has the columns key, id');
    expect(read('key,position,id\ntv,0,p1\n')).to.throw('row 1: `0` is no position');
    expect(read('key,position,id\ntv,1,\n')).to.throw('row 1 has no id');
    expect(read('key,position,id\ntv,1,p1\ntv,2,p1\n')).to.throw('row 2: `p1` has two positions for `tv`');
    expect(read('key,position,id\ntv,1,p1\ntv,1,p2\n')).to.throw('position 1 is given twice for `tv`');
  });

  it('takes a table with very many queries', () => {
    const lines = Array.from({ length: 200_000 }, (_, at) => `q${at},1,p1`);
    const file = projectFile('pins.csv', ['key,position,id', ...lines, ''].join('\n'));
    const table = { by: { kind: 'text', slot: 0, text: 'query.query' }, file };
    expect(() => createComponent(plugin, { table })).not.to.throw();
  });

  it('needs exactly one way', () => {
    expect(() => createComponent(plugin, {})).to.throw(OptionError, 'no pins are given');
  });
});
