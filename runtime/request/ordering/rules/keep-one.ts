import type { Grouping } from '../../../ground/api/ranking-edit.js';
import type { RuleKind } from '../rule-kind.js';
import { checkGroups, groupedRows } from './rows.js';

/**
 * Keeps one row of each group, at the place of the best one. A group with a row that has a place of its own keeps only
 * such rows.
 */
export const keepOne: RuleKind<Grouping> = {
  strength: 2,
  take(grouping, count) {
    checkGroups(grouping.groups, count);
    return grouping;
  },
  rowsOf: ({ groups }) => groupedRows(groups),
  settle(rules, settling) {
    for (const { step, ask } of rules)
      settling.free = keptOf(settling.free, settling.fixed.values(), ask, (row) =>
        settling.dropped.push({ row, step }),
      );
  },
  groups: ({ groups }) => groups,
  moved({ groups }, before) {
    const best = new Map<number, number>();
    for (let row = 0; row < before.length; row++) {
      const [group, place] = [groups[row] ?? -1, before[row] ?? 0];
      if (group >= 0 && place > 0) best.set(group, Math.min(place, best.get(group) ?? place));
    }
    // Only a variant that replaces a better one has moved; the others move up because candidates are gone.
    return (row) =>
      (groups[row] ?? -1) >= 0 && before[row] !== 0 && before[row] !== best.get(groups[row] ?? -1);
  },
};

function keptOf(
  free: Int32Array,
  fixed: Iterable<number>,
  { groups, prefer }: Grouping,
  drop: (row: number) => void,
): Int32Array {
  const NONE = -1;
  const FIXED = -2;
  /** By group: where its row is in the new list. */
  const places = new Map<number, number>();
  for (const row of fixed) places.set(groups[row] ?? NONE, FIXED);
  const kept = new Int32Array(free.length);
  let length = 0;
  for (const row of free) {
    const group = groups[row] ?? NONE;
    const place = group < 0 ? undefined : places.get(group);
    if (place === undefined) {
      if (group >= 0) places.set(group, length);
      kept[length++] = row;
    } else if (place !== FIXED && prefer !== undefined && isPreferred(prefer, row, kept[place] ?? 0)) {
      drop(kept[place] ?? 0);
      kept[place] = row;
    } else drop(row);
  }
  return kept.subarray(0, length);
}

function isPreferred(prefer: Float64Array, row: number, other: number): boolean {
  const value = prefer[row] ?? NaN;
  const best = prefer[other] ?? NaN;
  return value > best || (Number.isNaN(best) && !Number.isNaN(value));
}
