import { expect } from 'chai';
import { paramOf, valueOf } from '../../../plugins/postgres/param.js';
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

  it('binds a value of each kind, and null for one that is not known', async () => {
    const step = new FakeStep(0);
    for (const [input, param] of [
      [step.requestNumber(1.5), 1.5],
      [step.requestText("o'clock\0"), "o'clock "],
      [step.requestTexts(['a', 'say "b\\c"\0', '', 'NULL']), String.raw`{"a","say \"b\\c\" ","","NULL"}`],
      [step.requestTexts([]), '{}'],
      [step.requestVector([1, 0.5, -1], 3), '[1,0.5,-1]'],
      [step.requestText(absent), null],
    ] as const)
      expect(await paramOf(valueOf(step.column(input)))).to.deep.equal(param);
  });

  it('writes a long list in several turns, and does not mind that its column is used again', async () => {
    const step = new FakeStep(0);
    const texts = Array.from({ length: 100_000 }, (_, i) => `t${i}`);
    const column = step.column(step.requestTexts(texts));
    const value = valueOf(column);
    column.values.fill('another request');
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    const param = await paramOf(value);
    clearInterval(counting);
    expect(param).to.equal(`{${texts.map((text) => `"${text}"`).join()}}`);
    expect(turns).to.be.above(0);
  });
});
