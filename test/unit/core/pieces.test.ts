import { expect } from 'chai';
import { atOnce, inTurns, type Pieces } from '../../../runtime/core/pieces.js';

/** Each piece blocks the event loop for longer than a slice. */
function* work(pieces: number, fails = false): Pieces<string> {
  for (let piece = 0; piece < pieces; piece++) {
    for (const until = performance.now() + 6; performance.now() < until;);
    yield;
  }
  if (fails) throw new Error('no more');
  return 'done';
}

describe('work in pieces', () => {
  it('lets other work run between long pieces', async () => {
    let others = 0;
    let next = setImmediate(function count() {
      others++;
      next = setImmediate(count);
    });
    expect(await inTurns(work(5))).to.equal('done');
    clearImmediate(next);
    expect(others).to.be.at.least(5);
  });

  it('gets one slice per turn, however many jobs there are', async () => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    await Promise.all([inTurns(work(3)), inTurns(work(3)), inTurns(work(3))]);
    clearImmediate(next);
    expect(turns).to.be.at.least(9);
  });

  it('shares a turn if it is short', async () => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    await Promise.all(Array.from({ length: 100 }, () => inTurns(work(0))));
    clearImmediate(next);
    expect(turns).to.be.below(50);
  });

  it('ends when its check throws, and other work continues', async () => {
    let slices = 0;
    const checked = inTurns(work(100), () => {
      if (++slices === 3) throw new Error('too late');
    }).catch((one: unknown) => one);
    expect(await inTurns(work(5))).to.equal('done');
    expect(await checked)
      .to.be.an('error')
      .with.property('message', 'too late');
    expect(slices).to.equal(3);
  });

  it('can run synchronously', () => {
    let others = 0;
    const next = setImmediate(() => others++);
    expect(atOnce(work(2))).to.equal('done');
    expect(others).to.equal(0);
    clearImmediate(next);
  });

  it('rejects if the work throws', async () => {
    const error = await inTurns(work(1, true)).catch((one: unknown) => one);
    expect(error).to.be.an('error').with.property('message', 'no more');
  });
});
