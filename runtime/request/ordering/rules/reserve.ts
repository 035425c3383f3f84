import type { Slot } from '../../../ground/api/ranking-edit.js';
import { checkPosition } from '../pins.js';
import type { RuleKind, Settling } from '../rule-kind.js';
import { checkRows } from './rows.js';

/**
 * A slot takes the best row that qualifies and that would stand at its position or below. It passes over rows of a group that
 * has a pinned or slotted one, which stands for the group. Of two slots, the earlier step wins.
 */
export const reserve: RuleKind<Slot> = {
  strength: 3,
  take(slot, count) {
    checkRows(slot.rows, count);
    for (const position of slot.positions) checkPosition(position);
    return slot;
  },
  rowsOf: ({ rows }) => rows,
  settle(rules, settling) {
    fillSlots(
      rules.map(({ ask }) => ask),
      settling,
    );
  },
  moved(slot, before, after) {
    const rows = new Set(slot.rows);
    const positions = new Set(slot.positions);
    // A slot can bring back a variant that a group removes.
    return (row) =>
      rows.has(row) &&
      positions.has(after[row] ?? 0) &&
      ((before[row] ?? 0) === 0 || (after[row] ?? 0) < (before[row] ?? 0));
  },
};

function fillSlots(slots: readonly Slot[], settling: Settling): void {
  const { fixed, free: list, scores } = settling;
  const isFixed = new Uint8Array(scores.length);
  const all = settling.groups.map((groups) => ({ groups, shown: new Set<number>() }));
  const show = (row: number): void => {
    for (const { groups, shown } of all) if ((groups[row] ?? -1) >= 0) shown.add(groups[row] ?? -1);
  };
  const isOpen = (row: number, fits: Uint8Array): boolean =>
    fits[row] === 1 && isFixed[row] === 0 && !all.some(({ groups, shown }) => shown.has(groups[row] ?? -1));
  for (const row of fixed.values()) show(row);
  const wanted = slots
    .map(({ positions, rows, least = -Infinity }) => {
      const fits = new Uint8Array(scores.length);
      for (const row of rows) if ((scores[row] ?? NaN) >= least) fits[row] = 1;
      return { positions: new Set(positions), fits, next: 0 };
    })
    .filter(({ positions }) => positions.size > 0);
  const positions = [...new Set(wanted.flatMap((one) => [...one.positions]))].sort((a, b) => a - b);
  const pinned = [...fixed.keys()].sort((a, b) => a - b);
  let start = 0; // the rows before it stand above the position
  let above = 0; // how many of them have no place of their own
  let taken = 0; // slots that are filled
  let pins = 0; // pins above the position
  for (const position of positions) {
    while (pins < pinned.length && (pinned[pins] ?? 0) < position) pins++;
    if (fixed.has(position)) continue;
    const free = position - 1 - pins - taken;
    for (; above < free && start < list.length; start++) if (isFixed[list[start] ?? 0] === 0) above++;
    for (const one of wanted) {
      if (!one.positions.has(position)) continue;
      one.next = Math.max(one.next, start);
      while (one.next < list.length && !isOpen(list[one.next] ?? 0, one.fits)) one.next++;
      const row = list[one.next];
      if (row === undefined) continue;
      fixed.set(position, row);
      isFixed[row] = 1;
      show(row);
      taken++;
      break;
    }
  }
  settling.free = list.filter((row) => isFixed[row] === 0);
}
