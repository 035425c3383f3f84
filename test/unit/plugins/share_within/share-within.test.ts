import { expect } from 'chai';
import type { Among } from '../../../../plugins/share_within/options.generated.js';
import { plugin } from '../../../../plugins/share_within/index.js';
import { ShareWithin } from '../../../../plugins/share_within/share-within.js';
import { OptionError } from '../../../../runtime/ground/api/option-error.js';
import { Status } from '../../../../runtime/ground/api/status.js';
import { createComponent } from '../../../support/create-component.js';
import { absent, compute, FakeStep, type Cell } from '../../../support/step-input.js';

const lost = { status: Status.missing_entity };

async function ofTexts(cells: readonly Cell<string>[], rows?: readonly number[], among: Among = 'remaining') {
  const step = new FakeStep(cells.length, rows);
  return compute(new ShareWithin(step.text(cells), among), step);
}

async function ofLists(cells: readonly Cell<readonly string[]>[]) {
  const step = new FakeStep(cells.length);
  return compute(new ShareWithin(step.texts(cells), 'remaining'), step);
}

describe('share_within', () => {
  it('counts the candidates with the same text', async () => {
    const { count, share } = await ofTexts(['a', 'b', 'a', lost, 'a', '']);
    expect(count).to.deep.equal([3, 1, 3, lost, 3, 1]);
    expect(share).to.deep.equal([3 / 5, 1 / 5, 3 / 5, lost, 3 / 5, 1 / 5]);
  });

  it('counts the texts of lists', async () => {
    const { count, share } = await ofLists([['a', 'b'], ['a'], [], lost]);
    expect(count).to.deep.equal([3, 2, 0, lost]);
    expect(share).to.deep.equal([1, 2 / 3, 0, lost]);
    expect(await ofLists([[], []])).to.deep.equal({ count: [0, 0], share: [absent, absent] });
  });

  it('counts many texts, which takes several turns', async () => {
    const shared = Array.from({ length: 1000 }, (_, i) => `t${i}`);
    const rows = Array.from({ length: 30 }, (_, row) => [...shared, `own${row}`]);
    const { count, share } = await ofLists(rows);
    expect(count).to.deep.equal(rows.map(() => 30 * 1000 + 1));
    expect(share).to.deep.equal(rows.map(() => 30_001 / 30_030));
  });

  it('compares the rows of the step, or all', async () => {
    expect((await ofTexts(['a', 'a', 'b', 'a'], [0, 2])).share).to.deep.equal([1 / 2, absent, 1 / 2, absent]);
    expect((await ofTexts(['a', 'a', 'b', 'a'], [0, 2], 'all')).share).to.deep.equal([
      3 / 4,
      absent,
      1 / 4,
      absent,
    ]);
  });

  it('forgets the texts of the request before', async () => {
    const step = new FakeStep(2);
    const component = new ShareWithin(step.text(['a', 'b']), 'remaining');
    expect((await compute(component, step)).count).to.deep.equal([1, 1]);
    expect((await compute(component, step)).count).to.deep.equal([1, 1]);
  });

  it('refuses a number', () => {
    const value = new FakeStep(1).number([1]);
    expect(() => createComponent(plugin, { value, among: 'all' })).to.throw(OptionError, 'takes a text');
  });
});
