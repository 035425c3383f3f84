/** Limits of one MSET or pipeline, because a running command delays the commands behind it. */
const BATCH_RECORDS = 256;
const BATCH_BYTES = 1024 * 1024;

/** A run of positions whose values fit one command; `bytes` is their size. */
export interface Batch {
  readonly positions: readonly number[];
  readonly bytes: number;
}

/** Cuts positions, in order, into batches of bounded count and size. */
export function batchesOf(
  positions: readonly number[],
  sizeAt: (position: number) => number,
  most = BATCH_RECORDS,
): Batch[] {
  const batches: Batch[] = [];
  let batch: number[] = [];
  let bytes = 0;
  for (const position of positions) {
    const size = sizeAt(position);
    if (batch.length === most || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      batches.push({ positions: batch, bytes });
      batch = [];
      bytes = 0;
    }
    batch.push(position);
    bytes += size;
  }
  if (batch.length > 0) batches.push({ positions: batch, bytes });
  return batches;
}

/** 0, 1, … count − 1. */
export function allPositions(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
