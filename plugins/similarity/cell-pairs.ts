import { type Column, isKnown, Status, statusAt } from 'millrace/api';

/** Present if both cells of a row are known, else why the first of those that are not is not. */
export function statusOfPair(a: Column, b: Column, row: number): number {
  const first = statusAt(a.status, row * a.stride);
  if (!isKnown(first)) return first;
  const second = statusAt(b.status, row * b.stride);
  return isKnown(second) ? Status.present : second;
}
