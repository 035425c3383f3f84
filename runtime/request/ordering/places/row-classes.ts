/**
 * Numbers the combinations of groups that rows have. Rows of one class are in the same group everywhere.
 * @param groups by bound: the group of each row; -1 for none
 * @returns by index in `rows`: the number of the class, from 0 in the order of the rows
 */
export function classesOf(rows: Int32Array, groups: readonly Int32Array[]): Int32Array {
  let classes = new Int32Array(rows.length);
  for (const of of groups) {
    const known = new Map<number, number>();
    classes = classes.map((sofar, at) => {
      const key = sofar * (of.length + 1) + (of[rows[at] ?? 0] ?? -1) + 1;
      const number = known.get(key) ?? known.size;
      known.set(key, number);
      return number;
    });
  }
  return classes;
}
