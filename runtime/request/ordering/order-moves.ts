import type { ExploredPlaces } from './explore/explore-places.js';
import { placeRows, settleRules } from './final-order.js';
import type { OrderRule, RankingState } from './rule-kind.js';

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
    .sort((a, b) => a.rule.kind.strength - b.rule.kind.strength || a.at - b.at)
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
    add(rule.step, after, rule.kind.moved?.(rule.ask, before, after) ?? always);
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

const always = (): boolean => true;
