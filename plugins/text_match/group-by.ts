/** Items with one key, and their places in the list. */
export interface Group<T> {
  readonly items: readonly T[];
  readonly members: readonly number[];
}

/** Groups items by a key, in the order of the first item of each group. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Group<T>[] {
  const groups = new Map<string, { items: T[]; members: number[] }>();
  for (const [member, item] of items.entries()) {
    const key = keyOf(item);
    const group = groups.get(key) ?? { items: [], members: [] };
    group.items.push(item);
    group.members.push(member);
    groups.set(key, group);
  }
  return [...groups.values()];
}
