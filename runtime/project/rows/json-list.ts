import { ListSplitter } from './list-splitter.js';
import { InputError, parseRow, type BadRow, type InputRow, type RowChunk } from './rows.js';

/** A larger item is a bad row, because no upload could contain it. */
const MAX_ITEM_BYTES = 4 * 1024 * 1024;

/** Reads a JSON list of objects, item by item. Rows are numbered by their position. */
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
    // If an item is not valid JSON, the count of brackets may be wrong, and the rest cannot be read safely.
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
