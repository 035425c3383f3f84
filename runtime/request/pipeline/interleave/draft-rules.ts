import { BoundState } from '../../ordering/places/bound-state.js';
import type { RankingSide } from '../../ordering/ranking.js';
import { boundsOf, groupsOf, someRule } from '../../ordering/rule-kind.js';
import { Team, WAITS } from './team.js';

/** The final order of one arm, and the rules that made it. */
export interface DraftSide extends Pick<RankingSide, 'fixed' | 'rules' | 'page'> {
  /** Its rows, best first: all, or more than the draft can need. */
  readonly order: Int32Array;
}

/** The rows that the rules of both arms keep a place for. */
export interface KeptPlace {
  readonly control: number;
  readonly arm: number;
}

/** One arm in a draft. */
class Side {
  readonly #order: Int32Array;
  readonly #bounds: readonly BoundState[];
  readonly #groups: readonly Int32Array[];
  /** By grouping and group: whether a row of it has a place. */
  readonly #used: readonly Uint8Array[];
  /** No row before it waits. */
  #next = 0;

  constructor({ order, rules, page }: DraftSide, waiting: Int32Array, common: ReadonlyMap<number, number>) {
    this.#order = order;
    this.#bounds = boundsOf(rules).map((bound) => new BoundState(bound, waiting, common, page));
    this.#groups = groupsOf(rules);
    this.#used = this.#groups.map((groups) => new Uint8Array(groups.length));
  }

  enter(rank: number): void {
    for (const bound of this.#bounds) bound.enter(rank);
  }

  placed(row: number, rank: number, waited: boolean): void {
    for (const bound of this.#bounds) bound.place(row, rank, waited);
    for (const [at, groups] of this.#groups.entries()) {
      const group = groups[row] ?? -1;
      const used = this.#used[at];
      if (group >= 0 && used !== undefined) used[group] = 1;
    }
  }

  /**
   * The best row that waits and that the limits allow; without one, the best row that waits.
   * @param isOpen whether a row may be placed at all
   */
  best(rank: number, isOpen: (row: number) => boolean, teams: Uint8Array): number | undefined {
    while (this.#next < this.#order.length && teams[this.#order[this.#next] ?? 0] !== WAITS) this.#next++;
    const least = this.#bounds.map((bound) => bound.leastLeft);
    let allowed: number | undefined;
    let open: number | undefined;
    for (let at = this.#next; at < this.#order.length; at++) {
      const row = this.#order[at] ?? 0;
      if (teams[row] !== WAITS || !isOpen(row) || this.#isRepeated(row)) continue;
      if (this.#bounds.length === 0) return row;
      open ??= row;
      if (!this.#bounds.every((bound) => bound.allows(row, rank))) continue;
      if (this.#bounds.every((bound, i) => bound.leftOf(row) >= (least[i] ?? 0))) return row;
      allowed ??= row;
    }
    return allowed ?? open;
  }

  /** Whether its group has a place already. */
  #isRepeated(row: number): boolean {
    return this.#groups.some((groups, at) => this.#used[at]?.[groups[row] ?? -1] === 1);
  }
}

/** What the rules of both arms allow while a draft fills places from the top. */
export class DraftRules {
  readonly #control: Side;
  readonly #arm: Side;
  readonly #fixed: readonly [DraftSide['fixed'], DraftSide['fixed']];
  /** By row: a Team, or WAITS. The caller writes it. */
  readonly #teams: Uint8Array;
  /** Rows with the same place of their own in both arms, by position from 1. */
  readonly #common = new Map<number, number>();
  /** By row: the rank of the first place that is kept for it in both arms. It is not placed before. */
  readonly #keptUntil = new Map<number, number>();
  #rank = -1;

  /**
   * @param teams by row: a Team, or WAITS; the caller writes it
   * @returns undefined if no rule says anything about the mixed list
   */
  static of(control: DraftSide, arm: DraftSide, teams: Uint8Array): DraftRules | undefined {
    const counts = ({ rules }: DraftSide): boolean => someRule(rules, 'bound', 'groups');
    const keepsPlaces = control.fixed.size > 0 && arm.fixed.size > 0;
    if (!keepsPlaces && !counts(control) && !counts(arm)) return undefined;
    return new DraftRules(control, arm, teams);
  }

  private constructor(control: DraftSide, arm: DraftSide, teams: Uint8Array) {
    for (const [position, row] of control.fixed)
      if (arm.fixed.get(position) === row) this.#common.set(position, row);
    const hasLimits = [control, arm].some(({ rules }) => someRule(rules, 'bound'));
    const waiting = hasLimits ? this.#waiting(control, arm, teams.length) : new Int32Array(0);
    this.#control = new Side(control, waiting, this.#common);
    this.#arm = new Side(arm, waiting, this.#common);
    this.#fixed = [control.fixed, arm.fixed];
    this.#teams = teams;
    for (const [position, row] of control.fixed) {
      const other = arm.fixed.get(position);
      if (other === undefined) continue;
      for (const one of [row, other]) {
        const known = this.#keptUntil.get(one) ?? Infinity;
        this.#keptUntil.set(one, Math.min(known, position - 1));
      }
    }
  }

  /** The rows that both arms keep the place at a rank for; undefined if it is open, or if both have a place already. */
  kept(rank: number): KeptPlace | undefined {
    const [control, arm] = [this.#fixed[0].get(rank + 1), this.#fixed[1].get(rank + 1)];
    if (control === undefined || arm === undefined) return undefined;
    return !this.#waits(control) && !this.#waits(arm) ? undefined : { control, arm };
  }

  /** The row that a team places at a rank; undefined if none is left. */
  best(team: Team, rank: number, kept: KeptPlace | undefined): number | undefined {
    this.#enter(rank);
    const side = team === Team.control ? this.#control : this.#arm;
    if (kept !== undefined) {
      const row = team === Team.control ? kept.control : kept.arm;
      return this.#waits(row) ? row : undefined;
    }
    const isFree = (row: number): boolean => (this.#keptUntil.get(row) ?? -1) < rank;
    const isOpen = this.#keptUntil.size === 0 ? always : isFree;
    return side.best(rank, isOpen, this.#teams) ?? this.#rest(side, rank);
  }

  placed(row: number, rank: number): void {
    this.#enter(rank);
    const waited = this.#common.get(rank + 1) !== row;
    this.#control.placed(row, rank, waited);
    this.#arm.placed(row, rank, waited);
  }

  /** If nothing else is left, a row whose place lies behind the end. */
  #rest(side: Side, rank: number): number | undefined {
    return this.#keptUntil.size === 0 ? undefined : side.best(rank, always, this.#teams);
  }

  #waits(row: number): boolean {
    return this.#teams[row] === WAITS;
  }

  /** The rows of both arms without a common place. */
  #waiting(control: DraftSide, arm: DraftSide, count: number): Int32Array {
    const isWaiting = new Uint8Array(count);
    for (const { order } of [control, arm]) for (const row of order) isWaiting[row] = 1;
    for (const row of this.#common.values()) isWaiting[row] = 0;
    return Int32Array.from(isWaiting.keys()).filter((row) => isWaiting[row] === 1);
  }

  #enter(rank: number): void {
    if (this.#rank === rank) return;
    this.#rank = rank;
    this.#control.enter(rank);
    this.#arm.enter(rank);
  }
}

const always = (): boolean => true;
