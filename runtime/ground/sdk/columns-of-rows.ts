import type { ReaderContext, ReaderInput, ReadRows } from '../api/reader.js';

/**
 * Arranges rows as a reader returns them. A key without a row, and a row without a value, are missing; of rows that repeat a
 * key the last one counts.
 * @param rows in any order, as objects with the names of the key and of the features
 */
export function columnsOfRows(
  rows: Iterable<Readonly<Record<string, unknown>>>,
  { keys }: Pick<ReaderInput, 'keys'>,
  { keys: names, features }: Pick<ReaderContext, 'keys' | 'features'>,
): ReadRows {
  const found = new Map(Array.from(rows, (row) => [names.map((name) => String(row[name])).join('\0'), row]));
  const inOrder = keys.map((key) => found.get(key.join('\0')));
  const column = (name: string): unknown[] => inOrder.map((row) => row && (row[name] ?? null));
  return { columns: Object.fromEntries(Array.from(features.keys(), (name) => [name, column(name)])) };
}
