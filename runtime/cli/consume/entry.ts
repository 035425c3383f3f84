import { parseRow, type InputRow } from '../input/rows.js';

/**
 * An entry of a Redis stream: its id, and alternating field names and values. The fields are null if the entry was
 * deleted in the meantime.
 */
export type StreamEntry = readonly [id: string, fields: readonly string[] | null];

/** The content of an entry. */
export interface FeatureEntry {
  readonly view: string;
  /** Numbered by the entry's position in its batch. */
  readonly row: InputRow;
}

/**
 * Reads an entry: `view`, the name of a feature view, and `row`, a JSON object with the keys, the features and
 * event_time. The default event time is the time in the entry's id, so a second delivery is not newer than the first.
 */
export function readEntry(
  [id, fields]: StreamEntry,
  position: number,
): FeatureEntry | { readonly problem: string } {
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < (fields?.length ?? 0); i += 2) found.set(fields?.[i] ?? '', fields?.[i + 1] ?? '');
  const [view, text] = [found.get('view'), found.get('row')];
  if (view === undefined || text === undefined) {
    const has = found.size === 0 ? 'none' : [...found.keys()].join(', ');
    return { problem: `expected the fields view and row, found ${has.slice(0, 200)}` };
  }
  const row = parseRow(Buffer.from(text), position);
  if ('problem' in row) return { problem: `row: ${row.problem}` };
  if (Object.hasOwn(row.value, 'event_time')) return { view, row };
  const value = { ...row.value, event_time: Number(id.split('-')[0]) };
  return { view, row: { line: position, value, bytes: row.bytes + 28 } };
}
