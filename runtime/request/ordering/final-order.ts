/**
 * The final order of a ranking. It is made once, after all steps, so that the order of the steps does not decide which
 * rule wins:
 *
 *   filter and hide > curated pin > sponsor > pipeline pin > slot > group and dedupe > limit and diversify > bury > score
 *
 * `settleRules` goes down this list: candidates that are hidden are gone already; pins get their places; then the rules
 * that place or remove candidates, the strongest first. `placeRows` fills the other places, best first, from a list that
 * is ordered by bury and score; limits and diversity pass over candidates of this list.
 */
import { withinEnd } from './pins.js';
import { fillPlaces } from './places/fill-places.js';
import {
  groupsOf,
  someRule,
  sorted,
  type DroppedRow,
  type RankingState,
  type Settling,
} from './rule-kind.js';
import { STRONGEST_FIRST } from './rules.js';

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
  const list = sorted(base, scores.length, rules);
  const settling: Settling = {
    fixed: new Map(Array.from(pins, ([row, position]) => [position, row])),
    free: pins.size === 0 ? list : list.filter((row) => !pins.has(row)),
    dropped: [],
    scores,
    groups: groupsOf(rules),
  };
  for (const kind of STRONGEST_FIRST) {
    const own = kind.settle === undefined ? [] : rules.filter((rule) => rule.kind === kind);
    if (own.length > 0) kind.settle?.(own, settling);
  }
  const { fixed, free, dropped } = settling;
  const settled = { fixed: withinEnd(fixed, free.length + fixed.size), free, dropped };
  return someRule(rules, 'bound', 'preference') ? { ...settled, state } : settled;
}

/** The first `most` rows of the final order. */
export function placeRows({ fixed, free, state }: SettledRules, most: number): Int32Array {
  if (state !== undefined) return fillPlaces(fixed, free, state, most);
  const order = new Int32Array(Math.min(most, free.length + fixed.size));
  let next = 0;
  for (let rank = 0; rank < order.length; rank++) order[rank] = fixed.get(rank + 1) ?? free[next++] ?? 0;
  return order;
}
