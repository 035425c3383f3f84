import { expect } from 'chai';
import { ExpiringKeys } from '../../../../runtime/state/store/embedded/expiring-keys.js';
import { RecordMemory } from '../../../../runtime/state/store/embedded/record-memory.js';
import {
  encodeSegment,
  encodeTombstone,
  viewId,
} from '../../../../runtime/state/store/codec/feature-record.js';
import { historyKey } from '../../../../runtime/state/store/keys.js';
import { RecordLayout } from '../../../../runtime/state/store/codec/record-layout.js';
import { newVersioned, VERSIONED_HEAD } from '../../../../runtime/state/store/codec/versioned-record.js';

const keyOf = (id: number): string => historyKey('t', 'user', String(id));

describe('expiring keys', () => {
  it('finds all expired records, a few at a time, among others', () => {
    const records = new RecordMemory();
    for (let id = 0; id < 200; id++)
      records.put(keyOf(id), newVersioned(VERSIONED_HEAD, id % 3 === 0 ? 1000 : 2000));
    records.put('t:entity:user:1', Buffer.alloc(VERSIONED_HEAD)); // not a history, although it looks like one
    const expiring = new ExpiringKeys(records);
    const found = new Set<string>();
    for (let writes = 0; writes < 200 / 16; writes++) {
      const over = expiring.over(1000);
      expect(over.length).to.be.at.most(16);
      for (const key of over) {
        records.delete(key);
        expiring.note(key);
        found.add(key);
      }
    }
    expect(found.size).to.equal(67);
    expect(expiring.over(1000)).to.deep.equal([]);
    expect(records.size).to.equal(134);
  });

  it('finds records that hold only deleted feature rows, at load and after a write', () => {
    const records = new RecordMemory();
    const [deleted, kept] = ['t:features:user:1', 't:nightly:user:2'];
    const tombstone = encodeTombstone(viewId('v'), 1, 1000);
    const row = encodeSegment(viewId('w'), new RecordLayout([], undefined), 1, {});
    records.put(deleted, tombstone);
    records.put(kept, Buffer.concat([tombstone, row]));
    const expiring = new ExpiringKeys(records);
    expect(expiring.over(999)).to.deep.equal([]);
    expect(expiring.over(1000)).to.deep.equal([deleted]);
    records.put(kept, tombstone);
    expiring.note(kept);
    expect(expiring.over(1000)).to.have.members([deleted, kept]);
  });

  it('uses the expiry of the current record', () => {
    const records = new RecordMemory();
    const expiring = new ExpiringKeys(records);
    for (const expires of [1000, 3000]) {
      records.put(keyOf(1), newVersioned(VERSIONED_HEAD, expires));
      expiring.note(keyOf(1));
    }
    expect(expiring.over(2000)).to.deep.equal([]);
    expect(expiring.over(3000)).to.deep.equal([keyOf(1)]);
  });
});
