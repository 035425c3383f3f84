import { expect } from 'chai';
import fc from 'fast-check';
import type { TextColumn } from '../../../../runtime/ground/api/columns.js';
import { ByCode } from '../../../../runtime/ground/text/index.js';
import { TextCodes } from '../../../../runtime/request/resident/text-codes.js';
import { draws } from '../../../support/draws.js';
import { giveCodes } from '../../../support/give-codes.js';

const columnOf = (values: readonly string[]): TextColumn => ({
  kind: 'text',
  stride: 1,
  status: new Uint8Array(values.length),
  values: [...values],
});

describe('numbers of texts by their codes', () => {
  it('are those of the texts, whatever has a code, and however much room there is (property)', () => {
    const text = fc.constantFrom('', 'a', 'b', 'red', 'rot', 'a longer text', 'ä');
    const requests = fc.array(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 12 }), { maxLength: 6 });
    fc.assert(
      fc.property(requests, fc.constantFrom(0, 300, 1e6), (columns, left) => {
        const numberOf = (one: string): number => one.length - 2;
        const byCode = new ByCode((one) => Math.max(-1, numberOf(one)));
        const dictionary = new TextCodes({ left });
        for (const cells of columns) {
          const column = columnOf(cells.map(([value]) => value));
          giveCodes(column, dictionary, (at) => cells[at]?.[1] === true);
          const read = byCode.reader(column);
          for (const [at, [value]] of cells.entries())
            expect(read(at)).to.equal(Math.max(-1, numberOf(value)));
        }
        expect(dictionary.taken).to.be.at.most(left);
      }),
      { numRuns: draws(100) },
    );
  });

  it('are found once for each text of a dictionary, and leave with it', () => {
    let found = 0;
    const byCode = new ByCode(() => found++);
    const room = { left: 1e6 };
    const dictionary = new TextCodes(room);
    for (let request = 0; request < 3; request++) {
      const column = columnOf(['a', 'b', 'a', 'c']);
      giveCodes(column, dictionary);
      const read = byCode.reader(column);
      expect([0, 1, 2, 3].map(read)).to.deep.equal([0, 1, 0, 2]);
    }
    expect(found).to.equal(3);
    expect(room.left).to.be.below(1e6);
    dictionary.leave();
    expect(room.left).to.equal(1e6);
  });

  it('are found anew for texts without codes', () => {
    let found = 0;
    const read = new ByCode(() => found++).reader(columnOf(['a', 'a']));
    expect([read(0), read(1), read(0)]).to.deep.equal([0, 1, 2]);
  });
});
