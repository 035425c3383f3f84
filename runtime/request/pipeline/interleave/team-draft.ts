import { DraftRules, type DraftSide } from './draft-rules.js';
import { Team, WAITS } from './team.js';

/** The first places of a mixed list. */
export interface Draft {
  /** Rows, best first. */
  readonly order: Int32Array;
  /** By row: a Team, or WAITS for rows without a place. */
  readonly teams: Uint8Array;
}

/**
 * Interleaves the final orders of two arms. The common start of both gives no credit. Then, in each round, both arms
 * place their best row that is left, in an order that a coin decides.
 * Source: Radlinski, Kurup and Joachims, "How does clickthrough data reflect retrieval quality?", CIKM 2008.
 *
 * A place that rules of both arms keep for a row stays with that row. Each arm's limits and groups count over the mixed
 * list when the arm places a row. The first places do not depend on `most`, so pages fit together.
 * @param count of all rows
 * @param coin for a round from 0: true if control places first
 */
export function teamDraft(
  control: DraftSide,
  arm: DraftSide,
  count: number,
  coin: (round: number) => boolean,
  most: number,
): Draft {
  const teams = new Uint8Array(count).fill(WAITS);
  const order = new Int32Array(Math.min(most, count));
  const rules = DraftRules.of(control, arm, teams);
  let length = 0;
  while (length < order.length) {
    const row = control.order[length];
    if (row === undefined || row !== arm.order[length]) break;
    teams[row] = Team.none;
    order[length] = row;
    rules?.placed(row, length);
    length += 1;
  }
  length =
    rules === undefined
      ? fill([control.order, arm.order], order, teams, length, coin)
      : fillByRules(rules, order, teams, length, coin);
  return { order: order.subarray(0, length), teams };
}

/** Fills the places from `length`, for arms without rules for the mixed list. @returns the number of places that are filled */
function fill(
  [control, arm]: readonly [Int32Array, Int32Array],
  order: Int32Array,
  teams: Uint8Array,
  length: number,
  coin: (round: number) => boolean,
): number {
  /** The best row of each arm that may wait. */
  let [ofControl, ofArm] = [length, length];
  let isControl = false;
  for (let picks = 0; length < order.length; picks++) {
    isControl = picks % 2 === 0 ? coin(picks >> 1) : !isControl;
    while (ofControl < control.length && teams[control[ofControl] ?? 0] !== WAITS) ofControl++;
    while (ofArm < arm.length && teams[arm[ofArm] ?? 0] !== WAITS) ofArm++;
    const takesControl = isControl ? ofControl < control.length : ofArm >= arm.length;
    const row = takesControl ? control[ofControl] : arm[ofArm];
    if (row === undefined) break;
    teams[row] = takesControl ? Team.control : Team.arm;
    order[length++] = row;
  }
  return length;
}

/** The same with rules. */
function fillByRules(
  rules: DraftRules,
  order: Int32Array,
  teams: Uint8Array,
  from: number,
  coin: (round: number) => boolean,
): number {
  let length = from;
  const place = (row: number, team: Team): void => {
    teams[row] = team;
    order[length] = row;
    rules.placed(row, length);
    length += 1;
  };
  let picks = 0;
  while (length < order.length) {
    const own = rules.kept(length);
    if (own !== undefined && own.control === own.arm) {
      place(own.control, Team.none);
      continue;
    }
    const isControl = coin(picks >> 1) === (picks % 2 === 0);
    picks += 1;
    const first = isControl ? Team.control : Team.arm;
    const second = isControl ? Team.arm : Team.control;
    const row = rules.best(first, length, own);
    if (row !== undefined) place(row, first);
    else {
      const other = rules.best(second, length, own);
      if (other === undefined) break;
      place(other, second);
    }
  }
  return length;
}
