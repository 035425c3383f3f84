import { expect } from 'chai';
import fc from 'fast-check';
import { parseRate, rateText } from '../../../../runtime/ground/core/rate.js';

describe('a rate', () => {
  it('is a number of requests per time', () => {
    expect(parseRate('100/s')).to.deep.equal({ requests: 100, seconds: 1 });
    expect(parseRate('600/m')).to.deep.equal({ requests: 600, seconds: 60 });
    expect(parseRate('5000/12h')).to.deep.equal({ requests: 5000, seconds: 43_200 });
    expect(parseRate('1/d')).to.deep.equal({ requests: 1, seconds: 86_400 });
  });

  it('has no other form', () => {
    for (const text of [
      '',
      '100',
      '/s',
      '0/s',
      '-1/s',
      '1.5/s',
      '100/',
      '100/ms',
      '100/0s',
      '100/2d',
      '1/25h',
      '1/w',
      ' 1/s',
    ])
      expect(parseRate(text), text).to.equal(undefined);
  });

  it('is written as it is read', () => {
    const rate = fc.record({
      requests: fc.integer({ min: 1, max: 999_999_999 }),
      seconds: fc.integer({ min: 1, max: 86_400 }),
    });
    fc.assert(
      fc.property(rate, (one) => {
        expect(parseRate(rateText(one))).to.deep.equal(one);
      }),
    );
    expect(rateText({ requests: 100, seconds: 60 })).to.equal('100/m');
  });
});
