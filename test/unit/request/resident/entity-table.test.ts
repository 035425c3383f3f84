import { expect } from 'chai';
import type { JsonValue } from '../../../../runtime/ground/api/types.js';
import { writeJson } from '../../../../runtime/language/frame/cells.js';
import { looseColumn } from '../../../../runtime/language/frame/frame.js';
import type { ColumnShape } from '../../../../runtime/language/frame/frame-layout.js';
import { EntityTable } from '../../../../runtime/request/resident/entity-table.js';
import type { TablePart } from '../../../../runtime/request/resident/table-part.js';

const SHAPE: ColumnShape = { kind: 'vector', scope: 'candidate', size: 2 };
const NARROW: JsonValue = [0.5, 2];
const WIDE: JsonValue = [0.1, 58849121863];

describe('the resident table of a type', () => {
  let table: EntityTable;
  let part: TablePart;

  beforeEach(() => {
    const decoder = { decode: () => Infinity };
    table = new EntityTable('item', [
      { group: 'entity', keyPrefix: 'm:', shapes: [SHAPE], definitions: [''], decoder },
    ]);
    [part] = table.parts as [TablePart];
  });

  const put = (id: string, vector: JsonValue): void => {
    const column = looseColumn(SHAPE, 1);
    writeJson(column, 0, vector);
    table.put(part, id, [column], 0, Infinity);
  };
  const read = (...ids: string[]): unknown => {
    const column = looseColumn(SHAPE, ids.length);
    part.columns.gather(
      Int32Array.from(ids, (id) => table.rowOf(id)),
      [0],
      [column],
    );
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
