import type { BadRow, InputRow, RowChunk } from '../../runtime/project/rows/rows.js';

/** Yields bytes like a file stream, `size` at a time. */
export async function* inChunks(text: string | Buffer, size = Infinity): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, Math.min(bytes.length, at + size));
  }
}

/** Collects all rows of a reader. */
export async function readAll(
  chunks: AsyncIterable<RowChunk>,
): Promise<{ readonly rows: readonly InputRow[]; readonly bad: readonly BadRow[] }> {
  const rows: InputRow[] = [];
  const bad: BadRow[] = [];
  for await (const chunk of chunks) {
    rows.push(...chunk.rows);
    bad.push(...chunk.bad);
  }
  return { rows, bad };
}
