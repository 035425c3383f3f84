import { expect } from 'chai';
import fc from 'fast-check';
import { Command } from 'ioredis';
import { msetCommand } from '../../../../../runtime/state/store/redis/write-commands.js';

describe('the encoded MSET command', () => {
  const record = fc.record({
    key: fc.string({ unit: 'grapheme', maxLength: 40 }),
    value: fc.uint8Array({ maxLength: 1200 }).map((bytes) => Buffer.from(bytes)),
  });

  it('equals the command that ioredis sends', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 12 }), fc.nat(), (records, seed) => {
        const positions = records.flatMap((_, i) => ((seed >> i) & 1 ? [] : [i]));
        const args = positions.flatMap((i) => [records[i]?.key ?? '', records[i]?.value ?? '']);
        const theirs = new Command('mset', args).toWritable({});
        expect(msetCommand(records, positions).toWritable().equals(Buffer.from(theirs))).to.equal(true);
      }),
    );
  });
});
