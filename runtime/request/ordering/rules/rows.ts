/** @throws RangeError if there is no such row, or one is given twice */
export function checkRows(rows: ArrayLike<number>, count: number): void {
  const seen = new Uint8Array(count);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? -1;
    if (seen[row] !== 0) throw new RangeError(`there is no row ${row}, or it is given twice`);
    seen[row] = 1;
  }
}

/** @throws RangeError if rows have no group, or one that cannot be */
export function checkGroups(groups: Int32Array, count: number): void {
  if (groups.length < count)
    throw new RangeError(`there are groups for ${groups.length} of ${count} candidates`);
  for (let row = 0; row < count; row++) {
    const group = groups[row] ?? -1;
    if (group < -1 || group >= count)
      throw new RangeError(`a group has a number from 0 to ${count - 1}, or -1, not ${group}`);
  }
}

/** The rows with a group. */
export function groupedRows(groups: Int32Array): number[] {
  return [...groups.keys()].filter((row) => (groups[row] ?? -1) >= 0);
}
