import type { MixedRows, RankingSide } from '../../ordering/ranking.js';
import type { DraftSide } from './draft-rules.js';
import { someRule } from '../../ordering/rule-kind.js';
import { teamDraft, type Draft } from './team-draft.js';
import { Team, WAITS } from './team.js';

/** The mixed order of two rankings of the same rows. It is made as far as it is asked for. */
export class InterleavedOrder implements MixedRows {
  /** The rows of the order, ascending. */
  readonly rows: Int32Array;
  readonly #control: RankingSide;
  readonly #arm: RankingSide;
  readonly #count: number;
  readonly #coin: (round: number) => boolean;
  /** Whether limits or groups may pass over rows, so that all rows are needed. */
  readonly #needsAll: boolean;
  #draft: Draft | undefined;
  controlFirst: Int32Array = new Int32Array();
  readonly labelOf: RankingSide['labelOf'];

  /**
   * @param count of all rows, with removed ones
   * @param coin see `teamDraft`
   */
  constructor(control: RankingSide, arm: RankingSide, count: number, coin: (round: number) => boolean) {
    this.#control = control;
    this.#arm = arm;
    this.labelOf = arm.labelOf;
    this.#count = count;
    this.#coin = coin;
    const hasGroups = [control, arm].some(({ rules }) => someRule(rules, 'groups'));
    this.#needsAll = hasGroups || [control, arm].some(({ rules }) => someRule(rules, 'bound'));
    // Of a group, each arm may have kept another row, and only one of them gets a place.
    this.rows = hasGroups ? this.first(count).slice().sort() : union(control.rows, arm.rows, count);
  }

  /** The first `most` rows, best first. */
  first(most: number): Int32Array {
    if (this.#draft === undefined || this.#draft.order.length < Math.min(most, this.#known))
      this.#draft = this.#make(most);
    return this.#draft.order.subarray(0, most);
  }

  /** Who placed a row that `first` returned. */
  teamOf(row: number): Team {
    const team = this.#draft?.teams[row] ?? WAITS;
    return team === WAITS ? Team.none : (team as Team);
  }

  /** The places of a row in the orders of control and of the arm, from 1; undefined if the arm removed it. */
  placesOf(row: number): readonly [control: number | undefined, arm: number | undefined] {
    const placeIn = ({ order, rows }: RankingSide): number | undefined => {
      const place = order(rows.length).indexOf(row);
      return place === -1 ? undefined : place + 1;
    };
    return [placeIn(this.#control), placeIn(this.#arm)];
  }

  /** The most rows that the order can have, as far as it is known. */
  get #known(): number {
    return (this.rows as Int32Array | undefined)?.length ?? this.#count;
  }

  #make(most: number): Draft {
    // Rows that keep a place in both arms are passed over until it comes.
    const kept = 2 * Math.min(this.#control.fixed.size, this.#arm.fixed.size);
    const needed = this.#needsAll ? this.#count : most + kept + 1;
    const drawn = (side: RankingSide): DraftSide => ({ ...side, order: side.order(needed) });
    const control = drawn(this.#control);
    this.controlFirst = control.order;
    return teamDraft(control, drawn(this.#arm), this.#count, this.#coin, most);
  }
}

function union(one: Int32Array, other: Int32Array, count: number): Int32Array {
  if (one.length === count || one === other || isSame(one, other)) return one;
  const isIn = new Uint8Array(count);
  for (const row of one) isIn[row] = 1;
  for (const row of other) isIn[row] = 1;
  return Int32Array.from(isIn.keys()).filter((row) => isIn[row] === 1);
}

function isSame(one: Int32Array, other: Int32Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
