import { expect } from 'chai';
import fc from 'fast-check';
import type { ColumnOf } from '../../../../runtime/ground/api/columns.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import { writeHeldList, writeHeldTexts } from '../../../../runtime/request/resident/row-columns.js';
import { CodeLists } from '../../../../runtime/request/resident/code-lists.js';
import { TextCodes } from '../../../../runtime/request/resident/text-codes.js';

const ROOM = { left: 0 };
/** Of each text: which dictionary has it, or none if it is empty. */
const someLists = fc.array(
  fc.array(fc.tuple(fc.constantFrom('', 'a', 'b', 'ö'), fc.nat(1)), { maxLength: 4 }),
  {
    minLength: 1,
    maxLength: 5,
  },
);

describe('lists of texts in a resident table', () => {
  it('are the same if they are written at once as one after another', () => {
    fc.assert(
      fc.property(someLists, fc.nat(1), (lists, current) => {
        const dictionaries = [new TextCodes(ROOM), new TextCodes(ROOM)] as const;
        const held = lists.map((list) =>
          list.map(([text, which]) =>
            text === '' ? -1 : 2 * dictionaries[which === 0 ? 0 : 1].retain(text) + which,
          ),
        );
        const [each, all] = [1, 2].map(() => {
          const column = looseColumn({ kind: 'texts', scope: 'candidate' } as never, lists.length);
          const texts = column as ColumnOf<'texts'>;
          texts.dictionary = dictionaries[current === 0 ? 0 : 1];
          return texts;
        }) as [ColumnOf<'texts'>, ColumnOf<'texts'>];
        const codes = new CodeLists();
        codes.grow(lists.length);
        for (const [row, list] of held.entries()) codes.put(row, list);
        const taken = { ...codes.take(Int32Array.from(lists.keys()), 0, 1), dictionaries };
        for (let row = 0; row < lists.length; row++) writeHeldList(each, row, taken);
        const middle = Math.floor(lists.length / 2);
        writeHeldTexts(all, taken, 0, middle);
        writeHeldTexts(all, taken, middle, lists.length);
        expect(all).to.deep.equal(each);
        expect(all.values).to.deep.equal(lists.flatMap((list) => list.map(([text]) => text)));
      }),
    );
  });
});
