import type { BadRow, InputRow, RowChunk } from '../input/rows.js';

/** The most that one upload or push may carry. */
export const MAX_ROWS = 1000;
export const MAX_BYTES = 4 * 1024 * 1024;

/** The batches that suit where they are sent. */
export interface BatchShape {
  /** Most rows of one; at most MAX_ROWS. */
  readonly rows: number;
  /** What is kept of a row from the moment that its id is known until it is stored. */
  keep(row: InputRow): InputRow;
}

export const LARGEST_BATCHES: BatchShape = { rows: MAX_ROWS, keep: (row) => row };

/** Rows that are sent in one body. */
export interface Batch {
  readonly rows: readonly InputRow[];
  /** Ids in the batch, where they can be told: a batch that writes one of them again has to wait for this one. */
  readonly ids: ReadonlySet<string>;
  /** Whether the batch may not travel beside any other. */
  readonly alone: boolean;
}

/** What the order of a file's rows means. */
export interface RowOrder {
  /** Of rows with one id the last one is to be kept: they never share a batch, and never overtake each other. */
  idOf(row: InputRow): string | undefined;
  /** Whether the row may not overtake any other. */
  isOrdered(row: InputRow): boolean;
}

/** Cuts the rows of a file into batches, in the file's order; tells of bad rows on the way. */
export async function* toBatches(
  chunks: AsyncIterable<RowChunk>,
  shape: BatchShape,
  order: RowOrder,
  onBad: (bad: BadRow) => void,
): AsyncGenerator<Batch> {
  let rows: InputRow[] = [];
  let ids = new Set<string>();
  let bytes = 0;
  let alone = false;

  function cut(): Batch {
    const batch = { rows, ids, alone };
    rows = [];
    ids = new Set();
    bytes = 0;
    alone = false;
    return batch;
  }

  try {
    for await (const chunk of chunks) {
      chunk.bad.forEach(onBad);
      for (const row of chunk.rows) {
        const id = order.idOf(row);
        const full = rows.length === shape.rows || bytes + row.bytes > MAX_BYTES;
        if (rows.length > 0 && (full || (id !== undefined && ids.has(id)))) yield cut();
        rows.push(shape.keep(row));
        bytes += row.bytes;
        alone ||= order.isOrdered(row);
        if (id !== undefined) ids.add(id);
      }
    }
  } catch (error) {
    // What came before the place where the file cannot be read on counts.
    if (rows.length > 0) yield cut();
    throw error;
  }
  if (rows.length > 0) yield cut();
}

/** Whether two batches may not be on their way at once. */
export function conflict(a: Batch, b: Batch): boolean {
  if (a.alone || b.alone) return true;
  for (const id of b.ids) if (a.ids.has(id)) return true;
  return false;
}
