import type { BadRow, InputRow, RowChunk } from '../../project/rows/rows.js';

/** The maximum number of rows in one upload or push. */
export const MAX_ROWS = 1000;
export const MAX_BYTES = 4 * 1024 * 1024;

/** The limits of batches for a target. */
export interface BatchShape {
  /** The maximum number of rows in one batch; at most MAX_ROWS. */
  readonly rows: number;
  /** Returns the part of a row that is kept in memory after its id is known and until it is stored. */
  keep(row: InputRow): InputRow;
}

export const LARGEST_BATCHES: BatchShape = { rows: MAX_ROWS, keep: (row) => row };

/** Rows that are sent in one body. */
export interface Batch {
  readonly rows: readonly InputRow[];
  /** The ids in the batch, if they are known. A batch that writes one of them again must wait for this batch. */
  readonly ids: ReadonlySet<string>;
  /** True if no other batch may be in flight at the same time. */
  readonly alone: boolean;
}

/** What the order of a file's rows means. */
export interface RowOrder {
  /**
   * If several rows have the same id, the last one must win. Such rows never share a batch and never overtake each
   * other.
   */
  idOf(row: InputRow): string | undefined;
  /** True if the row must not overtake any other row. */
  isOrdered(row: InputRow): boolean;
}

/** Cuts the rows of a file into batches, in order, and reports bad rows on the way. */
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
    // The rows before an unreadable place are still loaded.
    if (rows.length > 0) yield cut();
    throw error;
  }
  if (rows.length > 0) yield cut();
}

/** True if two batches must not be in flight at the same time. */
export function conflict(a: Batch, b: Batch): boolean {
  if (a.alone || b.alone) return true;
  for (const id of b.ids) if (a.ids.has(id)) return true;
  return false;
}
