/**
 * The final order of a ranking. It is made once, after all steps, so that the order of the steps does not decide which
 * rule wins:
 *
 *   filter and hide > curated pin > pipeline pin > slot > group and dedupe > limit and diversify > bury > score
 *
 * `settleRules` goes down this list: candidates that are hidden are gone already; pins and slots get their places; then
 * each group keeps one candidate. `placeRows` fills the other places, best first, from a list that is ordered by bury and
 * score; limits and diversity pass over candidates of this list.
 */
import type { Grouping } from '../../../ground/api/ranking-edit.js';
import { fillPlaces } from './fill-places.js';
import { type DroppedRow, type OrderRuleOf, type RankingState, rulesOf } from './order-rules.js';

/** What is decided before places are filled. */
export interface SettledRules {
  /** The rows with a place of their own, by position from 1. */
  readonly fixed: ReadonlyMap<number, number>;
  /** The other rows, best first. */
  readonly free: Int32Array;
  /** The rows that groups removed. */
  readonly dropped: readonly DroppedRow[];
  /** For limits and diversity; undefined if there are none. */
  readonly state?: RankingState;
}

/** Decides which rows have a place of their own, and which row of a group stays. */
export function settleRules(state: RankingState): SettledRules {
  const { base, scores, pins, rules } = state;
  const list = applyReorders(base, scores.length, rulesOf(rules, 'reorder'));
  const fixed = new Map<number, number>();
  const isFixed = new Uint8Array(scores.length);
  for (const [row, position] of pins) {
    fixed.set(position, row);
    isFixed[row] = 1;
  }
  fillSlots(list, scores, fixed, isFixed, rulesOf(rules, 'slot'), rulesOf(rules, 'group'));
  const dropped: DroppedRow[] = [];
  let free: Int32Array = list.filter((row) => isFixed[row] === 0);
  for (const { step, grouping } of rulesOf(rules, 'group'))
    free = keepOne(free, fixed.values(), grouping, (row) => dropped.push({ row, step }));
  const settled = { fixed: withinEnd(fixed, free.length + fixed.size), free, dropped };
  return rules.some(({ kind }) => kind === 'limit' || kind === 'diversify') ? { ...settled, state } : settled;
}

/**
 * The same for a ranking with pins alone.
 * @param free the best rows without a pin
 * @param total the number of all rows
 */
export function pinnedPlaces(
  pins: ReadonlyMap<number, number>,
  free: Int32Array,
  total: number,
): SettledRules {
  return { fixed: placesOf(pins, total), free, dropped: [] };
}

/** The rows of pins by position, none past the end. */
export function placesOf(pins: ReadonlyMap<number, number>, total: number): ReadonlyMap<number, number> {
  if (pins.size === 0) return pins;
  return withinEnd(new Map(Array.from(pins, ([row, position]) => [position, row])), total);
}

/** The first `most` rows of the final order. */
export function placeRows({ fixed, free, state }: SettledRules, most: number): Int32Array {
  if (state !== undefined) return fillPlaces(fixed, free, state, most);
  const order = new Int32Array(Math.min(most, free.length + fixed.size));
  let next = 0;
  for (let rank = 0; rank < order.length; rank++) order[rank] = fixed.get(rank + 1) ?? free[next++] ?? 0;
  return order;
}

/** Orders the rows of each rule among themselves, in the places that they have. A later step sees the order of earlier ones. */
export function applyReorders(
  list: Int32Array,
  count: number,
  reorders: readonly OrderRuleOf<'reorder'>[],
): Int32Array {
  if (reorders.length === 0) return list;
  const isLeft = new Uint8Array(count);
  for (const row of list) isLeft[row] = 1;
  const ordered = list.slice();
  const isIn = new Uint8Array(count);
  for (const { rows } of reorders) {
    isIn.fill(0);
    for (const row of rows) isIn[row] = 1;
    let next = 0;
    for (let at = 0; at < ordered.length; at++) {
      if (isIn[ordered[at] ?? 0] === 0) continue;
      while (next < rows.length && isLeft[rows[next] ?? 0] === 0) next++;
      ordered[at] = rows[next++] ?? 0;
    }
  }
  return ordered;
}

/**
 * A slot takes the best row that qualifies and that would stand at its position or below. It passes over rows of a group that
 * has a pinned or slotted one, which stands for the group. Of two slots, the earlier step wins.
 */
function fillSlots(
  list: Int32Array,
  scores: Float64Array,
  fixed: Map<number, number>,
  isFixed: Uint8Array,
  slots: readonly OrderRuleOf<'slot'>[],
  groupings: readonly OrderRuleOf<'group'>[],
): void {
  if (slots.length === 0) return;
  const all = groupings.map(({ grouping: { groups } }) => ({ groups, shown: new Set<number>() }));
  const show = (row: number): void => {
    for (const { groups, shown } of all) if ((groups[row] ?? -1) >= 0) shown.add(groups[row] ?? -1);
  };
  const isOpen = (row: number, fits: Uint8Array): boolean =>
    fits[row] === 1 && isFixed[row] === 0 && !all.some(({ groups, shown }) => shown.has(groups[row] ?? -1));
  for (const row of fixed.values()) show(row);
  const wanted = slots
    .map(({ slot: { positions, rows, least = -Infinity } }) => {
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
}

/**
 * Keeps one row of each group, at the place of the best one. A group with a row that has a place of its own keeps only
 * such rows.
 */
function keepOne(
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

/** A position past the end becomes the last one that is free. */
function withinEnd(fixed: ReadonlyMap<number, number>, total: number): ReadonlyMap<number, number> {
  const past = [...fixed].filter(([position]) => position > total).sort(([a], [b]) => b - a);
  if (past.length === 0) return fixed;
  const places = new Map(fixed);
  for (const [position] of past) places.delete(position);
  let last = total;
  for (const [, row] of past) {
    while (places.has(last)) last--;
    places.set(last, row);
  }
  return places;
}
