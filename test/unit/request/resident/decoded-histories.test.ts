import { expect } from 'chai';
import { DecodedHistories } from '../../../../runtime/request/resident/decoded-histories.js';
import { encodeHistory } from '../../../../runtime/state/store/codec/history-record.js';
import type { History } from '../../../../runtime/state/store/codec/history.js';

const NOW = 1_800_000_000_000;
const HISTORY: History = {
  count: 1,
  times: Float64Array.of(NOW),
  identities: Uint32Array.of(1, 2),
  quantities: Uint16Array.of(1),
  types: Uint8Array.of(1),
  facets: new Map([['product', { offsets: Int32Array.of(0, 1), values: Int32Array.of(1) }]]),
  texts: ['product', 'p1'],
};

describe('decoded histories', () => {
  it('are kept for a minute while the record has equal bytes', () => {
    let now = NOW;
    const histories = new DecodedHistories(undefined, () => now);
    const record = encodeHistory(HISTORY, Infinity);
    const first = histories.of(record);
    expect(histories.of(Buffer.from(record))).to.equal(first);
    expect(histories.of(encodeHistory(HISTORY, Infinity)), 'another version').not.to.equal(first);
    const differing = Buffer.from(record);
    differing[record.length - 1] = 0x32;
    expect(histories.of(differing).of('product').texts, 'the same version').to.deep.equal(['p2']);
    now += 60_001;
    expect(histories.of(differing)).not.to.equal(first);
  });

  it('do not change when the memory of the record is used again', () => {
    const histories = new DecodedHistories(undefined, () => NOW);
    const record = encodeHistory(HISTORY, Infinity);
    const kept = histories.of(record);
    record.fill(0);
    expect(kept.of('product').texts).to.deep.equal(['p1']);
  });

  it('have the kinds of the project, and leave old events out', () => {
    const histories = new DecodedHistories(Uint8Array.of(7, 8), () => NOW);
    const kept = histories.of(encodeHistory(HISTORY, Infinity));
    expect([...kept.of('product').types]).to.deep.equal([8]);
    expect(kept.of('product', NOW)).to.include({ count: 0 });
    expect(kept.of('product')).to.include({ count: 1 });
    expect(kept.of('product')).to.equal(kept.of('product'));
  });
});
