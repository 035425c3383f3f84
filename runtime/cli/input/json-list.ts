import { ListSplitter } from './list-splitter.js';
import { InputError, parseRow, type BadRow, type InputRow, type RowChunk } from './rows.js';

/** A larger item is a bad row: no upload could carry it. */
const MAX_ITEM_BYTES = 4 * 1024 * 1024;

/** Reads a JSON list of objects, item by item as it comes; rows are numbered by their position. */
export async function* readJsonList(bytes: AsyncIterable<Buffer>): AsyncGenerator<RowChunk> {
  let rows: InputRow[] = [];
  let bad: BadRow[] = [];
  let item = 0;

  const splitter = new ListSplitter(MAX_ITEM_BYTES, (part) => {
    item += 1;
    if (part === undefined) {
      bad.push({ line: item, problem: `longer than ${String(MAX_ITEM_BYTES / 1024 / 1024)} MB` });
      return;
    }
    const row = parseRow(part, item);
    if ('value' in row) rows.push(row);
    // Where an item breaks off, so may the count of brackets: what follows could be anything.
    else if (row.isBroken) throw new InputError(`item ${String(item)}: ${row.problem}`);
    else bad.push({ line: item, problem: row.problem });
  });

  try {
    for await (const chunk of bytes) {
      splitter.push(chunk);
      if (rows.length + bad.length > 0) yield { rows, bad };
      rows = [];
      bad = [];
    }
    splitter.end();
  } catch (error) {
    if (rows.length + bad.length > 0) yield { rows, bad };
    throw error;
  }
}
