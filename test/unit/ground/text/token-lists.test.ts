import { expect } from 'chai';
import { Analyzer, TokenLists } from '../../../../runtime/ground/text/index.js';
import { TextCodes } from '../../../../runtime/request/resident/text-codes.js';

const LONG = 'a long text, and longer; '.repeat(100);

describe('lists of tokens', () => {
  it('read a text once for all analyzers with equal settings, and give the tokens of the analyzer', () => {
    const texts = new TextCodes({ left: 1e6 });
    const [code, long] = ['Red lamps for desks', LONG].map((text) => texts.retain(text)) as [number, number];
    const lists = TokenLists.of(texts, new Analyzer({ stemming: 'plural' }));
    expect(TokenLists.of(texts, new Analyzer({ stemming: 'plural' }))).to.equal(lists);
    expect(TokenLists.of(texts, new Analyzer({}))).not.to.equal(lists);
    expect(lists.has(code)).to.equal(false);
    for (const [of, text] of [
      [code, 'Red lamps for desks'],
      [long, LONG],
    ] as const) {
      const place = lists.placeOf(of);
      const length = lists.numbers[place] ?? 0;
      const wanted = new Analyzer({ stemming: 'plural' }).tokens(text).map((token) => lists.numberOf(token));
      expect([...lists.numbers.subarray(place + 1, place + 1 + length)]).to.deep.equal(wanted);
      expect(lists.placeOf(of)).to.equal(place);
    }
    expect(lists.has(code)).to.equal(true);
    expect(lists.numberOf('chair')).to.equal(-1);
    expect(texts.taken).to.be.greaterThan(4 * 400);
  });

  it('have none of a text for which there is no room, or that is too long to read at once', () => {
    const texts = new TextCodes({ left: 150 });
    const lists = TokenLists.of(texts, new Analyzer());
    expect(lists.placeOf(texts.retain('red lamp'))).to.equal(-1);
    expect(texts.taken).to.be.at.most(150);
    const room = { left: 1e6 };
    const other = new TextCodes(room);
    expect(TokenLists.of(other, new Analyzer()).placeOf(other.retain(LONG.repeat(2)))).to.equal(-1);
    expect(TokenLists.of(other, new Analyzer()).placeOf(other.retain(LONG))).to.be.at.least(0);
    other.leave();
    expect(room.left).to.equal(1e6);
    expect(other.take(1)).to.equal(false);
  });
});
