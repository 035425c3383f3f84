import { type Column, isKnown, Status, statusAt } from 'millrace/api';

/** Present if both cells of a row are known, otherwise the status of the first unknown cell. */
export function statusOfPair(a: Column, b: Column, row: number): number {
  const first = statusAt(a.status, row * a.stride);
  if (!isKnown(first)) return first;
  const second = statusAt(b.status, row * b.stride);
  return isKnown(second) ? Status.present : second;
}
