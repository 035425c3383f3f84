import { expect } from 'chai';
import { ArmTally } from '../../../../runtime/learn/shadow/tally.js';

const served = { requestId: 'r1', ranked: ['a', 'b'].map((id, at) => ({ id, score: 2 - at })) };

describe('ArmTally', () => {
  it('counts each request once, by what became of it', () => {
    const tally = new ArmTally('one', 10);
    const ranked = [...served.ranked].reverse();
    const rows = [
      tally.add(served, { is: 'ranked', ranked, degraded: ['skipped=x'], ms: 4 }),
      tally.add(served, { is: 'failed', code: 'timeout' }),
      tally.add(served, { is: 'failed', code: 'timeout' }),
      tally.drop(served),
    ];
    expect(rows.map(({ outcome }) => outcome)).to.deep.equal(['ok', 'timeout', 'timeout', 'dropped']);
    expect(rows[3]).to.deep.equal({ request_id: 'r1', arm: 'one', outcome: 'dropped' });
    expect(tally.report(1)).to.deep.equal({
      arm: 'one',
      ...{ ranked: 1, same: 0, degraded: 1, failed: { timeout: 2 }, restarts: 1, dropped: 1, not_finite: 0 },
      ...{ overlap: 1, tau: -1, drift: { mean: 0, p95: 0 }, ms: { p50: 4, p99: 4 } },
    });
  });

  it('has no figures without a ranking', () => {
    expect(new ArmTally('one', 10).report(0)).to.include({ overlap: null, tau: null, drift: null, ms: null });
  });
});
