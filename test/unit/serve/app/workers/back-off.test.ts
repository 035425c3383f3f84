import { expect } from 'chai';
import { BackOff } from '../../../../../runtime/serve/app/workers/back-off.js';

describe('BackOff', () => {
  it('waits twice as long after each crash, up to 30 s', () => {
    const backOff = new BackOff();
    const waits = Array.from({ length: 12 }, () => backOff.next(0));
    expect(waits.slice(0, 4)).to.deep.equal([100, 200, 400, 800]);
    expect(waits.at(-1)).to.equal(30_000);
  });

  it('starts again with a short wait after a worker that ran for a minute', () => {
    const backOff = new BackOff();
    for (let crash = 0; crash < 6; crash++) backOff.next(1000);
    expect(backOff.next(60_000)).to.equal(100);
  });
});
