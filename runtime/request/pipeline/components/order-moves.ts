import type { ExploredPlaces } from './explore-places.js';
import { placeRows, settleRules } from './final-order.js';
import type { OrderRule, RankingState } from './order-rules.js';

/** A candidate that a rule of the final order moved. Places count from 1. */
export interface OrderMove {
  readonly row: number;
  /** Number of the step; undefined for a pin. */
  readonly step: number | undefined;
  /** Its place by all weaker rules; undefined if one of them removes it. */
  readonly from: number | undefined;
  /** Its place with this rule. */
  readonly to: number;
}

/** From the weakest rule to the strongest. */
const STRENGTH: Readonly<Record<OrderRule['kind'], number>> = {
  reorder: 0,
  limit: 1,
  diversify: 1,
  group: 2,
  slot: 3,
};

/**
 * Adds one rule after the other, from the weakest to the strongest, and compares the places before and after. A group, a
 * slot or a pin moves only the candidates that it is about; those that give way to them are not named.
 */
export function movesOf(state: RankingState): OrderMove[] {
  const { base, scores, pins, rules } = state;
  const order = (some: readonly OrderRule[], withPins: boolean): Int32Array =>
    placesOf(
      placeRows(settleRules({ ...state, rules: some, pins: withPins ? pins : new Map() }), base.length),
      scores.length,
    );
  const ordered = rules
    .map((rule, at) => ({ rule, at }))
    .sort((a, b) => STRENGTH[a.rule.kind] - STRENGTH[b.rule.kind] || a.at - b.at)
    .map(({ rule }) => rule);
  const moves: OrderMove[] = [];
  let before = order([], false);
  const add = (step: number | undefined, after: Int32Array, isMeant: (row: number) => boolean): void => {
    for (const row of base) {
      const from = before[row] ?? 0;
      const to = after[row] ?? 0;
      if (to !== 0 && from !== to && isMeant(row)) moves.push({ row, step, from: from || undefined, to });
    }
    before = after;
  };
  for (const [at, rule] of ordered.entries()) {
    const after = order(ordered.slice(0, at + 1), false);
    add(rule.step, after, meantBy(rule, before, after));
  }
  if (pins.size > 0) add(undefined, order(ordered, true), (row) => pins.has(row));
  return moves;
}

/** What the draw moved. */
export function drawnMoves({ step, before, order }: ExploredPlaces): OrderMove[] {
  const places = new Map(Array.from(before, (row, place) => [row, place + 1]));
  return Array.from(order, (row, place) => ({
    row,
    step,
    from: places.get(row) ?? place + 1,
    to: place + 1,
  })).filter(({ from, to }) => from !== to);
}

/** By row: its place from 1; 0 if it has none. */
function placesOf(order: Int32Array, count: number): Int32Array {
  const places = new Int32Array(count);
  for (let rank = 0; rank < order.length; rank++) places[order[rank] ?? 0] = rank + 1;
  return places;
}

function meantBy(rule: OrderRule, before: Int32Array, after: Int32Array): (row: number) => boolean {
  switch (rule.kind) {
    case 'slot': {
      const rows = new Set(rule.slot.rows);
      const positions = new Set(rule.slot.positions);
      // A slot can bring back a variant that a group removes.
      return (row) =>
        rows.has(row) &&
        positions.has(after[row] ?? 0) &&
        ((before[row] ?? 0) === 0 || (after[row] ?? 0) < (before[row] ?? 0));
    }
    case 'group': {
      const best = new Map<number, number>();
      const { groups } = rule.grouping;
      for (let row = 0; row < before.length; row++) {
        const [group, place] = [groups[row] ?? -1, before[row] ?? 0];
        if (group >= 0 && place > 0) best.set(group, Math.min(place, best.get(group) ?? place));
      }
      // Only a variant that replaces a better one has moved; the others move up because candidates are gone.
      return (row) =>
        (groups[row] ?? -1) >= 0 && before[row] !== 0 && before[row] !== best.get(groups[row] ?? -1);
    }
    case 'reorder':
    case 'limit':
    case 'diversify':
      return () => true;
  }
}
