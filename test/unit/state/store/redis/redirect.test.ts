import { expect } from 'chai';
import { redirectOf } from '../../../../../runtime/state/store/redis/cluster/redirect.js';
import { readSlotRanges } from '../../../../../runtime/state/store/redis/cluster/slot-ranges.js';

const from = { host: 'here', port: 1 };

describe('redirections of a cluster', () => {
  it('are parsed, including IPv6 addresses', () => {
    expect(redirectOf(new Error('MOVED 3999 127.0.0.1:6381'), from)).to.deep.equal({
      slot: 3999,
      to: { host: '127.0.0.1', port: 6381 },
      asking: false,
    });
    expect(redirectOf(new Error('ASK 0 ::1:6381'), from)).to.deep.equal({
      slot: 0,
      to: { host: '::1', port: 6381 },
      asking: true,
    });
  });

  it('without a host refer to the host that replied', () => {
    expect(redirectOf(new Error('MOVED 1 :6381'), from)?.to).to.deep.equal({ host: 'here', port: 6381 });
    expect(redirectOf(new Error('MOVED 1 ?:6381'), from)?.to).to.deep.equal({ host: 'here', port: 6381 });
  });

  it('are not recognized in other replies', () => {
    for (const reply of ['MOVED 3999 127.0.0.1:6381', null, new Error('ERR no'), new Error('MOVED x a:1')]) {
      expect(redirectOf(reply, from)).to.equal(undefined);
    }
  });
});

describe('the map of slots', () => {
  it('is parsed, with the queried host for a missing host', () => {
    const reply = [
      [0, 100, ['10.0.0.1', 7000, 'id', []], ['10.0.0.2', 7000, 'id', []]],
      [101, 101, ['', 7001, 'id']],
      [102, 200, [null, 7002, 'id']],
    ];
    expect(readSlotRanges(reply, from)).to.deep.equal([
      { first: 0, last: 100, master: { host: '10.0.0.1', port: 7000 } },
      { first: 101, last: 101, master: { host: 'here', port: 7001 } },
      { first: 102, last: 200, master: { host: 'here', port: 7002 } },
    ]);
  });

  it('ignores invalid entries', () => {
    expect(readSlotRanges([[0, 20_000, ['a', 1]], [1], 'x', [2, 3, ['a', 'b']]], from)).to.deep.equal([]);
    expect(() => readSlotRanges('no', from)).to.throw();
  });
});
