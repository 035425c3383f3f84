import { type Column, isKnown, Status } from 'millrace/api';

/** Present if both cells of a row are known, else why the first of those that are not is not. */
export function statusOfPair(a: Column, b: Column, row: number): number {
  const first = a.status[row * a.stride] ?? Status.absent;
  if (!isKnown(first)) return first;
  const second = b.status[row * b.stride] ?? Status.absent;
  return isKnown(second) ? Status.present : second;
}
