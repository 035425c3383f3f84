import type { ForeignFile } from '../../learn/dataset/import/input-files.js';

/** The bytes of the files that one partition holds. */
const PARTITION_BYTES = 4 * 1024 * 1024;
/** How much larger a file becomes when it is decompressed. */
const COMPRESSION = 8;
const MOST_PARTITIONS = 4096;

/** Into how many partitions the rows of files are divided, so that each fits into memory. */
export function partitionsFor(files: readonly ForeignFile[]): number {
  const bytes = files.reduce(
    (sum, file) => sum + file.bytes * (/\.(gz|parquet)$/i.test(file.path) ? COMPRESSION : 1),
    0,
  );
  return Math.min(MOST_PARTITIONS, Math.ceil(bytes / PARTITION_BYTES));
}
