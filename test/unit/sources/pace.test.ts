import { expect } from 'chai';
import { Pace } from '../../../runtime/sources/pace.js';

describe('the pace of a source', () => {
  const load = { waiting: 0, loopDelayMs: 0 };
  const { signal } = new AbortController();
  const stopped = AbortSignal.abort();

  it('is full if nothing waits, and without a service', async () => {
    for (const pace of [new Pace(), new Pace(() => load)]) {
      await pace.turn(signal);
      expect([pace.most, pace.atOnce, pace.slowedMs]).to.deep.equal([1000, 16, 0]);
    }
  });

  it('falls while requests wait or the event loop is late, never stops, and rises again', async () => {
    let busy = { waiting: 1, loopDelayMs: 0 };
    const pace = new Pace(() => busy);
    // The pauses end at once, because the signal has aborted.
    const sizes: number[] = [];
    for (let i = 0; i < 8; i++) {
      await pace.turn(stopped);
      sizes.push(pace.most);
    }
    expect(sizes).to.deep.equal([500, 250, 125, 62, 31, 15, 10, 10]);
    expect(pace.atOnce).to.equal(1);
    expect(pace.slowedMs).to.equal(20 + 40 + 80 + 160 + 320 + 640 + 1000 + 1000);
    busy = { waiting: 0, loopDelayMs: 200 };
    await pace.turn(stopped);
    expect(pace.most).to.equal(10);
    busy = load;
    for (let i = 0; i < 7; i++) await pace.turn(signal);
    expect(pace.most).to.equal(1000);
  });
});
