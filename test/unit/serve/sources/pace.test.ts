import { expect } from 'chai';
import type { SourceMessage } from '../../../../runtime/ground/api/source.js';
import { Pace, type ServiceLoad } from '../../../../runtime/serve/sources/pace.js';

const messages = (count: number, bytes: number): readonly SourceMessage[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ partition: 'p', id: String(i), time: 0, headers: {} },
    content: new Uint8Array(bytes),
  }));

describe('the pace of a source', () => {
  const load: ServiceLoad = { waiting: 0, loopDelayMs: 0, isRanking: false };
  const { signal } = new AbortController();
  const stopped = AbortSignal.abort();

  it('is full if nothing waits, and without a service', async () => {
    for (const pace of [new Pace(), new Pace(() => load)]) {
      await pace.turn(signal);
      pace.read(messages(10, 100));
      expect([pace.most, pace.atOnce, pace.slowedMs]).to.deep.equal([1000, 16, 0]);
    }
  });

  it('falls while requests wait or the event loop is late, never stops, and rises again', async () => {
    let busy: ServiceLoad = { ...load, waiting: 1 };
    const pace = new Pace(() => busy);
    pace.read(messages(10, 100));
    // The pauses end at once, because the signal has aborted.
    const sizes: number[] = [];
    for (let i = 0; i < 8; i++) {
      await pace.turn(stopped);
      sizes.push(pace.most);
    }
    expect(sizes).to.deep.equal([500, 250, 125, 62, 31, 15, 10, 10]);
    expect(pace.atOnce).to.equal(1);
    expect(pace.slowedMs).to.equal(20 + 40 + 80 + 160 + 320 + 640 + 1000 + 1000);
    busy = { ...load, loopDelayMs: 200 };
    await pace.turn(stopped);
    expect(pace.most).to.equal(10);
    busy = load;
    for (let i = 0; i < 7; i++) await pace.turn(signal);
    expect(pace.most).to.equal(1000);
  });

  it('has small batches and few writes in flight beside rankings', () => {
    let now = load;
    const pace = new Pace(() => now);
    pace.read(messages(10, 100));
    now = { ...load, isRanking: true };
    expect([pace.most, pace.atOnce]).to.deep.equal([100, 1]);
    now = load;
    expect([pace.most, pace.atOnce]).to.deep.equal([1000, 16]);
  });

  it('reads fewer messages at once if they are large, and few before it knows their size', () => {
    const pace = new Pace();
    expect(pace.most).to.equal(10);
    pace.read(messages(10, 2 ** 20));
    expect(pace.most).to.equal(3);
    pace.read(messages(2, 2 ** 24));
    expect(pace.most).to.equal(1);
    pace.read([]);
    expect(pace.most).to.equal(1);
    pace.read(messages(1, 0));
    expect(pace.most).to.equal(1000);
  });
});
