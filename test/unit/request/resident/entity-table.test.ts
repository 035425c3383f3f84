import { expect } from 'chai';
import fc from 'fast-check';
import { ID_PLACES } from '../../../../runtime/ground/core/parse-ids.js';
import type { JsonValue } from '../../../../runtime/ground/api/types.js';
import { writeJson } from '../../../../runtime/language/frame/cells.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import type { ColumnShape } from '../../../../runtime/language/frame/frame-layout.js';
import { EntityTable } from '../../../../runtime/request/resident/entity-table.js';
import { draws } from '../../../support/draws.js';
import { writeHeldList } from '../../../../runtime/request/resident/row-columns.js';
import type { TablePart } from '../../../../runtime/request/resident/table-part.js';

const SHAPE: ColumnShape = { kind: 'vector', scope: 'candidate', size: 2 };
const NARROW: JsonValue = [0.5, 2];
const DECODER = { decode: () => Infinity };
const WIDE: JsonValue = [0.1, 58849121863];

describe('the resident table of a type', () => {
  let table: EntityTable;
  let part: TablePart;

  beforeEach(() => {
    const wants = [
      { group: 'entity', keyPrefix: 'm:', shapes: [SHAPE], definitions: [''], decoder: DECODER },
    ];
    table = new EntityTable('item', wants, { left: 0 });
    [part] = table.parts as [TablePart];
  });

  const put = (id: string, vector: JsonValue): void => {
    const column = looseColumn(SHAPE, 1);
    writeJson(column, 0, vector);
    table.put(part, id, [column], 0, Infinity);
  };
  const read = (...ids: string[]): unknown => {
    const column = looseColumn(SHAPE, ids.length);
    part.columns.gather(table.rowsOf(ids, ids.length), [0], [column]);
    return column.kind === 'vector' && [...column.values];
  };

  it('takes 4 more bytes for each vector element of each row after the first element that does not fit float32', () => {
    for (const id of ['a', 'b', 'c']) put(id, NARROW);
    const before = table.bytes;
    expect(read('a', 'c')).to.deep.equal([0.5, 2, 0.5, 2]);
    put('b', WIDE);
    expect(table.bytes).to.equal(before + 3 * 2 * 4);
    expect(read('a', 'b', 'c')).to.deep.equal([0.5, 2, 0.1, 58849121863, 0.5, 2]);
    for (let i = 0; i < 600; i++) put(`more${i}`, NARROW);
    expect(read('b', 'more599')).to.deep.equal([0.1, 58849121863, 0.5, 2]);
  });

  it('finds the same rows by places, whatever these are', () => {
    const ids = Array.from({ length: 40 }, (_, i) => `i${i}`);
    const id = fc.constantFrom(...ids);
    const change = fc.oneof(
      { weight: 6, arbitrary: id.map((one) => () => put(one, NARROW)) },
      { weight: 3, arbitrary: id.map((one) => () => table.invalidate(part, one)) },
      fc.constant(() => table.flush()),
      fc.constant(() => table.evict(() => table.size < 10)),
      fc.constant(() => ids.forEach((one) => put(`more ${one}`, NARROW))),
    );
    const place = fc.oneof(fc.nat({ max: 5 }), fc.nat({ max: ID_PLACES - 1 }));
    const look = fc.array(fc.tuple(id, place), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(fc.tuple(change, look), { maxLength: 60 }), (rounds) => {
        for (const [apply, looked] of rounds) {
          apply();
          // An equal string that is not the same one.
          const asked = looked.map(([one]) => Buffer.from(one).toString());
          const places = Int32Array.from(looked, ([, at]) => at);
          expect(table.rowsOf(asked, asked.length, places)).to.deep.equal(table.rowsOf(asked, asked.length));
        }
      }),
      { numRuns: draws(500) },
    );
  });

  it('keeps each text once, drops texts that no row has, and gives the texts of all rows meanwhile', () => {
    const shapes = [
      { kind: 'text', scope: 'candidate' },
      { kind: 'texts', scope: 'candidate' },
    ] as const;
    const wants = [{ group: 'entity', keyPrefix: 'm:', shapes, definitions: ['', ''], decoder: DECODER }];
    const texts = new EntityTable('item', wants, { left: 1000 });
    const [only] = texts.parts as [TablePart];
    const scratch = shapes.map((shape) => looseColumn(shape, 1));
    const putText = (id: string, text: string): void => {
      for (const column of scratch) writeJson(column, 0, column.kind === 'text' ? text : [text, 'shared']);
      texts.put(only, id, scratch, 0, Infinity);
    };
    const ids = Array.from({ length: 2000 }, (_, i) => `p${i}`);
    const textOf = (id: string, round: number): string => `${'long '.repeat(20)}${id} of ${round % 5}`;
    const dictionaries = new Set<unknown>();
    let most = 0;
    for (let round = 0; round < 12; round++) {
      for (const [i, id] of ids.entries()) if (i % 12 >= round) putText(id, textOf(id, round));
      const column = looseColumn(shapes[0], ids.length);
      const list = looseColumn(shapes[1], ids.length);
      if (column.kind !== 'text' || list.kind !== 'texts') throw new Error('they hold texts');
      only.columns.tidy();
      const rows = texts.rowsOf(ids, ids.length);
      only.columns.gather(rows, [0], [column]);
      const held = only.columns.takeTexts(1, rows, list);
      rows.forEach((_, i) => {
        writeHeldList(list, i, held);
      });
      const wanted = ids.map((id, i) => textOf(id, Math.min(round, i % 12)));
      expect(column.values).to.deep.equal(wanted);
      expect(list.values).to.deep.equal(wanted.flatMap((text) => [text, 'shared']));
      for (const { codes = [], values, dictionary } of [column, list]) {
        for (const [i, text] of values.entries())
          if ((codes[i] ?? -1) >= 0) expect(dictionary?.texts[codes[i] ?? -1]).to.equal(text);
      }
      dictionaries.add(column.dictionary);
      most = Math.max(most, column.dictionary?.texts.length ?? 0);
    }
    expect(dictionaries.size).to.be.greaterThan(2);
    expect(most).to.be.lessThan(3.2 * ids.length);
    for (const id of ids) texts.invalidate(only, id);
    expect(texts.bytes).to.equal(0);
  });

  it('uses no bytes after every row is dropped, even if vectors were widened', () => {
    put('a', NARROW);
    put('b', WIDE);
    for (const id of ['a', 'b']) table.invalidate(part, id);
    expect(table.bytes).to.equal(0);
    put('a', WIDE);
    table.flush();
    expect(table.bytes).to.equal(0);
    put('a', NARROW);
    table.invalidate(part, 'a');
    expect(table.bytes).to.equal(0);
  });
});
